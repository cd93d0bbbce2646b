import { setTimeout as waitForTimer } from 'node:timers/promises';
import { isDeepStrictEqual as isEqual } from 'node:util';
import { expect, test } from 'vitest';
import {
  answerOnly,
  connect,
  connectOld,
  listOpen,
  makeBank,
  makeWorld,
  onlyRequest,
  payment,
  readTexts,
  text,
} from './gate-world.ts';

test('a call that needs nobody runs at once', async () => {
  const { gate, bank } = makeWorld({ toolApproval: () => 'approved' });
  const client = await connect(gate);
  const { tools } = await client.listTools();
  expect(tools.map(({ name }) => name)).toEqual(['pay', 'balance']);
  const result = await client.callTool(payment);
  expect(readTexts(result)).toEqual(['pay done']);
  expect(bank.calls).toEqual([{ ...payment, key: expect.stringMatching(/^.{20,}$/) }]);
});

test.each([
  ['SDK 2', connect],
  ['SDK 1', connectOld],
])('a call of %s runs once it is approved while it is held', async (_name, open) => {
  const { gate, bank, clock } = makeWorld();
  const client = await open(gate, { principal: 'ada' });
  const result = client.callTool(payment);
  await clock.pass(30_000);
  expect(bank.calls).toEqual([]);
  expect(await onlyRequest(gate)).toMatchObject({
    requestedBy: 'ada',
    text: 'claude-code wants to call pay of bank.',
    toolCall: { toolName: 'pay', input: payment.arguments },
  });
  const threadId = await answerOnly(gate, (request) => request.approve());
  await clock.pass(2_000);
  expect(readTexts(await result)).toEqual(['pay done']);
  expect(bank.calls).toHaveLength(1);
  expect((await gate.agent.thread(threadId)).caller).toMatchObject({ state: 'informed' });
  expect(await listOpen(gate)).toEqual([]);
});

test('a rejection reaches the client with its reason, and nothing runs', async () => {
  const { gate, bank, clock } = makeWorld();
  const client = await connect(gate);
  const result = client.callTool(payment);
  await clock.pass(1_000);
  await answerOnly(gate, (request) => request.reject({ reason: 'Wrong supplier.' }));
  await clock.pass(2_000);
  expect(await result).toMatchObject({ isError: true });
  expect(readTexts(await result)).toEqual([
    'A person rejected this call: Wrong supplier. Nothing was done.',
  ]);
  expect(bank.calls).toEqual([]);
});

test('an edited call runs as edited, and the client is told what was changed', async () => {
  const { gate, bank, clock } = makeWorld({
    toolApproval: { pay: { type: 'user-approval', editable: true } },
  });
  const client = await connect(gate);
  const result = client.callTool(payment);
  await clock.pass(1_000);
  await answerOnly(gate, (request) => request.approve({ input: { to: 'ACME', euros: 10 } }));
  await clock.pass(2_000);
  expect(readTexts(await result)).toEqual([
    'A person changed this call before it ran: "euros" was 100 and became 10. The result is that of the changed call.',
    'pay done',
  ]);
  expect(bank.calls).toMatchObject([{ arguments: { to: 'ACME', euros: 10 } }]);
});

test('an expired request runs nothing, and the client is told so', async () => {
  const { gate, bank, clock } = makeWorld({
    toolApproval: { pay: { type: 'user-approval', expiresAfterMs: 20_000 } },
  });
  const client = await connect(gate);
  const result = client.callTool(payment);
  await clock.pass(25_000);
  expect(readTexts(await result)).toEqual([
    'Nobody decided in time whether this call may run, so it has expired. Nothing was done.',
  ]);
  expect(bank.calls).toEqual([]);
});

test('a cancelled call runs nothing, and the client is told so', async () => {
  const { gate, clock } = makeWorld();
  const client = await connect(gate);
  const result = client.callTool(payment);
  await clock.pass(1_000);
  const { threadId } = await onlyRequest(gate);
  await gate.agent.cancel(await gate.agent.thread(threadId), 'Not today.', { principal: 'boss' });
  await clock.pass(2_000);
  expect(readTexts(await result)).toEqual([
    'This call was cancelled: Not today. Nothing was done.',
  ]);
});

