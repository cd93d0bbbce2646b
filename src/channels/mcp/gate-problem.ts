/** A problem that the gate works around, for a log. */
export interface GateProblem {
  /** The upstream; absent for a problem of the gate itself. */
  upstream?: string;
  /** What is wrong, as a sentence. */
  problem: string;
  /** What was thrown, if something was. */
  error?: unknown;
}
