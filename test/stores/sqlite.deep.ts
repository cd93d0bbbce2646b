import type { ThreadStore } from 'holdpoint';
import { expect, test } from 'vitest';
import { appendPlain, plainEnd, plainEntry, plainSummary } from '../support/plain-entries.ts';
import { withSqliteStore } from '../support/with-sqlite-store.ts';

/** How long an append and a read of the thread take, in milliseconds: the lower quintile of 500. */
async function durationIn(store: ThreadStore, threadId: string): Promise<number> {
  const durations: number[] = [];
  for (let revision = 1; revision <= 500; revision += 1) {
    const started = performance.now();
    await appendPlain(store, threadId, { revision });
    expect(await store.read(threadId, revision - 1)).toHaveLength(1);
    await store.head(threadId);
    durations.push(performance.now() - started);
  }
  return durations.toSorted((one, other) => one - other)[100] ?? Infinity;
}

test('threads with large entries slow down no other thread: beside 20 MB it takes at most five times as long as alone', async () => {
  await withSqliteStore(async (store) => {
    const alone = await durationIn(store, 'b');
    for (const neighbour of ['c', 'e']) {
      const large = plainEntry(1, 'x'.repeat(20_000_000));
      await store.append(neighbour, plainEnd(0), [large], plainSummary(neighbour));
    }
    const beside = await durationIn(store, 'd');
    console.log(`${alone} ms alone, ${beside} ms beside large entries`);
    expect(beside).toBeLessThan(5 * alone);
  });
});
