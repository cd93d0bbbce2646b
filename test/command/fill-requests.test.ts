import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { sqliteStore } from 'holdpoint/stores/sqlite';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { runCommand } from '../support/run-holdpoint.ts';
import { scriptedModel } from '../support/scripted-model.ts';
import { book, travelWorld } from '../support/travel-world.ts';

let folder: string;
let file: string;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'holdpoint-fill-'));
  file = join(folder, 'threads.sqlite');
  using store = sqliteStore(file, { requests: false });
  const { model, requests } = scriptedModel([
    { calls: [book('a', 'Paris')] },
    { calls: [book('b', 'Rome')] },
  ]);
  const agent = travelWorld({ model, requests }, () => store).agent();
  for (const id of ['t1', 't2']) await agent.run('Book.', await agent.thread(id));
});
afterEach(() => rmSync(folder, { recursive: true }));

test('the command fills the rows of a store that kept no requests, again without a change', async () => {
  for (let run = 0; run < 2; run += 1) {
    expect(await runCommand(['fill-requests', '--store', file])).toEqual({
      status: 0,
      output: 'Threads that were read: 2, with 2 requests.\n',
      error: '',
    });
    using store = sqliteStore(file);
    const rows = await store.requests?.list({ state: 'open' });
    expect(rows?.map(({ threadId }) => threadId).toSorted()).toEqual(['t1', 't2']);
    expect(await store.requests?.changes({ after: 0 })).toHaveLength(2);
  }
});

test('a thread that is damaged is named, and the others are filled in', async () => {
  const database = new DatabaseSync(file);
  database.exec(
    `update holdpoint_entries set entry = replace(entry, 'Paris', 'Parma') where thread_id = 't1'`,
  );
  database.close();
  const ended = await runCommand(['fill-requests', '--store', file]);
  expect(ended).toMatchObject({
    status: 1,
    output: 'Threads that were read: 1, with 1 requests.\n',
  });
  expect(ended.error).toContain('t1: ');
});

test.each([
  ['no store', [], 'Name the store: --store <file>'],
  ['two stores', ['--store', 'a', '--postgres', 'b'], 'cannot be used with option'],
  ['a file that does not exist', ['--store', 'missing.sqlite'], 'There is no database'],
  ['an unknown option', ['--stroe', 'a'], "unknown option '--stroe'\n(Did you mean --store?)"],
])('%s is refused with the status 2', async (_what, args, error) => {
  const ended = await runCommand(['fill-requests', ...args]);
  expect(ended.status).toBe(2);
  expect(ended.error).toContain(error);
});

test('the command explains itself', async () => {
  expect(await runCommand(['fill-requests', '--help'])).toMatchObject({
    status: 0,
    output: expect.stringContaining('Usage: holdpoint fill-requests'),
  });
});
