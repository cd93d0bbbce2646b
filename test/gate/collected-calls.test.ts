import { setTimeout as waitForTimer } from 'node:timers/promises';
import { memoryStore } from 'holdpoint';
import { expect, test } from 'vitest';
import { Pause } from '../support/pause.ts';
import { virtualClock } from '../support/virtual-clock.ts';
import { withSqliteStore } from '../support/with-sqlite-store.ts';
import {
  answerOnly,
  connect,
  free,
  listOpen,
  makeBank,
  makeWorld,
  onlyRequest,
  payment,
  readTexts,
  text,
} from './gate-world.ts';

const pending =
  'Pending: a person has not decided yet whether "pay" may run. Nothing has happened yet. ' +
  'Call "pay" again with exactly the same arguments to wait for the decision and get the result; nobody is asked twice.';

const limited = () => ({ type: 'user-approval', expiresAfterMs: 60_000 }) as const;

/** A call with Claude Code's id of it. */
const withId = (id: string) => ({
  ...payment,
  _meta: { 'claudecode/toolUseId': `toolu_01A09q90qw90lq917835lq${id}` },
});

test('a call that nobody answers in time is pending, and the same call collects its result', async () => {
  const { gate, bank, clock } = makeWorld();
  const client = await connect(gate);
  const first = client.callTool(payment);
  await clock.pass(45_000);
  expect(readTexts(await first)).toEqual([pending]);
  expect(await first).not.toHaveProperty('isError');
  const again = client.callTool(payment);
  await clock.pass(1_000);
  await answerOnly(gate, (request) => request.approve());
  await clock.pass(2_000);
  expect(readTexts(await again)).toEqual(['pay done']);
  expect(bank.calls).toHaveLength(1);
});

test('a pending call that is approved meanwhile waits for its client, and then runs at once', async () => {
  const { gate, bank, clock } = makeWorld();
  const client = await connect(gate);
  const first = client.callTool(payment);
  await clock.pass(45_000);
  await first;
  await answerOnly(gate, (request) => request.approve());
  await clock.pass(3_600_000);
  expect(bank.calls).toEqual([]);
  expect(readTexts(await client.callTool(payment))).toEqual(['pay done']);
  expect(bank.calls).toHaveLength(1);
});

test('a call that was approved in time runs when its client comes after the deadline, and is asked again a day later', async () => {
  for (const [later, isRun] of [
    [3_600_000, true],
    [24 * 3_600_000, false],
  ] as const) {
    const { gate, bank, clock } = makeWorld({ toolApproval: limited });
    const client = await connect(gate);
    const first = client.callTool(payment);
    await clock.pass(45_000);
    await first;
    await answerOnly(gate, (request) => request.approve());
    await clock.pass(later);
    const again = client.callTool(payment);
    await clock.pass(45_000);
    expect(readTexts(await again)).toEqual([isRun ? 'pay done' : pending]);
    expect(bank.calls).toHaveLength(isRun ? 1 : 0);
    if (isRun) continue;
    await answerOnly(gate, (request) => request.approve());
    expect(readTexts(await client.callTool(payment))).toEqual(['pay done']);
  }
});

test('the pending result of a tool with structured results is an error, because clients check them', async () => {
  const { gate, clock } = makeWorld();
  const client = await connect(gate);
  const result = client.callTool({ name: 'balance', arguments: {} });
  await clock.pass(45_000);
  expect(await result).toMatchObject({ isError: true });
});

test('the pending result names the page where a person answers', async () => {
  const { gate, clock } = makeWorld({
    pageUrl: ({ requestId }) => `http://localhost:4242/#${requestId}`,
  });
  const client = await connect(gate);
  const result = client.callTool(payment);
  await clock.pass(45_000);
  const { requestId } = await onlyRequest(gate);
  expect(readTexts(await result)).toEqual([
    `${pending} A person can answer at http://localhost:4242/#${requestId}`,
  ]);
});

