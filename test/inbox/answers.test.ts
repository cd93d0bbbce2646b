import { createAgent, HoldpointError, memoryStore } from 'holdpoint';
import { noteCaller } from '../../src/agent/agent-door.ts';
import { describe, expect, test } from 'vitest';
import { lostCalls } from '../support/lost-call.ts';
import { scriptedModel } from '../support/scripted-model.ts';
import { watchRows } from '../support/watched-rows.ts';
import { inboxOf, mayAnswer, no, office, only, pay, shownOf, yes } from './inbox-site.ts';

const acme = (id: string, euros = 500) => ({ calls: [pay(id, { to: 'ACME', euros })] });
const done = { text: 'Done.' };

type Office = Parameters<typeof office>[1];
type Options = Parameters<typeof inboxOf>[1];

/** An office with a request in each of `count` threads, as they are listed for Ben. */
async function waiting(
  { count = 1, ...options }: Office & { count?: number } = {},
  asked: Options = {},
) {
  const script = Array.from({ length: count }, (_each, index) => acme(`c${index}`, index + 1));
  const at = office([...script, done], options);
  for (let index = 0; index < count; index += 1) await at.ask(`t${index}`);
  const inbox = inboxOf(at.agent, asked);
  const { entries } = await inbox.list('ben', 'order=oldest');
  const [entry] = entries;
  if (entry === undefined) throw new Error('Nothing waits.');
  const decisions = async (threadId = 't0') =>
    (await at.agent.thread(threadId)).decisions.map(({ status, principal }) => [status, principal]);
  return { ...at, inbox, entries, entry, decisions };
}

describe('many answers', () => {
  test('have an outcome each, and one that is refused keeps no other from being recorded', async () => {
    const { inbox, entries, decisions } = await waiting({ count: 4 });
    const [first, second, third, fourth] = entries;
    if (!first || !second || !third || !fourth) throw new Error('There are too few.');
    await inbox.answer('cleo', [{ entry: second, answer: no(second) }]);
    const outcomes = await inbox.answer('ben', [
      { entry: first, answer: yes(first) },
      { entry: second, answer: yes(second) },
      { entry: { ...third, digest: 'another' }, answer: yes(third) },
      { entry: fourth, answer: yes(fourth) },
    ]);
    expect(outcomes).toMatchObject([
      { status: 'recorded', requestId: first.requestId },
      {
        status: 'refused',
        error: { code: 'already-answered' },
        entry: { state: 'rejected', decidedBy: 'cleo' },
      },
      { status: 'refused', error: { code: 'answer-mismatch' }, entry: { state: 'open' } },
      { status: 'recorded', requestId: fourth.requestId },
    ]);
    expect(await decisions('t2')).toEqual([]);
    expect(await decisions('t3')).toEqual([['approved', 'ben']]);
  });

  test('an error of the server is reported, and is one outcome', async () => {
    const { inbox, entries, store } = await waiting({ count: 2 });
    const { append } = store;
    store.append = async (threadId, ...rest) => {
      if (threadId === 't0') throw new Error('The disk is full at /var/secret.');
      return append.call(store, threadId, ...rest);
    };
    const outcomes = await inbox.answer(
      'ben',
      entries.map((entry) => ({ entry, answer: yes(entry) })),
    );
    expect(outcomes).toMatchObject([
      { status: 'refused', error: { code: 'internal-error', message: 'Something failed.' } },
      { status: 'recorded' },
    ]);
    expect(JSON.stringify(outcomes)).not.toContain('/var/secret');
    expect(inbox.errors).toHaveLength(1);
  });
});

