import { memoryStore, type ThreadStore } from 'holdpoint';
import { eventsOf } from 'holdpoint/schemas';
import type { Contender } from './contender.ts';
import { type HoldpointSetting, sharedStoreContender } from './holdpoint-contenders.ts';

/** What one cycle writes. */
export interface DurableWork {
  appends: number;
  events: number;
  /** Of the entries' text. */
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
    ...store,
    async append(threadId, expected, entries, ...more) {
      await store.append(threadId, expected, entries, ...more);
      work.appends += 1;
      for (const entry of entries) {
        work.events += eventsOf(entry).length;
        work.bytes += Buffer.byteLength(entry.text);
      }
    },
  };
}
