import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { tool } from 'ai';
import { createAgent, type MayAnswer, type StoredRequest } from 'holdpoint';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { AgentOffice, ask } from '../support/agent-office.ts';
import { errorCode } from '../support/error-code.ts';
import { expectRowsOf } from '../support/expect-rows.ts';
import { lostCalls } from '../support/lost-call.ts';
import { rowStore } from '../support/row-store.ts';
import { scriptedModel } from '../support/scripted-model.ts';
import { withSnapshots } from '../support/snapshot-store.ts';
import { book, memoryWorld } from '../support/travel-world.ts';
import { childOf, desk, requestIn } from '../tools/payment-desk.ts';
import { pickCases } from '../support/sampling.ts';

const terms = {
  type: 'user-approval',
  approvers: ['finance', 'ada'],
  quorum: 2,
  risk: 'high',
  editable: true,
  expiresAfterMs: 1_000,
  remindBeforeMs: 100,
} as const;
const mayAnswer = () => true;
const bob = { principal: 'bob' };
const ann = { id: 'ann', tenant: 'acme', token: 'secret' };

/** An agent that asks about a flight, as `terms` say, at the time 5,000. */
async function asking() {
  const clock = { now: 5_000 };
  const store = rowStore();
  const script = [{ calls: [book('c1', 'Paris')] }, { text: 'Done.' }];
  const world = memoryWorld(script);
  const agent = world.agent({
    name: 'travel',
    store,
    toolApproval: { book: terms },
    mayAnswer,
    now: () => clock.now,
  });
  const thread = await agent.thread('t');
  await agent.run('Book', thread, { principal: ann });
  return { store, agent, thread, clock, world, request: requestIn(thread) };
}

test('a request is one row, in the append that opens it, and says what lists ask for', async () => {
  const { store, request } = await asking();
  const { approve: _approve, reject: _reject, ...plain } = request;
  expect([...store.rows.values()]).toEqual([
    {
      requestId: request.requestId,
      threadId: 't',
      agent: 'travel',
      tenant: 'acme',
      kind: 'approval',
      toolName: 'book',
      requesters: ['ann'],
      approvers: ['finance', 'ada'],
      risk: 'high',
      createdAt: 5_000,
      expiresAt: 6_000,
      remindAt: 5_900,
      votes: 0,
      quorum: 2,
      state: 'open',
      decidedBy: null,
      text: JSON.stringify(plain),
    },
  ]);
});

test('votes, reassignments, reminders and the end of a request change its row, and nothing else does', async () => {
  const { store, agent, thread, clock, request } = await asking();
  const row = () => store.rows.get(request.requestId);
  const other = await agent.requestApproval(thread, { text: 'And this?' });
  await agent.reassign(thread, request.requestId, 'bob', { principal: 'ada' });
  expect(row()?.approvers).toEqual(['finance', 'ada', 'bob']);
  await agent.respond(request.approve({ input: { city: 'Rome' } }), thread, { principal: 'bob' });
  expect(row()).toMatchObject({ votes: 1, state: 'open' });
  expect(row()?.text).toContain('"input":{"city":"Rome"}');
  clock.now = 5_950;
  await agent.run([], thread);
  expect(row()).not.toHaveProperty('remindAt');
  await agent.run(requestIn(thread).approve(), thread, { principal: { sub: 7, name: 'Cy' } });
  expect(row()).toMatchObject({ votes: 2, state: 'approved', decidedBy: '7', decidedAt: 5_950 });
  const typesOf = (id: string) =>
    store.changes.filter((each) => each.request.requestId === id).map(({ type }) => type);
  const all = ['opened', 'changed', 'changed', 'changed', 'closed'];
  expect(typesOf(request.requestId)).toEqual(all);
  expect(typesOf(other.requestId)).toEqual(['opened']);
  await expectRowsOf(store, thread);
});

test.each([
  ['is rejected', 'rejected', 'bob'],
  ['is cancelled', 'cancelled', 'eve'],
  ['expires', 'expired', null],
])('a row of a request that %s says so, and who did it', async (_how, state, decidedBy) => {
  const { store, agent, thread, clock, request } = await asking();
  if (state === 'rejected') await agent.respond(request.reject(), thread, { principal: 'bob' });
  if (state === 'cancelled') await agent.cancel(thread, 'No.', { principal: 'eve' });
  if (state === 'expired') {
    clock.now = 7_000;
    await agent.run([], thread);
  }
  expect(store.rows.get(request.requestId)).toMatchObject({ state, decidedBy, votes: 0 });
  await expectRowsOf(store, thread);
});