describe('an answer is about what was shown:', () => {
  const two = {
    pay: { type: 'user-approval', approvers: ['finance', 'boss'], quorum: 2, editable: ['euros'] },
  } as const;

  test("somebody else's vote refuses none", async () => {
    const { inbox, entry, decisions } = await waiting({ toolApproval: two });
    await inbox.answer('dora', [{ entry, answer: yes(entry) }]);
    const now = only((await inbox.list('ben')).entries);
    expect([now.votes, now.digest]).toEqual([1, entry.digest]);
    expect(only(await inbox.answer('ben', [{ entry, answer: yes(entry) }]))).toMatchObject({
      status: 'recorded',
      entry: { state: 'approved' },
    });
    expect(await decisions()).toEqual([['approved', 'ben']]);
  });

  test('an edit by somebody else refuses it, and shows the edited request', async () => {
    const { inbox, entry, decisions } = await waiting({ toolApproval: two });
    const edited = yes(entry, { input: { to: 'ACME', euros: 7 } });
    expect(only(await inbox.answer('dora', [{ entry, answer: edited }]))).toMatchObject({
      status: 'recorded',
      entry: { votes: 1 },
    });
    expect(only(await inbox.answer('ben', [{ entry, answer: yes(entry) }]))).toMatchObject({
      status: 'refused',
      error: { code: 'answer-mismatch' },
      entry: {
        request: { toolCall: { input: { euros: 7 } }, edit: { original: { input: { euros: 1 } } } },
      },
    });
    expect(await decisions()).toEqual([]);
  });

  test('so does another detail of the app', async () => {
    let balance = 40;
    const { inbox, entry, decisions } = await waiting(
      {},
      { details: { pay: () => [{ type: 'value', label: 'Balance', value: balance }] } },
    );
    expect(entry.details).toEqual([{ type: 'value', label: 'Balance', value: 40 }]);
    balance = 4;
    expect(only(await inbox.answer('ben', [{ entry, answer: yes(entry) }]))).toMatchObject({
      status: 'refused',
      error: { code: 'answer-mismatch' },
      entry: { details: [{ value: 4 }] },
    });
    expect(await decisions()).toEqual([]);
  });

  test.each([
    ['the amount', '"euros":1', '"euros":9'],
    ['the question', 'Pay 1 EUR', 'Pay 9 EUR'],
    ['who may answer', '"approvers":["finance"]', '"approvers":["finance","zed"]'],
    ['what happens at its end', '"notRequester":true', '"onExpiry":{"type":"ask-again"}'],
  ])(
    'a row that somebody changed in the database (%s) is answered by nobody',
    async (_, from, to) => {
      const watched = watchRows();
      const { inbox, decisions } = await waiting({ store: watched.store });
      watched.forge = (row) => ({ ...row, text: row.text?.replace(from, to) ?? null });
      const forged = only((await inbox.list('ben')).entries);
      expect(JSON.stringify(forged)).toContain(to.slice(1, -1));
      expect(
        only(await inbox.answer('ben', [{ entry: forged, answer: yes(forged) }])),
      ).toMatchObject({
        status: 'refused',
        error: { code: 'answer-mismatch' },
      });
      expect(await decisions()).toEqual([]);
    },
  );

  test('an answer to one request under the name of another is refused', async () => {
    const { inbox, entries, decisions } = await waiting({ count: 2 });
    const [first, second] = entries;
    if (!first || !second) throw new Error('There are too few.');
    const outcomes = await inbox.answer('ben', [
      { entry: first, answer: yes(second) },
      { entry: { ...first, threadId: second.threadId }, answer: yes(first) },
    ]);
    expect(outcomes).toMatchObject([
      { status: 'refused', error: { code: 'invalid-answer' } },
      { status: 'refused', error: { code: 'not-found' } },
    ]);
    expect([await decisions('t0'), await decisions('t1')]).toEqual([[], []]);
  });
});

test('an answer is recorded, also if the request can not be read afterwards', async () => {
  const { inbox, entry, store, decisions } = await waiting();
  const { append, requests } = store;
  store.append = async (...given) => {
    await append.apply(store, given);
    if (requests !== undefined) requests.get = async () => Promise.reject(new Error('Away.'));
  };
  expect(only(await inbox.answer('ben', [{ entry, answer: yes(entry) }]))).toMatchObject({
    status: 'recorded',
    requestId: entry.requestId,
  });
  expect(await decisions()).toEqual([['approved', 'ben']]);
});

describe('an answer that comes again', () => {
  test('is recorded once, and its sender gets the outcome', async () => {
    const { inbox, entry, agent, decisions } = await waiting();
    const answers = [{ entry, answer: yes(entry) }];
    await inbox.answer('ben', answers);
    const { revision } = await agent.thread('t0');
    expect(only(await inbox.answer('ben', answers))).toMatchObject({
      status: 'recorded',
      entry: { state: 'approved', decidedBy: 'ben' },
    });
    expect((await agent.thread('t0')).revision).toBe(revision);
    expect(await decisions()).toEqual([['approved', 'ben']]);
  });

  test('with another word is refused', async () => {
    const { inbox, entry } = await waiting();
    await inbox.answer('ben', [{ entry, answer: no(entry) }]);
    expect(only(await inbox.answer('ben', [{ entry, answer: yes(entry) }]))).toMatchObject({
      status: 'refused',
      error: { code: 'already-answered' },
      entry: { state: 'rejected' },
    });
  });
});

