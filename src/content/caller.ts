/** Who called from outside and waits for the outcome of the call: a client of a gate. */
export interface ThreadCaller {
  /** The id of its connection. */
  callerId: string;
  /**
   * Whether it waits, was told that nothing has happened yet and to call again (`pending`), has gone without being told anything (`left`), or was
   * sent the outcome (`informed`).
   */
  state: 'waiting' | 'pending' | 'left' | 'informed';
  /** Until when it waits at the latest, in milliseconds since 1970. */
  until?: number | undefined;
  /** Since when that is so, in milliseconds since 1970. */
  at: number;
}

/** Whether whoever called waits for the outcome now. */
export function doesCallerWait(
  { state, until }: Omit<ThreadCaller, 'callerId' | 'at'>,
  now: number,
): boolean {
  return state === 'waiting' && (until === undefined || now < until);
}

/** What has become of the caller, for whoever answers; `undefined` once it has the outcome. */
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
