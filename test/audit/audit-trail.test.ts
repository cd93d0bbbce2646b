import { type AgentThread, memoryStore } from 'holdpoint';
import { auditTrail, checkAuditTrail } from 'holdpoint/audit';
import { describe, expect, test } from 'vitest';
import { errorCode } from '../support/error-code.ts';
import { lostCalls } from '../support/lost-call.ts';
import { book, memoryWorld } from '../support/travel-world.ts';

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
    toolApproval: { book: { type: 'user-approval', quorum: 2, editable: true, remember: true } },
    now: () => (now += 1_000),
    generateId: () => `id-${(ids += 1)}`,
  });
  const thread = await agent.thread('trip-42');
  const first = await agent.run('Book two flights', thread, { principal: { name: 'Ada' } });
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
  const trail = auditTrail(thread);
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
  const { rows, ...trail } = auditTrail(thread);
  expect(trail.toCsv()).toMatch(/,'=cmd\(\),'-1\+1,/);
  const audited = auditTrail(await auditedThread());
  expect(audited.toText()).not.toContain('\u202E');
  expect(audited.toText()).toContain('\\u{202e}');
  expect(rows.length).toBeGreaterThan(3);
  for (const line of audited.toCsv().trimEnd().split('\r\n')) expect(line).not.toMatch(/^[=+@-]/);
});

describe('a trail is checked against the JSON of its thread:', () => {
  test.each(['toText', 'toJsonLines', 'toCsv'] as const)('%s', async (form) => {
    const thread = await auditedThread();
    const text = auditTrail(thread)[form]();
    const json = JSON.stringify(thread);
    expect((await checkAuditTrail(text, json)).hash).toBe(auditTrail(thread).hash);
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
  const { rows } = auditTrail(thread);
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
