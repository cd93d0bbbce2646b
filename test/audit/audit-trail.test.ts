import { DatabaseSync } from 'node:sqlite';
import { type AgentThread, createAgent, memoryStore } from 'holdpoint';
import { auditTrail, checkAuditTrail } from 'holdpoint/audit';
import { describe, expect, test } from 'vitest';
import { errorCode } from '../support/error-code.ts';
import { lostCalls } from '../support/lost-call.ts';
import { scriptedModel } from '../support/scripted-model.ts';
import { book, memoryWorld } from '../support/travel-world.ts';
import { withSqliteStore } from '../support/with-sqlite-store.ts';

const script = [
  { calls: [book('c1', 'Paris'), { id: 'c2', name: 'look', input: { city: '=1+1\u202E' } }] },
  { calls: [book('c3', 'Rome')] },
  { text: 'Done.' },
];

/** A thread with a vote, an edit, a rejection with a standing rejection, and results. */
async function auditedThread(): Promise<AgentThread> {
  let ids = 0;
  let now = Date.parse('2026-11-23T09:00:00Z');
  const world = memoryWorld(script);
  const agent = world.agent({
    toolApproval: {
      book: ({ city }) =>
        city === 'Rome'
          ? { type: 'user-approval', remember: true }
          : { type: 'user-approval', quorum: 2, editable: true, remember: true },
    },
    now: () => (now += 1_000),
    generateId: () => `id-${(ids += 1)}`,
  });
  const thread = await agent.thread('trip-42');
  const first = await agent.run('Book two flights', thread, {
    principal: { id: 'Ada', name: 'Ada' },
  });
  const [request] = first.approvalRequests;
  if (request === undefined) throw new Error('Nothing is asked.');
  const input = { city: 'Paris', price: 9 };
  await agent.run(request.approve({ input, reason: 'cheap' }), thread, {
    principal: 'ben',
    channel: 'web',
  });
  const [edited] = thread.activeApprovalRequests;
  if (edited === undefined) throw new Error('The request is gone.');
  const next = await agent.run(edited.approve(), thread, { principal: 'cleo', channel: 'slack' });
  const rejections = next.approvalRequests.map((asked) =>
    asked.reject({ reason: 'Not Rome', remember: true }),
  );
  await agent.run(rejections, thread, { principal: 'ben' });
  return thread;
}

test('a trail says who asked, what was shown, who answered, what was edited and what ran, and ends with the hash', async () => {
  const thread = await auditedThread();
  const trail = await auditTrail(thread);
  expect(trail.toText()).toMatchSnapshot();
  expect(trail.revision).toBe(thread.revision);
  expect(trail.hash).toBe(thread.toJSON().entries.at(-1)?.hash);
  expect(trail.toText().trimEnd().endsWith(trail.hash)).toBe(true);
  const lines = trail
    .toJsonLines()
    .trimEnd()
    .split('\n')
    .map((line): unknown => JSON.parse(line));
  expect(lines).toEqual([
    ...trail.rows,
    { log: { threadId: 'trip-42', revision: trail.revision, hash: trail.hash } },
  ]);
});

test('a trail in text has nothing that hides or obeys, and one in CSV nothing that a spreadsheet runs', async () => {
  const world = memoryWorld([{ text: 'Done.' }]);
  const agent = world.agent();
  const thread = await agent.thread('t');
  await agent.run('Hi', thread, { principal: '=cmd()', channel: '-1+1' });
  const { rows, ...trail } = await auditTrail(thread);
  expect(trail.toCsv()).toMatch(/,"'=cmd\(\)","'-1\+1",/);
  const audited = await auditTrail(await auditedThread());
  expect(audited.toText()).not.toContain('\u202E');
  expect(audited.toText()).toContain('\\u{202e}');
  expect(rows.length).toBeGreaterThan(3);
  for (const line of audited.toCsv().trimEnd().split('\r\n')) expect(line).not.toMatch(/^[=+@-]/);
});

/** The cells of a CSV file as a spreadsheet reads them: a quotation mark begins and ends what separates nothing, and two are one. */
function cellsOf(csv: string, separator: string): string[] {
  const cells = [''];
  let isQuoted = false;
  for (const [character] of csv.matchAll(/""|[^]/gu)) {
    if (character === '"') isQuoted = !isQuoted;
    else if (!isQuoted && [separator, '\r', '\n'].includes(character)) cells.push('');
    else cells.push(`${cells.pop() ?? ''}${character === '""' ? '"' : character}`);
  }
  return cells;
}