test('a thread that another agent takes over has rows of that agent', async () => {
  const { store, thread, world } = await asking();
  const other = world.agent({ name: 'other', store });
  await other.adopt(await other.thread('t'));
  expect(store.changes.at(-1)).toMatchObject({ type: 'changed', request: { agent: 'other' } });
  await expectRowsOf(store, await other.thread(thread.id));
});

test('what a database does not take as text is replaced in a row', async () => {
  const { store, agent, thread, request } = await asking();
  await agent.respond(request.reject(), thread, { principal: 'a\0b' });
  await agent.run('Hi', thread, { principal: { id: 'a\0b', tenant: 'acme' } });
  await agent.requestApproval(thread, { text: 'Well?', approvers: ['a\0b'] });
  const text = 'a\uFFFDb';
  expect([...store.rows.values()]).toMatchObject([
    { decidedBy: text },
    { requesters: ['ann', text], tenant: 'acme', approvers: [text] },
  ]);
  await expectRowsOf(store, thread);
});

test.each(['a\0b', 'x'.repeat(257), 7])(
  'a tenant that would have to be changed to be stored is none, and not another one: %j',
  async (tenant) => {
    const store = rowStore();
    const { model } = scriptedModel([{ text: 'Done.' }]);
    const agent = createAgent({ model, store, mayAnswer });
    const thread = await agent.thread('t');
    await agent.run('Hi', thread, { principal: { id: 'a', tenant } });
    const approvers = [`${'y'.repeat(256)}z`];
    await agent.requestApproval(thread, { text: 'Well?', approvers });
    const [row] = store.rows.values();
    expect(row).toMatchObject({ tenant: null, approvers: ['y'.repeat(256)] });
    await expectRowsOf(store, thread);
  },
);

test('a lost call is a row until it is settled, with what a person needs to settle it', async () => {
  const store = rowStore();
  const { agent, clock } = await lostCalls(['t'], {}, store, ['bob'], 'ann');
  const own = agent().agent;
  const thread = await own.thread('t');
  expect(thread.status).toBe('indeterminate');
  const [row] = [...store.rows.values()].filter(({ kind }) => kind === 'lost-call');
  expect(row).toMatchObject({
    threadId: 't',
    toolName: 'book',
    requesters: ['ann'],
    state: 'open',
    createdAt: clock.now,
  });
  expect(JSON.parse(row?.text ?? '')).toMatchObject({
    type: 'lost-call',
    requestId: row?.requestId,
    call: { toolCallId: 'c1', input: { city: 'Paris' }, idempotencyKey: expect.any(String) },
  });
  await expectRowsOf(store, thread);
  await own.settle(thread, 'c1', { status: 'succeeded', output: 'ok' }, { principal: 'eve' });
  expect(store.rows.get(row?.requestId ?? '')).toMatchObject({
    state: 'settled',
    decidedBy: 'eve',
    decidedAt: clock.now,
  });
  await expectRowsOf(store, thread);
});

test.each([
  ['whose approval is enough', true],
  ['whose approval mayAnswer refuses', false],
])('a lost call that a person retries is settled by that person, %s', async (_whose, isEnough) => {
  const store = rowStore();
  const mayApprove: MayAnswer = ({ principal }) => isEnough || principal === 'bob';
  const { agent } = await lostCalls(['t'], { mayAnswer: mayApprove }, store, ['bob'], 'ann');
  const own = agent().agent;
  const thread = await own.thread('t');
  await own.settle(thread, 'c1', { status: 'retry' }, { principal: 'eve' });
  const rows = [...store.rows.values()].filter(({ kind }) => kind === 'lost-call');
  expect(rows).toMatchObject([{ state: 'settled', decidedBy: 'eve' }]);
  await expectRowsOf(store, thread);
});

test('a lost call that is recovered by itself is no row', async () => {
  const store = rowStore();
  const { agent } = await lostCalls(['t'], {}, store);
  const toolRecovery = { book: { idempotent: true } } as const;
  const thread = await agent({ toolRecovery }).agent.thread('t');
  expect(thread.calls).toMatchObject([{ status: 'indeterminate' }]);
  expect([...store.rows.values()].map(({ kind }) => kind)).toEqual(['approval']);
  await expectRowsOf(store, thread);
});

