import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { memoryStore } from 'holdpoint';
import { auditTrail, checkAuditTrail } from 'holdpoint/audit';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { runCommand } from '../support/run-holdpoint.ts';
import { fillOffice, inStore, makeOffice } from './office.ts';

const folder = mkdtempSync(join(tmpdir(), 'holdpoint-verify-'));
const filled = join(folder, 'filled.sqlite');
const file = join(folder, 'threads.sqlite');
beforeAll(async () => inStore(filled, fillOffice));
beforeEach(() => copyFileSync(filled, file));
afterAll(() => rmSync(folder, { recursive: true }));

async function holdpoint(...args: string[]) {
  return runCommand([...args, '--store', file]);
}

/** Changes the file behind the store's back. */
function damage(...statements: string[]): void {
  using database = new DatabaseSync(file);
  for (const statement of statements) database.exec(statement);
}

test('all threads of a store are verified, each with where its log ends', async () => {
  const { status, output, error } = await holdpoint('verify');
  expect({ status, error }).toEqual({ status: 0, error: '' });
  const hash = await inStore(file, async (store) => (await store.head('wall'))?.hash);
  expect(output).toMatch(new RegExp(`^sound wall: \\d+ events, hash ${hash}$`, 'm'));
  expect(output).toMatch(/\n4 sound, 0 with a fault\n$/);
});

test.each<[string, string, RegExp]>([
  [
    'an entry',
    `update holdpoint_entries set entry = replace(entry, '500', '5') where thread_id = 'invoice-7'`,
    /^FAULT invoice-7: The log was changed at revision \d+/m,
  ],
  [
    'a missing end',
    `delete from holdpoint_entries where thread_id = 'invoice-7' and revision = (select max(revision) from holdpoint_entries where thread_id = 'invoice-7')`,
    /^FAULT invoice-7: The log of thread invoice-7 ends at/m,
  ],
  [
    'a row',
    `update holdpoint_requests set body = replace(body, '500', '5') where thread_id = 'invoice-7'`,
    /^FAULT invoice-7: Request .* differs in the store from the log/m,
  ],
  [
    'a row that is gone',
    `delete from holdpoint_requests where thread_id = 'invoice-7'`,
    /^FAULT invoice-7: Request .* is in the log, but not in the store/m,
  ],
  [
    'a row of no thread',
    `update holdpoint_requests set thread_id = 'ghost' where thread_id = 'invoice-7'`,
    /^FAULT ghost: The store has request .* of it, but no such thread/m,
  ],
])('%s that was changed is found, and the status is 1', async (_what, statement, fault) => {
  damage(statement);
  const { status, output } = await holdpoint('verify');
  expect(output).toMatch(fault);
  expect(output).toContain('sound wall: ');
  expect(status).toBe(1);
});

test('a thread that is named and does not exist is a fault', async () => {
  expect(await holdpoint('verify', 'wall', 'gone')).toMatchObject({
    status: 1,
    output: expect.stringMatching(
      /^sound wall: .*\nFAULT gone: There is no thread gone\.\n1 sound, 1 with a fault\n$/,
    ),
  });
  const { output } = await holdpoint('verify', 'wall', 'gone', '--json');
  expect(JSON.parse(output)).toMatchObject({
    threads: [
      { threadId: 'wall', revision: expect.any(Number) },
      { threadId: 'gone', error: { code: 'not-found' } },
    ],
    sound: 1,
    faults: 1,
  });
});

test('what is shown comes from the log: a row that was changed deceives nobody', async () => {
  damage(`update holdpoint_requests set body = replace(body, '500', '5')`);
  const { output } = await holdpoint('list', '--thread', 'invoice-7', '--json');
  const { requestId } = JSON.parse(output).requests[0];
  expect((await holdpoint('show', requestId)).output).toContain('Pay 500 EUR to ACME?');
});

test('a thread whose log was changed is neither shown nor answered', async () => {
  damage(
    `update holdpoint_entries set entry = replace(entry, 'ACME', 'Eve') where thread_id = 'invoice-7'`,
  );
  const { output } = await holdpoint('list', '--thread', 'invoice-7', '--json');
  const { requestId, request } = JSON.parse(output).requests[0];
  const answer = ['answer', requestId, '--as', 'ben', '--digest', request.digest, '--approve'];
  for (const args of [['show', requestId], answer]) {
    const refused = await holdpoint(...args, '--json');
    expect(refused.status).toBe(1);
    expect(JSON.parse(refused.output)).toMatchObject({ error: { code: 'log-tampered' } });
  }
});

test('what is exported can be restored elsewhere, verified, and compared with an audit trail', async () => {
  const { status, output } = await holdpoint('export');
  expect(status).toBe(0);
  const lines = output.trimEnd().split('\n');
  expect(lines).toHaveLength(4);
  const [line = ''] = lines.filter((each) => each.includes('"threadId":"invoice-8"'));
  const store = memoryStore();
  const thread = await makeOffice(store).restore(line);
  expect(thread.activeRequests[0]?.toolCall?.input).toMatchObject({ note: 'a\u202Eb\nc' });
  const trail = await auditTrail(thread);
  expect((await checkAuditTrail(trail.toCsv(), line)).hash).toBe(trail.hash);
  const exported = join(folder, 'threads.jsonl');
  writeFileSync(exported, output);
  const verified = await runCommand(['verify', '--file', exported]);
  expect(verified).toMatchObject({ status: 0, output: expect.stringContaining('4 sound, 0 with') });
  writeFileSync(exported, output.replace('ACME', 'Eve'));
  expect(await runCommand(['verify', '--file', exported])).toMatchObject({
    status: 1,
    output: expect.stringContaining('FAULT invoice-7: The log was changed'),
  });
  expect(await runCommand(['verify', '--file', exported, 'wall', 'gone'])).toMatchObject({
    status: 1,
    output: expect.stringMatching(/^sound wall: .*\nFAULT gone: There is no thread gone\.\n/),
  });
});

test('a thread that was changed is not exported, and the others are', async () => {
  damage(
    `update holdpoint_entries set entry = replace(entry, 'ACME', 'Eve') where thread_id = 'invoice-7'`,
  );
  const { status, output, error } = await holdpoint('export');
  expect(status).toBe(1);
  expect(output.trimEnd().split('\n')).toHaveLength(3);
  expect(error).toMatch(/^Not exported:\ninvoice-7: The log was changed/);
  const json = await holdpoint('export', 'invoice-7', 'wall', 'gone', '--json');
  expect(JSON.parse(json.output)).toMatchObject({
    threads: [{ type: 'holdpoint-thread', threadId: 'wall' }],
    unreadable: [
      { threadId: 'invoice-7', code: 'log-tampered' },
      { threadId: 'gone', code: 'not-found' },
    ],
  });
});
