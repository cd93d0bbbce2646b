import type { PostgresStore } from 'holdpoint/stores/postgres';
import { waitUntil } from './waiting.ts';
import type { ThreadNotice } from '../../src/thread/thread-store.ts';

/** What a store notifies its subscriber of; `hears` resolves once there are so many notices. */
export function listening(store: PostgresStore) {
  const heard: (ThreadNotice | undefined)[] = [];
  const stop = store.subscribe((notice) => {
    if (notice?.type !== 'claim') heard.push(notice);
  });
  const hears = async (count: number): Promise<void> => {
    await waitUntil(() => heard.length === count, { interval: 5 });
  };
  return { heard, stop, hears };
}