test('a call that a rule denies is told so at once', async () => {
  const { gate, bank } = makeWorld({
    toolApproval: { pay: { type: 'denied', reason: 'Nobody pays here.' } },
  });
  const client = await connect(gate);
  const result = await client.callTool(payment);
  expect(readTexts(result)).toEqual([
    'A rule denied this call: Nobody pays here. Nothing was done.',
  ]);
  expect(bank.calls).toEqual([]);
});

test("what a server calls an error is recorded as a failure and reaches the client as the server's own", async () => {
  const bank = makeBank(() => ({ ...text('No money.'), isError: true, _meta: { code: 7 } }));
  const { gate, clock } = makeWorld({ bank });
  const client = await connect(gate);
  const result = client.callTool(payment);
  await clock.pass(1_000);
  const threadId = await answerOnly(gate, (request) => request.approve());
  await clock.pass(2_000);
  expect(await result).toMatchObject({ ...text('No money.'), isError: true, _meta: { code: 7 } });
  const [call] = (await gate.agent.thread(threadId)).calls;
  expect(call).toMatchObject({ status: 'failed', outcome: { error: 'No money.' } });
});

test('with a quorum of two, a call runs after the second approval', async () => {
  const { gate, bank, clock } = makeWorld({
    toolApproval: { pay: { type: 'user-approval', quorum: 2, notRequester: true } },
  });
  const client = await connect(gate);
  const result = client.callTool(payment);
  await clock.pass(1_000);
  await expect(answerOnly(gate, (request) => request.approve(), 'ada')).rejects.toMatchObject({
    code: 'not-allowed',
  });
  await answerOnly(gate, (request) => request.approve(), 'bo');
  await clock.pass(2_000);
  expect(bank.calls).toEqual([]);
  await answerOnly(gate, (request) => request.approve(), 'cy');
  await clock.pass(2_000);
  expect(readTexts(await result)).toEqual(['pay done']);
  expect(bank.calls).toHaveLength(1);
});

test.each([
  ['an input that the schema rejects', { to: 'ACME' }, /invalid input/],
  ['a number that readers may round', { to: 'ACME', euros: 2 ** 60 }, /may round it/],
])('%s is refused, and nobody is asked', async (_name, input, why) => {
  const { gate, bank } = makeWorld();
  const client = await connect(gate);
  const result = await client.callTool({ name: 'pay', arguments: input });
  expect(result).toMatchObject({ isError: true });
  expect(readTexts(result)[0]).toMatch(why);
  expect(await listOpen(gate)).toEqual([]);
  expect(bank.calls).toEqual([]);
});

test('a tool that no server has is refused as the protocol says', async () => {
  const { gate } = makeWorld();
  const client = await connect(gate);
  await expect(client.callTool({ name: 'constructor', arguments: {} })).rejects.toMatchObject({
    code: -32_602,
    message: expect.stringContaining('Unknown tool "constructor"'),
  });
});

test('a wait that rejects when it is ended early, as those of Node do, ends nothing else', async () => {
  const rejections: unknown[] = [];
  const hear = (error: unknown): void => void rejections.push(error);
  process.on('unhandledRejection', hear);
  const { gate } = makeWorld({
    now: Date.now,
    wait: (milliseconds, signal) => waitForTimer(milliseconds, undefined, { signal }),
    holdMs: 20,
  });
  const client = await connect(gate);
  const result = await client.callTool(payment, { onprogress: () => {} });
  expect(readTexts(result)[0]).toMatch(/^Pending/);
  await gate.close();
  process.off('unhandledRejection', hear);
  expect(rejections).toEqual([]);
});

const broken: Record<string, () => Promise<string>> = {
  'that never comes': () => new Promise(() => {}),
  'that fails': async () => {
    throw new Error('The page is down.');
  },
};

test.each(Object.entries(broken))(
  'the address of a page %s delays nothing: neither an approved call, nor the word that it is pending',
  async (_name, pageUrl) => {
    const { gate, bank, clock } = makeWorld({ pageUrl });
    const client = await connect(gate);
    const first = client.callTool(payment);
    await clock.pass(1_000);
    await answerOnly(gate, (request) => request.approve());
    await clock.pass(2_000);
    expect(bank.calls).toHaveLength(1);
    expect(readTexts(await first)).toEqual(['pay done']);
    await clock.pass(0);
    const second = client.callTool(payment);
    await clock.pass(45_000);
    expect(readTexts(await second)[0]).toMatch(/^Pending: .* nobody is asked twice\.$/);
  },
);