test('a stuck thread is a row until it is retried, and another one when it is stuck again', async () => {
  const store = rowStore();
  const clock = { now: 1_000 };
  const { model } = scriptedModel([{ fail: 'down' }, { fail: 'still down' }, { text: 'Hi.' }]);
  const retry = { maxAttempts: 1 };
  const agent = createAgent({ model, store, retry, maxRetries: 0, now: () => clock.now });
  const thread = await agent.thread('t');
  await expect(agent.run('Hi', thread, { principal: 'ann' })).rejects.toThrow('down');
  const [first] = store.rows.values();
  expect(first).toMatchObject({ kind: 'stuck-thread', state: 'open', createdAt: 1_000 });
  expect(JSON.parse(first?.text ?? '')).toMatchObject({ error: 'down', failures: 1 });
  await expectRowsOf(store, thread);
  clock.now = 2_000;
  await expect(agent.run([], thread, { principal: 'bob' })).rejects.toThrow('still down');
  const settled = { state: 'settled', decidedBy: 'bob', decidedAt: 2_000 };
  const [again, second] = store.rows.values();
  expect([again, second]).toMatchObject([settled, { state: 'open', createdAt: 2_000 }]);
  await expectRowsOf(store, thread);
  await agent.run([], thread);
  expect([...store.rows.values()]).toMatchObject([settled, { state: 'settled', decidedBy: null }]);
  await expectRowsOf(store, thread);
});

describe("a sub-agent's", () => {
  test('request is one row, of the outermost thread, with the path; what happens below changes it', async () => {
    const store = rowStore();
    const status = {
      type: 'user-approval',
      quorum: 2,
      approvers: ['ada'],
      editable: true,
    } as const;
    const at = await desk(
      { open: () => store, payer: { mayAnswer }, clerk: { mayAnswer } },
      status,
    );
    const own = await childOf(at);
    const [row, ...others] = store.rows.values();
    expect(others).toEqual([]);
    expect(row).toMatchObject({ threadId: 't', agent: 'clerk', toolName: 'pay', quorum: 2 });
    expect(JSON.parse(row?.text ?? '').path).toMatchObject([{ agent: 'payer' }]);
    const { requestId } = requestIn(own);
    const after = () => store.rows.get(requestId);
    await at.clerk.reassign(at.thread, requestId, 'bob', { principal: 'ada' });
    const edited = requestIn(at.thread).approve({ input: { euros: 800 } });
    await at.clerk.run(edited, at.thread, { principal: 'ada' });
    expect(after()).toMatchObject({ approvers: ['ada', 'bob'], votes: 1, state: 'open' });
    expect(after()?.text).toContain('"input":{"euros":800}');
    await expectRowsOf(store, at.thread);
    await at.clerk.run(requestIn(at.thread).approve(), at.thread, { principal: 'bob' });
    expect([...store.rows.values()]).toMatchObject([
      { requestId, threadId: 't', state: 'approved', votes: 2, decidedBy: 'bob' },
    ]);
    await expectRowsOf(store, at.thread);
    await expectRowsOf(store, await childOf(at));
  });

  test('lost call is one row, of its own thread, also while the agents above check it', async () => {
    const store = rowStore();
    const office = new AgentOffice(store);
    const broken = tool({ inputSchema: z.object({}), execute: async () => new Promise(() => {}) });
    const script = [{ calls: [{ id: 'x1', name: 'broken', input: {} }] }, { text: 'Over.' }];
    const short = { timeout: { toolMs: 10 }, abortGraceMs: 5 };
    const inner = office.agent('inner', script, { tools: { broken }, ...short });
    const asks = [{ calls: [ask('b1', 'buy', 'Buy.')] }, { text: 'Done.' }];
    const outer = office.agent('outer', asks, { tools: { buy: office.tool(inner) } });
    const thread = await outer.thread('t');
    await outer.run('Go.', thread, { principal: ann });
    await outer.run([], thread);
    const [row, ...others] = store.rows.values();
    expect(others).toEqual([]);
    expect(row).toMatchObject({ kind: 'lost-call', agent: 'inner', tenant: 'acme', state: 'open' });
    const own = await inner.thread(row?.threadId ?? '');
    await expectRowsOf(store, own);
    await inner.settle(own, 'x1', { status: 'failed', error: 'It did not happen.' });
    expect([...store.rows.values()]).toMatchObject([{ state: 'settled' }]);
    expect(await outer.run([], thread)).toMatchObject({ status: 'completed' });
  });
});

