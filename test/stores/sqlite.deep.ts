import { expect, test } from 'vitest';
import { appendPlain, plainEnd, plainEntry, plainSummary } from '../support/plain-entries.ts';
import { withSqliteStore } from '../support/with-sqlite-store.ts';

test('threads with large entries slow down no other thread: 1,000 reads and appends beside 20 MB take under a second', async () => {
  await withSqliteStore(async (store) => {
    for (const neighbour of ['a', 'c']) {
      const large = plainEntry(1, 'x'.repeat(20_000_000));
      await store.append(neighbour, plainEnd(0), [large], plainSummary(neighbour));
    }
    const started = performance.now();
    for (let revision = 1; revision <= 1_000; revision += 1) {
      await appendPlain(store, 'b', { revision });
      expect(await store.read('b', revision - 1)).toHaveLength(1);
      await store.head('b');
    }
    expect(performance.now() - started).toBeLessThan(1_000);
  });
});
