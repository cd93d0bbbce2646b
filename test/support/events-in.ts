import type { ThreadEvent, ThreadStore } from 'holdpoint';
import { eventsOf } from 'holdpoint/schemas';

/** The events that a store has of a thread. */
export async function eventsIn(
  store: Pick<ThreadStore, 'read'>,
  threadId: string,
): Promise<ThreadEvent[]> {
  /* Copies: what this process has in memory of an entry is not what is stored. */
  return (await store.read(threadId)).flatMap((entry) => eventsOf({ ...entry }));
}