describe('a person who lost a right while the page was open', () => {
  test('answers nothing, is told nothing more, and nothing is recorded', async () => {
    const gone = new Set<unknown>();
    const { inbox, entry, agent } = await waiting({
      mayAnswer: (asked) => !gone.has(asked.principal) && mayAnswer?.(asked) === true,
    });
    const { revision } = await agent.thread('t0');
    gone.add('ben');
    const [outcome] = await inbox.answer('ben', [{ entry, answer: yes(entry) }]);
    expect(outcome).toEqual({
      status: 'refused',
      requestId: entry.requestId,
      error: expect.objectContaining({ code: 'not-found' }),
    });
    expect((await inbox.list('ben', 'list=all')).entries).toEqual([]);
    expect((await inbox.send('ben', `/api/requests/${entry.requestId}`)).status).toBe(404);
    expect((await agent.thread('t0')).revision).toBe(revision);
  });

  test('who may see it but not answer is refused by the agent', async () => {
    const { inbox, entry, decisions } = await waiting({}, { maySee: () => true });
    expect(only(await inbox.answer('eve', [{ entry, answer: yes(entry) }]))).toMatchObject({
      status: 'refused',
      error: { code: 'not-allowed' },
      entry: { rights: { mayAnswer: false, refusal: 'not-approver' } },
    });
    expect(await decisions()).toEqual([]);
  });
});

test('an edit is recorded, and one that does not fit names its field', async () => {
  const { inbox, entry, agent, paid } = await waiting();
  const send = async (input: object) =>
    only(await inbox.answer('ben', [{ entry, answer: yes(entry, { input }) }]));
  expect(await send({ to: 'ACME', euros: 'seven' })).toMatchObject({
    status: 'refused',
    error: { code: 'invalid-answer', field: ['euros'] },
  });
  expect(await send({ to: 'Zenith', euros: 7 })).toMatchObject({
    status: 'refused',
    error: { code: 'invalid-answer', field: ['to'] },
  });
  expect(await send({ to: 'ACME', euros: 7 })).toMatchObject({ status: 'recorded' });
  await agent.run([], await agent.thread('t0'));
  expect(paid).toEqual([{ to: 'ACME', euros: 7 }]);
});

describe('besides answers', () => {
  const two = {
    pay: { type: 'user-approval', approvers: ['finance', 'boss'], quorum: 2 },
  } as const;

  test('a person takes their vote back', async () => {
    const { inbox, entry } = await waiting({ toolApproval: two });
    expect(await inbox.act('ben', entry, { type: 'withdraw' })).toMatchObject({
      status: 'refused',
      error: { code: 'not-allowed' },
    });
    await inbox.answer('ben', [{ entry, answer: yes(entry) }]);
    expect(await inbox.act('ben', entry, { type: 'withdraw' })).toMatchObject({
      status: 'recorded',
      entry: { votes: 0, rights: { mayAnswer: true } },
    });
  });

  test('and lets somebody else answer', async () => {
    const { inbox, entry } = await waiting();
    expect(await inbox.act('eve', entry, { type: 'reassign', to: 'dora' })).toMatchObject({
      status: 'refused',
      error: { code: 'not-allowed' },
    });
    expect(await inbox.act('ben', entry, { type: 'reassign', to: 'dora' })).toMatchObject({
      status: 'recorded',
      entry: { approvers: ['finance', 'dora'] },
    });
    const passed = only((await inbox.list('dora')).entries);
    expect(passed.digest).toBe(entry.digest);
    expect(only(await inbox.answer('dora', [{ entry: passed, answer: yes(passed) }])).status).toBe(
      'recorded',
    );
  });

  test.each(['run', 'withdraw', 'retry'])(
    'by %s nobody learns of a request that they may not see',
    async (type) => {
      const { inbox, entry } = await waiting();
      expect(await inbox.act('dora', entry, { type })).toEqual({
        status: 'refused',
        requestId: entry.requestId,
        error: expect.objectContaining({ code: 'not-found' }),
      });
    },
  );
});