/* Every log of a released version. */
const golden = ['thread-v1', 'thread-v1-prepared', 'policy-v1', 'custom-agent-v1', 'imported-v1'];
const childSchema = z.object({ parent: z.unknown(), child: z.unknown() });

function readGolden(name: string): unknown {
  return JSON.parse(
    readFileSync(join(import.meta.dirname, '..', 'golden', `${name}.json`), 'utf8'),
  );
}

const { parent, child } = childSchema.parse(readGolden('sub-agent-v1'));
const logs = [
  ...golden.map((name) => [name, readGolden(name)] as const),
  ['the thread above', parent] as const,
  ['the thread below', child] as const,
];

test.each(pickCases(logs, 3))(
  'rows of a log that is restored are those of the log: %s',
  async (_name, json) => {
    const agentName = z.looseObject({
      entries: z.array(z.object({ events: z.array(z.unknown()) })),
    });
    const [created] = agentName.parse(json).entries[0]?.events ?? [];
    const name: unknown = Reflect.get(Object(created), 'agent');
    const { model } = scriptedModel([]);
    const open = (store: ReturnType<typeof rowStore>) =>
      createAgent({ model, store, ...(typeof name === 'string' ? { name } : {}) });
    const written = rowStore();
    await expectRowsOf(written, await open(written).restore(json));
  },
);

test('a snapshot and rows may be written by one append', async () => {
  const store = withSnapshots(rowStore(), new Map(), 1);
  const together: string[][] = [];
  const noting = {
    ...store,
    append: async (...input: Parameters<typeof store.append>) => {
      together.push(Object.keys(input[4] ?? {}));
      await store.append(...input);
    },
  };
  const { agent: open } = memoryWorld([{ calls: [book('c1', 'Paris')] }, { text: 'Done.' }]);
  const agent = open({ store: noting });
  const thread = await agent.thread('t');
  await agent.run('Book', thread);
  await agent.run(requestIn(thread).approve(), thread);
  expect(together).toContainEqual(['snapshot', 'requests']);
  await expectRowsOf(noting, await open({ store: noting }).thread('t'));
});

const change =
  (changes: Partial<StoredRequest>) =>
  (row: StoredRequest): StoredRequest => ({ ...row, ...changes });

describe('verify', () => {
  test.each([
    ['was changed', change({ approvers: ['mallory'] }), 'differs'],
    ['was reopened', change({ state: 'open', decidedBy: null }), 'differs'],
    ['has other content', change({ text: '{}' }), 'differs'],
    ['is missing', () => undefined, 'not in the store'],
    ['is of no request', change({ requestId: 'forged' }), 'not in the log'],
  ])('rejects with the id of a row that %s', async (_fault, forge, why) => {
    const { store, agent, thread, request } = await asking();
    await agent.respond(request.reject(), thread, bob);
    /* A second request, so that the store has a row in any case. */
    await agent.requestApproval(thread, { text: 'And this?' });
    await expect(thread.verify()).resolves.toBeUndefined();
    const row = store.rows.get(request.requestId);
    const forged = row && forge(row);
    if (why !== 'not in the log') store.rows.delete(request.requestId);
    if (forged !== undefined) store.rows.set(forged.requestId, forged);
    const id = forged?.requestId ?? request.requestId;
    await expect(thread.verify()).rejects.toMatchObject({
      code: 'log-tampered',
      requestId: id,
      message: expect.stringMatching(new RegExp(`${id}.*${why}`)),
    });
  });

  test('accepts a decided row whose text was erased, and no open one', async () => {
    const { store, agent, thread, request } = await asking();
    const erase = () => {
      const row = store.rows.get(request.requestId);
      if (row !== undefined) store.rows.set(row.requestId, { ...row, text: null });
    };
    erase();
    expect(await errorCode(thread.verify())).toBe('log-tampered');
    await agent.respond(request.reject(), thread, bob);
    erase();
    expect(await errorCode(thread.verify())).toBe('no error');
  });

  test('compares the rows again if somebody appends while it reads them', async () => {
    const { store, agent, thread, request } = await asking();
    const { list } = store.requests;
    let reads = 0;
    store.requests.list = async (query) => {
      if ((reads += 1) === 1) await agent.respond(request.reject(), await agent.thread('t'), bob);
      return list(query);
    };
    await expect(thread.verify()).resolves.toBeUndefined();
    expect(reads).toBe(2);
  });
});