test('a call whose client has left runs nothing, and is collected an hour and a restart of the gate later', async () => {
  await withSqliteStore(async (store) => {
    const clock = virtualClock();
    const bank = makeBank();
    const before = makeWorld({ store, clock, bank });
    const leaving = await connect(before.gate);
    leaving.callTool(payment).catch(() => {});
    await clock.pass(5_000);
    await leaving.close();
    await clock.pass(0);
    const threadId = await answerOnly(before.gate, (request) => request.approve());
    await clock.pass(3_600_000);
    expect((await before.gate.agent.thread(threadId)).caller).toMatchObject({ state: 'left' });
    expect(bank.calls).toEqual([]);
    await before.gate.close();

    const { gate } = makeWorld({ store, clock, bank });
    const client = await connect(gate);
    expect(readTexts(await client.callTool(payment))).toEqual(['pay done']);
    expect(bank.calls).toHaveLength(1);
  });
});

test.each([
  ['rejected', (request: Open) => request.reject({ reason: 'No.' }), /rejected this call: No\./],
  [
    'edited',
    (request: Open) => request.approve({ input: { to: 'X', euros: 1 } }),
    /A person changed/,
  ],
])(
  'a call that was %s is collected by a second session with the words',
  async (_name, answer, words) => {
    const { gate, clock } = makeWorld({
      toolApproval: { pay: { type: 'user-approval', editable: true } },
    });
    const first = await connect(gate);
    const pendingCall = first.callTool(payment);
    await clock.pass(45_000);
    await pendingCall;
    await first.close();
    await answerOnly(gate, answer);
    const second = await connect(gate);
    expect(readTexts(await second.callTool(payment))[0]).toMatch(words);
  },
);

type Open = Awaited<ReturnType<typeof onlyRequest>>;

test('a client that cancels its call has left: the call waits for it', async () => {
  const { gate, bank, clock } = makeWorld();
  const client = await connect(gate);
  const cancelling = new AbortController();
  const first = client.callTool(payment, { signal: cancelling.signal });
  await clock.pass(1_000);
  cancelling.abort();
  await expect(first).rejects.toThrow();
  await clock.pass(0);
  const threadId = await answerOnly(gate, (request) => request.approve());
  await clock.pass(60_000);
  expect(bank.calls).toEqual([]);
  expect((await gate.agent.thread(threadId)).caller).toMatchObject({ state: 'left' });
  expect(readTexts(await client.callTool(payment))).toEqual(['pay done']);
});

test('a person can tell an approved call to run though nobody waits, and its client collects the result', async () => {
  const { gate, bank, clock } = makeWorld();
  const client = await connect(gate);
  const first = client.callTool(payment);
  await clock.pass(45_000);
  await first;
  const { threadId } = await onlyRequest(gate);
  expect(await gate.runNow(threadId, { principal: 'boss' })).toMatchObject({ status: 'waiting' });
  expect(bank.calls).toEqual([]);
  await answerOnly(gate, (request) => request.approve());
  expect(await gate.runNow(threadId, { principal: 'boss' })).toMatchObject({ status: 'completed' });
  expect(bank.calls).toHaveLength(1);
  expect(readTexts(await client.callTool(payment))).toEqual(['pay done']);
  expect(bank.calls).toHaveLength(1);
});

test('the same arguments after a result was sent are another call', async () => {
  const { gate, bank } = makeWorld({ toolApproval: () => 'approved' });
  const client = await connect(gate);
  await client.callTool(payment);
  await client.callTool(payment);
  await client.callTool(payment);
  expect(bank.calls).toHaveLength(3);
  expect(new Set(bank.calls.map(({ key }) => key)).size).toBe(3);
});

test('two calls that are held at once are two calls, even from two gates on one store', async () => {
  const store = memoryStore();
  const clock = virtualClock();
  const bank = makeBank();
  const gates = [makeWorld({ store, clock, bank }), makeWorld({ store, clock, bank })];
  const [one, other] = await Promise.all(gates.map(async ({ gate }) => connect(gate)));
  const results = [one?.callTool(payment), one?.callTool(payment), other?.callTool(payment)];
  await clock.pass(5_000);
  const [{ gate } = makeWorld()] = gates;
  const open = await listOpen(gate);
  expect(open).toHaveLength(3);
  for (const request of open)
    await gate.agent.respond(request.approve(), await gate.agent.thread(request.threadId));
  await clock.pass(2_000);
  const texts = await Promise.all(results.map(async (result) => readTexts(await result)));
  expect(texts).toEqual([['pay done'], ['pay done'], ['pay done']]);
  expect(bank.calls).toHaveLength(3);
});

