/** The id of the child thread of a delegated call. */
export function makeChildThreadId(idempotencyKey: string): string {
  return `call-${idempotencyKey}`;
}

/**
 * The hash of the entry that proposed the call of a child thread: the key of a call begins with it. `undefined` for the id of a thread that
 * is not a child thread.
 */
export function readParentHash(threadId: string): string | undefined {
  return /^call-([\w-]{43})\.\d+\.\d+$/.exec(threadId)?.[1];
}
