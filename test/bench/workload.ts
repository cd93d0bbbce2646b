/** One point of the bench: how much was said before, and how many gated calls the step proposes. */
export interface Workload {
  /** Messages in the conversation when the cycle begins. */
  history: number;
  /** Calls in the step that need approval. */
  batch: number;
}

/** The points measured, cheapest first. */
export const workloads: readonly Workload[] = [
  { history: 0, batch: 1 },
  { history: 0, batch: 10 },
  { history: 0, batch: 100 },
  { history: 100, batch: 1 },
  { history: 1_000, batch: 1 },
  { history: 10_000, batch: 1 },
  { history: 10_000, batch: 10 },
];

/** The name of a point, for tables. */
export function nameOf({ history, batch }: Workload): string {
  return `${history.toLocaleString('en')} messages, ${batch} call${batch === 1 ? '' : 's'}`;
}
