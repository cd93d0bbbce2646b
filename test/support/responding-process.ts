/*
 * A process of its own that answers threads through `respond`, one after the other, and says of each when the answer was recorded.
 * Arguments: an SQLite file, how many threads.
 */
import { setTimeout } from 'node:timers/promises';
import { sqliteStore } from 'holdpoint/stores/sqlite';
import { answeredThreads } from './worker-fleet.ts';

const [path = '', count = '1'] = process.argv.slice(2);
using store = sqliteStore(path);
for (let nth = 0; nth < Number(count); nth += 1) {
  const id = `t${nth}`;
  await answeredThreads(store, [id]);
  console.log(`${id} ${performance.timeOrigin + performance.now()}`);
  /* The reader is in its own rhythm, and the answers come at any point of it. */
  await setTimeout(17);
}
