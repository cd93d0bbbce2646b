/*
 * A worker that opens new databases at the same moment as its siblings: each message names a file and a gate, at which all wait
 * until the test opens it.
 */
import { parentPort } from 'node:worker_threads';
import { sqliteStore } from 'holdpoint/stores/sqlite';
import { z } from 'zod';

const messageSchema = z.object({ path: z.string(), gate: z.instanceof(Int32Array) });

parentPort?.on('message', (message: unknown) => {
  const { path, gate } = messageSchema.parse(message);
  Atomics.add(gate, 1, 1);
  Atomics.notify(gate, 1);
  Atomics.wait(gate, 0, 0);
  parentPort?.postMessage(opened(path), []);
});

function opened(path: string): string {
  try {
    sqliteStore(path).close();
    return 'opened';
  } catch (error) {
    return String(error);
  }
}
