import { once } from 'node:events';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { expect, test } from 'vitest';
import { inFolder } from '../faults/in-folder.ts';

const program = new URL('../support/opening-worker.ts', import.meta.url);

/* SQLite refuses one of those that turn a new file to its write-ahead log at the same moment, without waiting. */
test('a database that many processes make at the same moment opens for all of them', async () => {
  await inFolder(async (folder) => {
    const workers = Array.from({ length: 6 }, () => new Worker(program));
    for (let round = 0; round < 300; round += 1) {
      const path = join(folder, `${round}.sqlite`);
      const gate = new Int32Array(new SharedArrayBuffer(8));
      const answers = workers.map(async (worker) => once(worker, 'message'));
      for (const worker of workers) worker.postMessage({ path, gate }, []);
      while (Atomics.load(gate, 1) < workers.length) {
        await Atomics.waitAsync(gate, 1, Atomics.load(gate, 1), 100).value;
      }
      Atomics.store(gate, 0, 1);
      Atomics.notify(gate, 0);
      expect((await Promise.all(answers)).flat()).toEqual(workers.map(() => 'opened'));
    }
    await Promise.all(workers.map(async (worker) => worker.terminate()));
  });
});
