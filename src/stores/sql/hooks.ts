import { readErrorText } from '../../content/app-errors.ts';
import type { ThreadStatus, ThreadSummary } from '../../thread/thread-store.ts';
import type { RequestChange } from '../../thread/thread-store-requests.ts';

/** The facts of an append that `onWake` receives. */
interface ThreadWake {
  /** The thread that was appended to. */
  threadId: string;
  /** The name of the agent that the thread belongs to; absent for an agent without a name. */
  agent?: string;
  /** Its status after the append. */
  status: Exclude<ThreadStatus, 'running'>;
  /**
   * The time when the thread needs a run, in milliseconds since 1970; 0 means now. Later than now for a deadline, and for the next attempt
   * of a run that failed. Absent if the thread waits only for people or the app, or has nothing left to do.
   */
  nextDeadline?: number;
}

/** Functions of the app that a store calls before an append, with its transaction. If one throws or rejects, nothing is appended. */
export interface AppendHooks<TRANSACTION> {
  /** Called before each append that opens, changes or closes requests, at most one change for each request. */
  onRequests?: (changes: readonly RequestChange[], transaction: TRANSACTION) => unknown;
  /** Called before each append after which no run holds the thread. */
  onWake?: (wake: ThreadWake, transaction: TRANSACTION) => unknown;
}

/** A hook with its arguments. */
export interface HookCall<TRANSACTION> {
  /** The name of the option, for errors. */
  name: keyof AppendHooks<TRANSACTION>;
  call: (transaction: TRANSACTION) => unknown;
}

/** Lists the hooks to call before an append, in their order. */
export function listHookCalls<TRANSACTION>(
  { onRequests, onWake }: AppendHooks<TRANSACTION>,
  summary: ThreadSummary,
  requests: readonly RequestChange[] = [],
): HookCall<TRANSACTION>[] {
  const calls: HookCall<TRANSACTION>[] = [];
  if (onRequests !== undefined && requests.length > 0) {
    calls.push({ name: 'onRequests', call: (transaction) => onRequests(requests, transaction) });
  }
  const wake = makeWake(summary);
  if (onWake !== undefined && wake !== undefined) {
    calls.push({ name: 'onWake', call: (transaction) => onWake(wake, transaction) });
  }
  return calls;
}

/** The wake of an append; `undefined` while a run holds the thread. */
function makeWake({
  threadId,
  agent,
  status,
  nextDeadline,
}: ThreadSummary): ThreadWake | undefined {
  if (status === 'running') return undefined;
  return {
    threadId,
    ...(agent === undefined ? {} : { agent }),
    status,
    ...(nextDeadline === undefined ? {} : { nextDeadline }),
  };
}

/** Throws a `TypeError` for a hook of requests that a store does not keep: it would never be called. */
export function refuseUnusedHook<TRANSACTION>(
  { onRequests }: AppendHooks<TRANSACTION>,
  keepsRequests: boolean,
): void {
  if (keepsRequests || onRequests === undefined) return;
  throw new TypeError('onRequests is never called with `requests: false`. Leave out one of them.');
}

/* Wrapped, because its code must not be mistaken for the append's: a unique index of the hook's table is not a concurrent append. */
export function makeHookError(name: string, cause: unknown): Error {
  return new Error(`${name} failed, so nothing was appended: ${readErrorText(cause)}`, { cause });
}