/** A lost call that Dora may settle. */
async function lostCall(options: Options = {}) {
  const lost = await lostCalls(['t1'], { name: 'office' });
  const { agent } = lost.agent();
  await agent.thread('t1');
  const inbox = inboxOf(agent, {
    maySettle: ({ principal }) => principal === 'dora',
    ...options,
  });
  return { agent, inbox, entry: only((await inbox.list('dora', 'list=unsettled')).entries) };
}

const settle = (outcome: object) => ({ type: 'settle', outcome });
const succeeded = settle({ status: 'succeeded', output: { booked: 'Paris' } });

/** A thread that its only run has failed in. */
async function stuckThread() {
  let isDown = true;
  const store = memoryStore();
  const { model } = scriptedModel(() => {
    if (isDown) throw new Error('The provider is down.');
    return { text: 'Hello.' };
  });
  const agent = createAgent({
    model,
    store,
    name: 'office',
    maxRetries: 0,
    retry: { maxAttempts: 1 },
    mayAnswer,
  });
  const thread = await agent.thread('t1');
  await agent.run('Hello', thread, { principal: 'eve' }).catch(() => {});
  const repair = () => {
    isDown = false;
  };
  return { agent, store, repair };
}

/** Runs nothing, as a gate does with the call of another one. */
async function refuseToRun(threadId: string): Promise<never> {
  throw new HoldpointError('not-allowed', `${threadId} is not a call of this gate.`);
}

describe('what needs settling', () => {
  test('is settled by whom the app lets settle it, once', async () => {
    const { agent, inbox, entry } = await lostCall({ maySee: () => true });
    expect(await inbox.act('ben', entry, succeeded)).toMatchObject({
      status: 'refused',
      error: { code: 'not-allowed' },
      entry: { maySettle: false },
    });
    expect(await inbox.act('dora', entry, succeeded)).toMatchObject({
      status: 'recorded',
      entry: { state: 'settled', decidedBy: 'dora' },
    });
    expect((await agent.thread('t1')).calls).toMatchObject([{ status: 'succeeded' }]);
    expect(
      await inbox.act('dora', entry, settle({ status: 'failed', error: 'No.' })),
    ).toMatchObject({
      status: 'refused',
    });
    expect((await agent.thread('t1')).calls).toMatchObject([{ status: 'succeeded' }]);
  });

  test('is settled by nobody without the app’s word, and seen by nobody', async () => {
    const { agent } = await lostCall();
    const inbox = inboxOf(agent);
    const { entries } = await inbox.list('dora', 'list=unsettled');
    expect(entries).toEqual([]);
  });

  test('is left to a process with the tool where that can recover it', async () => {
    const toolRecovery = { book: { idempotent: true } };
    const lost = await lostCalls(['t1'], { name: 'office', toolRecovery });
    const inbox = inboxOf({ store: lost.store }, { maySee: () => true, now: () => lost.clock.now });
    const { requestId } = only((await inbox.list('ben', 'list=decided')).entries);
    expect((await inbox.show('ben', requestId)).conversation).toHaveLength(2);
    const { agent, ran } = lost.agent();
    const { status } = await agent.run([], await agent.thread('t1'), { onlyWhenDue: true });
    expect([status, ran]).toMatchObject(['completed', [{ name: 'book' }]]);
  });

  test('is the call in the log, and no row that somebody changed', async () => {
    const watched = watchRows();
    const lost = await lostCalls(['t1'], { name: 'office' }, watched.store);
    const { agent } = lost.agent();
    await agent.thread('t1');
    const inbox = inboxOf(agent, { maySettle: () => true });
    watched.forge = (row) => ({ ...row, text: row.text?.replace('Paris', 'Rome') ?? null });
    const forged = only((await inbox.list('dora', 'list=unsettled')).entries);
    expect(forged.lostCall?.input).toEqual({ city: 'Rome' });
    expect(await inbox.act('dora', forged, succeeded)).toMatchObject({
      status: 'refused',
      error: { code: 'answer-mismatch' },
    });
    expect((await agent.thread('t1')).calls).toMatchObject([{ status: 'indeterminate' }]);
  });

  test('is what was shown, and not another one', async () => {
    const { agent, inbox, entry } = await lostCall();
    const other = { ...entry, digest: 'other' };
    expect(await inbox.act('dora', other, succeeded)).toMatchObject({
      error: { code: 'answer-mismatch' },
    });
    expect(await inbox.act('dora', entry, { type: 'retry' })).toMatchObject({
      error: { code: 'invalid-input' },
    });
    expect((await agent.thread('t1')).calls).toMatchObject([{ status: 'indeterminate' }]);
  });

  test('a stuck thread runs once more', async () => {
    const { agent, repair } = await stuckThread();
    const inbox = inboxOf(agent, { maySettle: ({ principal }) => principal === 'dora' });
    const entry = only((await inbox.list('dora', 'list=unsettled')).entries);
    expect(entry).toMatchObject({ kind: 'stuck-thread', stuck: { failures: 1 } });
    repair();
    expect(await inbox.act('dora', entry, { type: 'retry' })).toMatchObject({ status: 'recorded' });
    await expect.poll(async () => (await agent.thread('t1')).status).toBe('idle');
  });

  test('and if that fails too, the thread is still stuck and the error is reported', async () => {
    const { agent } = await stuckThread();
    const inbox = inboxOf(agent, { maySettle: () => true });
    const entry = only((await inbox.list('dora', 'list=unsettled')).entries);
    expect(await inbox.act('dora', entry, { type: 'retry' })).toMatchObject({ status: 'recorded' });
    await expect.poll(() => inbox.errors.length).toBe(1);
    expect((await agent.thread('t1')).status).toBe('stuck');
    expect(only((await inbox.list('dora', 'list=unsettled')).entries)).toMatchObject({
      stuck: { failures: 2 },
    });
  });

  test('a stuck call of a gate is run by the gate, which may refuse', async () => {
    const { agent, repair } = await stuckThread();
    await noteCaller(agent, await agent.thread('t1'), () => ({ callerId: 'x', state: 'left' }));
    repair();
    const inbox = inboxOf(agent, { maySettle: () => true, runNow: refuseToRun });
    const entry = only((await inbox.list('dora', 'list=unsettled')).entries);
    expect(await inbox.act('dora', entry, { type: 'retry' })).toMatchObject({
      error: { code: 'not-allowed', message: 't1 is not a call of this gate.' },
    });
    expect((await agent.thread('t1')).status).toBe('stuck');
  });

  test('but not where there is no model, which says what to do', async () => {
    const { agent, store, repair } = await stuckThread();
    repair();
    const inbox = inboxOf({ store }, { maySettle: () => true });
    const entry = only((await inbox.list('dora', 'list=unsettled')).entries);
    expect(await inbox.act('dora', entry, { type: 'retry' })).toMatchObject({
      status: 'refused',
      error: { code: 'not-allowed', message: expect.stringContaining('agent.run([], thread)') },
    });
    expect((await agent.thread('t1')).status).toBe('stuck');
  });
});