test('of two gates that take up one pending call at once, one does; the other call is another one', async () => {
  const store = memoryStore();
  const clock = virtualClock();
  const bank = makeBank();
  const { gate } = makeWorld({ store, clock, bank });
  const { gate: other } = makeWorld({ store, clock, bank });
  const clients = [await connect(gate), await connect(other)];
  const first = clients[0]?.callTool(payment);
  await clock.pass(45_000);
  await first;
  const again = clients.map(async (client) => client.callTool(payment));
  await clock.pass(5_000);
  expect(await listOpen(gate)).toHaveLength(2);
  await clock.pass(45_000);
  expect((await Promise.all(again)).map((result) => readTexts(result))).toEqual([
    [pending],
    [pending],
  ]);
});

test("a call with the client's own id is the same call: while it is held, and after its result was sent", async () => {
  const { gate, bank, clock } = makeWorld();
  const client = await connect(gate);
  const results = [client.callTool(withId('1')), client.callTool(withId('1'))];
  await clock.pass(1_000);
  await answerOnly(gate, (request) => request.approve());
  await clock.pass(2_000);
  const again = await client.callTool(withId('1'));
  for (const result of [...results, again]) expect(readTexts(await result)).toEqual(['pay done']);
  expect(bank.calls).toHaveLength(1);
  client.callTool(withId('2')).catch(() => {});
  await clock.pass(1_000);
  expect(await listOpen(gate)).toHaveLength(1);
});

test("a call with the client's own id that reaches two gates at the same moment is one call", async () => {
  const store = memoryStore();
  const clock = virtualClock();
  const bank = makeBank();
  const { gate } = makeWorld({ store, clock, bank });
  const { gate: other } = makeWorld({ store, clock, bank, now: () => clock.now() + 7 });
  const clients = [await connect(gate), await connect(other)];
  const results = clients.map(async (client) => client.callTool(withId('1')));
  await clock.pass(5_000);
  await answerOnly(gate, (request) => request.approve());
  await clock.pass(5_000);
  for (const result of results) expect(readTexts(await result)).toEqual(['pay done']);
  expect(bank.calls).toHaveLength(1);
});

test.each([
  ['another person', { principal: 'bo' }, {}],
  ['nobody in particular', {}, {}],
  ['a person of another kind with this id', { principal: { id: 'ada' } }, {}],
  ['another client', { principal: 'ada' }, { name: 'codex' }],
  ['another place', { principal: 'ada', place: '/elsewhere' }, {}],
])('%s never collects a call', async (_name, caller, options) => {
  const { gate, bank, clock } = makeWorld();
  const client = await connect(gate);
  const first = client.callTool(withId('1'));
  await clock.pass(45_000);
  await first;
  await answerOnly(gate, (request) => request.approve());
  const stranger = await connect(gate, caller, options);
  void stranger.callTool(withId('1')).catch(() => {});
  await clock.pass(2_000);
  expect(bank.calls).toEqual([]);
  expect(await listOpen(gate)).toHaveLength(1);
});

test('of an answer that comes in the moment the hold ends, nothing is lost', async () => {
  for (const offset of [-1, 0, 1]) {
    const { gate, bank, clock } = makeWorld({ pollMs: 1 });
    const client = await connect(gate);
    const first = client.callTool(payment);
    await clock.pass(45_000 + offset - 1);
    await answerOnly(gate, (request) => request.approve());
    await clock.pass(10);
    const [told] = readTexts(await first);
    const isPending = told === pending;
    expect(bank.calls).toHaveLength(isPending ? 0 : 1);
    const [result] = isPending ? readTexts(await client.callTool(payment)) : [told];
    expect(result).toBe('pay done');
    expect(bank.calls).toHaveLength(1);
  }
});

