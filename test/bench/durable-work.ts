import { encodeEvent, memoryStore, type ThreadStore } from 'holdpoint';
import type { Contender } from './contender.ts';
import { type HoldpointSetting, sharedStoreContender } from './holdpoint-contenders.ts';

/** What one cycle writes. */
export interface DurableWork {
  appends: number;
  events: number;
  /** Of the events' text. */
  bytes: number;
}

/** Runs one cycle of its own over a store that counts. */
export async function countDurableWork(setting: HoldpointSetting): Promise<DurableWork> {
  const work: DurableWork = { appends: 0, events: 0, bytes: 0 };
  const store = countingStore(memoryStore(), work);
  const contender: Contender = sharedStoreContender('memory', setting, () => ({
    asking: store,
    resuming: store,
  }));
  const conversation = await contender.prepare();
  Object.assign(work, { appends: 0, events: 0, bytes: 0 });
  const cycle = await conversation.open();
  await cycle();
  return work;
}

function countingStore(store: ThreadStore, work: DurableWork): ThreadStore {
  return {
    read: (threadId, afterRevision) => store.read(threadId, afterRevision),
    head: (threadId) => store.head(threadId),
    list: (query) => store.list(query),
    async append(threadId, expectedRevision, events, summary) {
      await store.append(threadId, expectedRevision, events, summary);
      work.appends += 1;
      work.events += events.length;
      for (const event of events) work.bytes += Buffer.byteLength(encodeEvent(event));
    },
  };
}