test('an answer in a process without the tool leaves another request that has expired to one with it', async () => {
  const onExpiry = { type: 'escalate', approvers: ['boss'] } as const;
  const rule = {
    type: 'user-approval',
    approvers: ['finance'],
    expiresAfterMs: 1_000,
    onExpiry,
  } as const;
  const { agent, clock, store } = await waiting({ toolApproval: { pay: rule } });
  const thread = await agent.thread('t0');
  await agent.requestApproval(thread, { text: 'Begin?', approvers: ['finance'] });
  clock.now += 2_000;
  const inbox = inboxOf({ store }, { now: () => clock.now });
  const stage = only((await inbox.list('ben')).entries);
  expect(only(await inbox.answer('ben', [{ entry: stage, answer: yes(stage) }]))).toMatchObject({
    status: 'recorded',
    entry: { request: { text: 'Begin?' } },
  });
  expect((await agent.thread('t0')).calls).toMatchObject([{ status: 'waiting' }]);
  const { approvalRequests } = await agent.run([], await agent.thread('t0'), { onlyWhenDue: true });
  expect(approvalRequests).toMatchObject([{ approvers: ['boss'] }]);
});

test('nothing that a person sends says who they are', async () => {
  const { inbox, entry, decisions } = await waiting();
  const viewer = await inbox.viewerOf('ben');
  const response = await inbox.send('ben', '/api/answers?principal=dora&as=boss', {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-principal': 'dora' },
    body: JSON.stringify({ viewer, answers: [{ ...shownOf(entry), answer: yes(entry) }] }),
  });
  expect(response.status).toBe(200);
  expect(await decisions()).toEqual([['approved', 'ben']]);
});