test('a gate that is killed while the server works: the next one says that the outcome is unknown, until a person has settled it', async () => {
  const store = memoryStore();
  const clock = virtualClock();
  const dying = makeWorld({ store, clock, bank: makeBank(() => new Promise(() => {})) });
  const first = await connect(dying.gate);
  void first.callTool(payment).catch(() => {});
  await clock.pass(1_000);
  const threadId = await answerOnly(dying.gate, (request) => request.approve());
  await clock.pass(2_000);
  expect(dying.bank.calls).toHaveLength(1);

  const { gate, bank } = makeWorld({ store, clock });
  const client = await connect(gate);
  const result = client.callTool(payment);
  await clock.pass(16_000);
  expect(await result).toMatchObject({ isError: true });
  expect(readTexts(await result)[0]).toMatch(
    /^It is unknown whether this call of "pay" took effect/,
  );
  expect(readTexts(await client.callTool(payment))[0]).toMatch(/^It is unknown/);
  const thread = await gate.agent.thread(threadId);
  const [call] = thread.calls;
  await gate.agent.settle(thread, call?.toolCallId ?? '', {
    status: 'succeeded',
    output: { content: [{ type: 'text', text: 'Paid, says the bank.' }] },
  });
  expect(readTexts(await client.callTool(payment))).toEqual(['Paid, says the bank.']);
  expect(bank.calls).toEqual([]);
});

test('a call that another gate runs is not taken for a lost one', async () => {
  const store = memoryStore();
  const clock = virtualClock();
  const answer = Promise.withResolvers<ReturnType<typeof text>>();
  const busy = makeWorld({ ...free, store, clock, bank: makeBank(() => answer.promise) });
  const { gate, bank } = makeWorld({ ...free, store, clock });
  const first = (await connect(busy.gate)).callTool(payment);
  await clock.pass(100);
  const second = (await connect(gate)).callTool(payment);
  await clock.pass(1_000);
  answer.resolve(text('slow'));
  await clock.pass(1_000);
  expect(readTexts(await first)).toEqual(['slow']);
  expect(readTexts(await second)).toEqual(['pay done']);
  expect(bank.calls).toHaveLength(1);
});

test('a call that another gate runs for long is not taken for a lost one: its lease is renewed', async () => {
  const store = memoryStore();
  const real = { ...free, store, now: Date.now, wait: waitForTimer, leaseMs: 3_000, pollMs: 50 };
  const busy = makeWorld({ ...real, bank: makeBank(() => new Promise(() => {})) });
  const { gate, bank } = makeWorld(real);
  const second = await connect(gate);
  void (await connect(busy.gate)).callTool(payment).catch(() => {});
  await expect.poll(() => busy.bank.calls.length).toBe(1);
  const told = second.callTool(payment);
  await expect.poll(() => bank.calls.length, { timeout: 10_000 }).toBe(1);
  expect(readTexts(await told)).toEqual(['pay done']);
});

test('a result that was not sent is collected', async () => {
  const { gate, bank, clock } = makeWorld();
  const leaving = await connect(gate);
  leaving.callTool(payment).catch(() => {});
  await clock.pass(1_000);
  const threadId = await answerOnly(gate, (request) => request.approve());
  const run = gate.runNow(threadId);
  await leaving.close();
  await run;
  await clock.pass(1_000);
  expect(bank.calls).toHaveLength(1);
  const client = await connect(gate);
  expect(readTexts(await client.callTool(payment))).toEqual(['pay done']);
  expect(bank.calls).toHaveLength(1);
});

test('a clock that steps back or forth makes nobody run a call twice', async () => {
  for (const step of [-3_600_000, 3_600_000, 60 * 24 * 3_600_000]) {
    let offset = 0;
    const clock = virtualClock();
    const { gate, bank } = makeWorld({
      clock,
      now: () => 1_800_000_000_000 + clock.now() + offset,
    });
    const client = await connect(gate);
    const first = client.callTool(payment);
    await clock.pass(45_000);
    await first;
    const threadId = await answerOnly(gate, (request) => request.approve());
    offset = step;
    const again = client.callTool(payment);
    await clock.pass(50_000);
    const [said = ''] = readTexts(await again);
    expect(bank.calls).toHaveLength(said === 'pay done' ? 1 : 0);
    await gate.runNow(threadId);
    /* After 60 days the approval is too old, and so is the call for its client: people are asked again about both. */
    const isTooOld = step > 24 * 3_600_000;
    expect(bank.calls).toHaveLength(isTooOld ? 0 : 1);
    expect(await listOpen(gate)).toHaveLength(isTooOld ? 2 : 0);
  }
});