/** A payment of this many euros. */
const payEuros = (euros: number) => ({ name: 'pay', arguments: { to: 'ACME', euros } });

test('while as many calls of one person wait as may, their further calls are refused, and nobody is asked', async () => {
  const { gate, bank, clock } = makeWorld({ maximumWaiting: 2 });
  const client = await connect(gate);
  const first = client.callTool(payEuros(1));
  client.callTool(payEuros(2)).catch(() => {});
  await clock.pass(46_000);
  expect(readTexts(await first)[0]).toMatch(/^Pending/);
  const third = client.callTool(payEuros(3));
  await clock.pass(46_000);
  const refused = await third;
  expect(refused).toMatchObject({ isError: true });
  expect(readTexts(refused)[0]).toMatch(/^Not called: 2 calls of yours wait for a person already/);
  const asked = await listOpen(gate);
  expect(asked).toHaveLength(2);

  const other = await connect(gate, { principal: 'bo' });
  other.callTool(payEuros(3)).catch(() => {});
  await clock.pass(1_000);
  expect(await listOpen(gate)).toHaveLength(3);

  const request = asked.find(({ toolCall }) => isEqual(toolCall?.input, payEuros(1).arguments));
  if (request === undefined) throw new Error('Nothing is asked.');
  await gate.agent.respond(request.approve(), await gate.agent.thread(request.threadId));
  const collected = client.callTool(payEuros(1));
  await clock.pass(2_000);
  expect(readTexts(await collected)).toEqual(['pay done']);
  expect(bank.calls).toHaveLength(1);
  client.callTool(payEuros(4)).catch(() => {});
  await clock.pass(1_000);
  expect(await listOpen(gate)).toHaveLength(3);
});

test.each<[string, unknown, unknown]>([
  ['are numbers', 1, 2],
  ['have the same id in two tenants', { id: 'ada', tenant: 'a' }, { id: 'ada', tenant: 'b' }],
])('the calls of people that %s are counted apart', async (_how, one, other) => {
  const { gate, clock } = makeWorld({ maximumWaiting: 1 });
  const [first, second] = await Promise.all(
    [one, other].map(async (principal) => connect(gate, { principal })),
  );
  void first?.callTool(payEuros(1));
  await clock.pass(1_000);
  void second?.callTool(payEuros(2));
  await clock.pass(1_000);
  const refused = second?.callTool(payEuros(3));
  await clock.pass(1_000);
  expect(readTexts(await refused)[0]).toMatch(/^Not called: 1 calls of yours/);
  expect(await listOpen(gate)).toHaveLength(2);
});

test('of calls of one person that come at once, people are asked about as many as may wait', async () => {
  const { gate, clock } = makeWorld({ maximumWaiting: 3 });
  const client = await connect(gate);
  const calls = [1, 2, 3, 4, 5, 6].map(async (euros) => client.callTool(payEuros(euros)));
  await clock.pass(46_000);
  expect(await listOpen(gate)).toHaveLength(3);
  const told = (await Promise.all(calls)).flatMap((result) => readTexts(result));
  expect(told.filter((each) => each.startsWith('Pending: '))).toHaveLength(3);
  expect(told.filter((each) => each.startsWith('Not called: '))).toHaveLength(3);
});

test('of calls of one person that come at once and that need nobody, all run, also more than may wait', async () => {
  const { gate, bank } = makeWorld({ maximumWaiting: 3, toolApproval: () => 'approved' });
  const client = await connect(gate);
  const calls = Array.from({ length: 20 }, async (_each, euros) =>
    client.callTool(payEuros(euros)),
  );
  const told = (await Promise.all(calls)).flatMap((result) => readTexts(result));
  expect(new Set(told)).toEqual(new Set(['pay done']));
  expect(bank.calls).toHaveLength(20);
});

test('calls that need nobody and that run for long keep no others from being called', async () => {
  const slow = makeBank(({ name }) => (name === 'pay' ? new Promise(() => {}) : text('read')));
  const { gate } = makeWorld({ bank: slow, maximumWaiting: 3, toolApproval: () => 'approved' });
  const client = await connect(gate);
  for (const euros of [1, 2, 3, 4]) void client.callTool(payEuros(euros));
  await expect.poll(() => slow.calls.length).toBe(4);
});