test.each([
  '=1+1',
  '\n=1+1',
  '\r\n=1+1',
  '\t=1+1',
  ' \u00A0+1',
  '\u200B@SUM(1)',
  '\uFEFF-1',
  '\uFF1D1+1',
  '\uFE621+1',
  'x;=1+1',
  'x,=1+1',
  'x\n=1+1',
  'x"\n=1+1',
  'x";=1+1;"',
  '";=1+1;',
])('no cell is a formula, whatever a spreadsheet takes for the separator: %j', async (text) => {
  const world = memoryWorld([{ text: 'Done.' }]);
  const agent = world.agent();
  const thread = await agent.thread('t');
  await agent.run('Hi', thread, { principal: { name: text, id: text }, channel: text });
  const csv = (await auditTrail(thread)).toCsv();
  for (const separator of [',', ';', '\t']) {
    for (const cell of cellsOf(csv, separator)) {
      expect(cell.normalize('NFKC').replace(/^[\s\p{C}]+/u, '')).not.toMatch(/^[=+@-]/);
    }
  }
  const safe = cellsOf(csv, ',').filter((cell) => cell === text || cell === `'${text}`);
  expect(safe).not.toEqual([]);
});

test("the id stands beside a person's name, so that nobody can imitate another by name", async () => {
  const world = memoryWorld([{ text: 'Done.' }, { text: 'Done.' }]);
  const agent = world.agent();
  const thread = await agent.thread('t');
  const eve = { name: 'Ada (u-17)', id: 'u-99', role: 'guest' };
  await agent.run('Hi', thread, { principal: { name: 'Ada', id: 'u-17' } });
  await agent.run('Hi', thread, { principal: eve });
  const trail = await auditTrail(thread);
  expect(trail.toText()).toContain('message by Ada (u-17) ');
  expect(trail.toText()).toContain('message by "Ada (u-17)" (u-99) ');
  const cells = cellsOf(trail.toCsv(), ',');
  expect(cells).toContain('Ada (u-17)');
  expect(cells).toContain('"Ada (u-17)" (u-99)');
  expect(cells).toContain(JSON.stringify(eve));
});

test('the trail names a person by the id by which they count as one', async () => {
  const { model } = scriptedModel([{ text: 'One.' }]);
  const principal = { name: 'Ada', sub: 'session-1', subject: 'u-17' };
  const agent = createAgent({ model });
  const thread = await agent.thread('t');
  await agent.run('One?', thread, { principal });
  expect((await auditTrail(thread)).toText()).toContain('message by Ada (u-17) ');
});

test('a log that was edited behind a snapshot has no trail, in any process', async () => {
  await withSqliteStore(async (store, path) => {
    using file = new DatabaseSync(path);
    const { model } = scriptedModel([{ text: 'One.' }]);
    const agent = createAgent({ model, store });
    const history = Array.from({ length: 100 }, () => ({ role: 'user', content: 'Hi' }) as const);
    const { thread } = await agent.run('One?', await agent.thread('f', { messages: history }));
    const trail = await auditTrail(thread);
    const edit = (from: string, to: string) =>
      file.exec(
        `update holdpoint_entries set entry = replace(entry, '${from}', '${to}') where revision = 2`,
      );
    edit('"Hi"', '"Ho"');
    const opened = await createAgent({ model, store }).thread('f');
    expect(opened.decisions).toEqual(thread.decisions);
    expect(await errorCode(auditTrail(opened))).toBe('log-tampered');
    expect(await errorCode(auditTrail(thread))).toBe('log-tampered');
    edit('"Ho"', '"Hi"');
    /* The handle still has what the store had when it was opened. */
    expect(await errorCode(auditTrail(opened))).toBe('log-tampered');
    expect((await auditTrail(thread)).toText()).toBe(trail.toText());
  });
});

describe('a trail is checked against the JSON of its thread:', () => {
  test.each(['toText', 'toJsonLines', 'toCsv'] as const)('%s', async (form) => {
    const thread = await auditedThread();
    const text = (await auditTrail(thread))[form]();
    const json = JSON.stringify(thread);
    expect((await checkAuditTrail(text, json)).hash).toBe((await auditTrail(thread)).hash);
    expect(await errorCode(checkAuditTrail(text.replace('ben', 'eve'), json))).toBe(
      'invalid-input',
    );
    expect(await errorCode(checkAuditTrail(text, json.replaceAll('ben', 'eve')))).toBe(
      'log-tampered',
    );
  });
});

test('a lost call that a person settles has a row for each: the start with its key, that nobody knew, and who settled it', async () => {
  const { agent: make } = await lostCalls(['t'], {}, memoryStore());
  const { agent } = make();
  const thread = await agent.thread('t');
  await agent.settle(thread, 'c1', { status: 'succeeded', output: 'booked' }, { principal: 'ada' });
  const { rows } = await auditTrail(thread);
  const about = rows.filter(
    ({ toolCallId, what }) => toolCallId === 'c1' && /call|unknown/.test(what),
  );
  expect(about.map(({ what, who }) => [what, who])).toEqual([
    ['call proposed', undefined],
    ['call started', undefined],
    ['outcome unknown', undefined],
    ['call succeeded', 'ada'],
  ]);
  expect(about[1]?.details).toMatchObject({
    input: { city: 'Paris' },
    idempotencyKey: thread.calls[0]?.idempotencyKey,
  });
});
