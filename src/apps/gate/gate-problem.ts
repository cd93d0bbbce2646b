/** A problem that the gate works around, for a log. */
export interface GateProblem {
  /** The upstream; absent for a problem of the gate itself. */
  upstream?: string;
  /** The problem, as a sentence. */
  problem: string;
  /** The thrown value, if there is one. */
  error?: unknown;
}
