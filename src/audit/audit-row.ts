/** One thing that happened in a thread, for people who review it. */
export interface AuditRow {
  /** The number of the event in the log, from 1. A model's reply has a row for each of its calls too, with the same number. */
  event: number;
  /** When, as an ISO 8601 date and time in UTC. */
  time: string;
  /** What, in a few words: `approval requested`, `call started`, … */
  what: string;
  /** Who did it, as authenticated by the app. Absent for what holdpoint, the model or a tool did. */
  who?: unknown;
  /** The channel that they used. */
  channel?: string;
  /** The call that it is about. */
  tool?: string;
  toolCallId?: string;
  /** The request that it is about. */
  requestId?: string;
  /** Everything else: what was shown, edited, run and returned. JSON. */
  details?: Readonly<Record<string, unknown>>;
}
