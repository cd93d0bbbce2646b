import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createAgent } from 'holdpoint';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { runCommand } from '../support/run-holdpoint.ts';
import { scriptedModel } from '../support/scripted-model.ts';
import { fillOffice, inStore } from './office.ts';

let folder: string;
let file: string;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'holdpoint-delete-'));
  file = join(folder, 'threads.sqlite');
  await inStore(file, async (store) => {
    await fillOffice(store);
    const { model } = scriptedModel([{ text: 'Hello.' }, { text: 'Hello.' }]);
    for (const name of ['talker', undefined]) {
      const agent = createAgent({ store, model, ...(name !== undefined && { name }) });
      await agent.run('Hi.', await agent.thread(`of ${name ?? 'nobody'}`));
    }
  });
});
afterEach(() => rmSync(folder, { recursive: true }));

const dayMs = 24 * 60 * 60 * 1_000;
const later = { now: () => Date.now() + 90.5 * dayMs };

const holdpoint = async (args: string[], world: Parameters<typeof runCommand>[1] = later) =>
  runCommand(['delete', ...args, '--store', file], world);

const listIds = async () =>
  inStore(file, async (store) => (await store.list({})).map(({ threadId }) => threadId));

test('what is over and old goes, and what waits for people stays', async () => {
  const ofTalker = ['--agent', 'talker', '--days'];
  expect(await holdpoint([...ofTalker, '91'])).toMatchObject({ output: 'Deleted: 0.\n' });
  expect(await holdpoint([...ofTalker, '90'])).toMatchObject({
    status: 0,
    output: 'Deleted: 1. Changes of requests: 5.\n',
    error: '',
  });
  expect(await holdpoint(['--agent', 'office', '--days', '90'])).toMatchObject({ status: 0 });
  expect(await listIds()).toEqual(['invoice-7', 'invoice-8', 'of nobody', 'trip', 'wall']);
});

test('without the name of an agent nothing goes; no name is one too', async () => {
  expect(await holdpoint(['--days', '90'])).toMatchObject({
    status: 2,
    error: expect.stringContaining('Name the agent'),
  });
  expect(await listIds()).toHaveLength(6);
  const { output } = await holdpoint(['--days', '90', '--no-agent', '--json']);
  expect(JSON.parse(output)).toEqual({ deleted: 1, changes: 5, kept: [] });
  const waiting = ['--agent', 'office', '--days', '90', '--status', 'waiting', '--limit', '1'];
  expect(await holdpoint(waiting)).toMatchObject({
    output: expect.stringMatching(/^Deleted: 1\./),
  });
});

test('an archive has each thread before, for its owner alone, and is verified as an export is', async () => {
  const archive = join(folder, 'old.jsonl');
  await holdpoint(['--days', '90', '--agent', 'talker', '--archive', archive]);
  await holdpoint(['--days', '90', '--no-agent', '--archive', archive]);
  expect(statSync(archive).mode & 0o777).toBe(0o600);
  const ids = readFileSync(archive, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line).threadId);
  expect(ids).toEqual(['of talker', 'of nobody']);
  expect(await runCommand(['verify', '--file', archive])).toMatchObject({
    status: 0,
    output: expect.stringContaining('2 sound, 0 with a fault'),
  });
});

test('a line of an archive that was cut off does not spoil the next one (regression: its thread was deleted)', async () => {
  const archive = join(folder, 'old.jsonl');
  const { output: line } = await runCommand(['export', 'of nobody', '--store', file]);
  writeFileSync(archive, line.slice(0, line.length / 2));
  await holdpoint(['--days', '90', '--agent', 'talker', '--archive', archive]);
  expect(await runCommand(['verify', 'of talker', '--file', archive])).toMatchObject({
    status: 0,
    output: expect.stringContaining('1 sound, 0 with a fault'),
  });
});

test('without an archive that can be written, nothing is deleted', async () => {
  const archive = join(folder, 'no folder', 'old.jsonl');
  expect(
    await holdpoint(['--days', '90', '--agent', 'talker', '--archive', archive]),
  ).toMatchObject({
    status: 2,
    error: expect.stringContaining('ENOENT'),
  });
  expect(await listIds()).toHaveLength(6);
});

test('a thread whose log was changed is kept when it is to be archived, and named', async () => {
  await inStore(file, async (store) => {
    const [entry] = await store.read('of talker');
    const head = await store.head('of talker');
    if (entry === undefined || head === undefined) throw new Error('The thread is missing.');
    await store.delete('of talker', head);
    const text = entry.text.replace('Hi.', 'Ho.');
    const end = { revision: 0, hash: '' };
    await store.append('of talker', end, [{ ...entry, text }], {
      ...head,
      revision: entry.revision,
    });
  });
  const archive = join(folder, 'old.jsonl');
  const ended = await holdpoint(['--days', '90', '--agent', 'talker', '--archive', archive]);
  expect(ended).toMatchObject({ status: 1, output: expect.stringMatching(/^Deleted: 0\./) });
  expect(ended.error).toMatch(/^Kept:\nof talker: The log was changed at revision/);
});
