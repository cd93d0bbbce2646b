/** The caller from outside that waits for the outcome of the call: a client of a gate. */
export interface ThreadCaller {
  /** The id of its connection. */
  callerId: string;
  /**
   * Its state. `waiting`: it waits. `pending`: it was told that nothing has happened yet, and to call again. `left`: it has gone without an
   * answer. `informed`: it was sent the outcome.
   */
  state: 'waiting' | 'pending' | 'left' | 'informed';
  /** The time until which it waits at most, in milliseconds since 1970. */
  until?: number | undefined;
  /** The time of its latest change, in milliseconds since 1970. */
  at: number;
}

/** Checks whether the caller waits for the outcome now. */
export function doesCallerWait(
  { state, until }: Omit<ThreadCaller, 'callerId' | 'at'>,
  now: number,
): boolean {
  return state === 'waiting' && (until === undefined || now < until);
}

/** Describes the state of the caller to the person who answers; `undefined` once it has the outcome. */
export function describeCaller(
  caller: Omit<ThreadCaller, 'callerId' | 'at'>,
  now: number,
): string | undefined {
  if (caller.state === 'informed') return undefined;
  if (doesCallerWait(caller, now)) return 'The client that called waits for the answer.';
  return caller.state === 'pending'
    ? 'The client that called was told to call again. An approved call runs when it does.'
    : 'The client that called has gone. An approved call runs when it calls again.';
}
