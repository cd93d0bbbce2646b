import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { z } from 'zod';

const root = join(import.meta.dirname, '..', '..');
const timeout = 900_000;
const lineSchema = z.object({
  path: z.string(),
  name: z.string().optional(),
  compared: z.int(),
  faults: z.array(z.string()),
});

test('after each test of every suite, rows and logs agree, and rows say what the threads say', async () => {
  const file = join(mkdtempSync(join(tmpdir(), 'rows-')), 'compared.jsonl');
  const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs');
  const options = {
    cwd: root,
    env: { ...process.env, HOLDPOINT_ROWS: file },
    maxBuffer: 1e9,
    timeout,
  };
  /* Whether the tests pass is no question of this one; but a store that lists rows without end keeps the last of them from ending. */
  const hasEnded = await promisify(execFile)(
    process.execPath,
    [vitest, 'run', '--config', 'test/rows.config.ts'],
    options,
  ).then(
    () => true,
    (error: unknown) => Reflect.get(Object(error), 'killed') !== true,
  );
  const lines = readFileSync(file, 'utf8').trim().split('\n');
  const tests = lines.map((line) => lineSchema.parse(JSON.parse(line)));
  expect({ hasEnded, last: tests.at(-1)?.path }).toMatchObject({ hasEnded: true });
  expect(tests.filter(({ faults }) => faults.length > 0)).toEqual([]);
  const compared = tests.reduce((sum, each) => sum + each.compared, 0);
  expect(compared).toBeGreaterThan(3_000);
  console.log(`${compared} threads were compared after ${tests.length} tests.`);
});