test('a call is found again for four weeks after the last that was heard of it, and then no more', async () => {
  const week = 7 * 24 * 3_600_000;
  const { gate, bank, clock } = makeWorld();
  const client = await connect(gate);
  for (const pause of [0, 3.9 * week, 3.9 * week]) {
    await clock.pass(pause);
    const call = client.callTool(payment);
    await clock.pass(45_000);
    expect(readTexts(await call)).toEqual([pending]);
    expect(await listOpen(gate)).toHaveLength(1);
  }
  await clock.pass(4 * week);
  client.callTool(payment).catch(() => {});
  await clock.pass(1_000);
  expect(await listOpen(gate)).toHaveLength(2);
  expect(bank.calls).toEqual([]);
});

test('earlier calls that were deleted hide no later one', async () => {
  const store = memoryStore();
  const clock = virtualClock();
  const bank = makeBank();
  const { gate } = makeWorld({ ...free, store, clock, bank });
  const client = await connect(gate);
  for (let calls = 0; calls < 3; calls += 1) {
    await client.callTool(payment);
    await clock.pass(10);
  }
  const old = await store.list({ agent: 'gate' });
  const asking = makeWorld({ store, clock, bank });
  const first = (await connect(asking.gate)).callTool(payment);
  await clock.pass(45_000);
  expect(readTexts(await first)).toEqual([pending]);
  for (const { threadId } of old) await gate.agent.delete(await gate.agent.thread(threadId));
  const { gate: next } = makeWorld({ store, clock, bank });
  void (await connect(next)).callTool(payment).catch(() => {});
  await clock.pass(1_000);
  await onlyRequest(next);
});

test('a client that has gone before its call is recorded: nobody is asked, and nothing runs', async () => {
  const kept = memoryStore();
  const pause = new Pause();
  const head: typeof kept.head = async (threadId) => {
    if (threadId.startsWith('call-')) await pause.wait();
    return kept.head(threadId);
  };
  const { gate, bank, clock, problems } = makeWorld({ ...free, store: { ...kept, head } });
  const client = await connect(gate);
  const cancelling = new AbortController();
  const call = client.callTool(payment, { signal: cancelling.signal }).catch(() => 'cancelled');
  await pause.during(call, async () => {
    cancelling.abort();
    await clock.pass(0);
  });
  await clock.pass(3_000);
  expect(await kept.list({ agent: 'gate' })).toEqual([]);
  expect(bank.calls).toEqual([]);
  expect(problems).toEqual([]);
});

test('gates of several names on one store have calls of their own', async () => {
  const store = memoryStore();
  const clock = virtualClock();
  const bank = makeBank();
  for (const name of ['home', 'office']) {
    const { gate } = makeWorld({ ...free, name, store, clock, bank });
    const client = await connect(gate);
    expect(readTexts(await client.callTool(payment))).toEqual(['pay done']);
  }
  expect(bank.calls).toHaveLength(2);
});

test('a gate that closes while another one runs the call tells its client to call again', async () => {
  const store = memoryStore();
  const clock = virtualClock();
  const answer = Promise.withResolvers<ReturnType<typeof text>>();
  const slow = makeWorld({ store, clock, bank: makeBank(() => answer.promise) });
  const { gate, bank } = makeWorld({ store, clock });
  const client = await connect(gate);
  const first = client.callTool(payment);
  await clock.pass(45_000);
  await first;
  const threadId = await answerOnly(gate, (request) => request.approve());
  await connect(slow.gate);
  const run = slow.gate.runNow(threadId);
  await clock.pass(100);
  const again = client.callTool(payment);
  await clock.pass(1_000);
  await gate.close();
  expect(readTexts(await again)).toEqual([
    '"pay" is still running. Call "pay" again with exactly the same arguments to get the result; it is not repeated.',
  ]);
  answer.resolve(text('slow'));
  await run;
  const { gate: next } = makeWorld({ store, clock });
  expect(readTexts(await (await connect(next)).callTool(payment))).toEqual(['slow']);
  expect(bank.calls).toEqual([]);
});
