import { memoryStore } from 'holdpoint';
import { expect, test } from 'vitest';
import { Pause } from '../support/pause.ts';
import {
  answerOnly,
  connect,
  free,
  listOpen,
  makeBank,
  makeCountingBank,
  makeWorld,
  onlyRequest,
  readTexts,
  text,
} from './gate-world.ts';

const withId = (id: string, euros = 100) => ({
  name: 'pay',
  arguments: { to: 'ACME', euros },
  _meta: { 'claudecode/toolUseId': id },
});

const drawn = 'toolu_01A09q90qw90lq917835lq9';
const other = 'toolu_01T1x1fJ34qAmk2tNTrN7Up6';

test.each([
  'toolu_01A09q90qw90lq917835lq9',
  'toolu_bdrk_01UWxTQSZgF3nPkaTjDWVwRo',
  'call_aBcD3fGh1jKlMn0pQrStUvWx',
  'chatcmpl-tool-0123456789abcdef0123456789abcdef',
  '0b37e4f3-98cd-4ee1-a2d7-6bb59f0e8c11',
])('a call with the id %s is the same call in another session', async (id) => {
  const { gate, bank } = makeWorld({ ...free, bank: makeCountingBank() });
  for (const session of [await connect(gate), await connect(gate)])
    expect(readTexts(await session.callTool(withId(id)))).toEqual(['paid 1']);
  expect(bank.calls).toHaveLength(1);
});

test.each([
  '1',
  'call_1',
  'pay:0',
  'functions.pay:0',
  'call_000000000000000000000001',
  'session-17-of-claude-code-call-000001',
])(
  'an id that a client may use again, %s, is none: a later call is another one, and so is one beside it',
  async (id) => {
    const { gate, bank, clock } = makeWorld({ ...free, bank: makeCountingBank() });
    for (const result of ['paid 1', 'paid 2'])
      expect(readTexts(await (await connect(gate)).callTool(withId(id)))).toEqual([result]);
    expect(bank.calls).toHaveLength(2);

    const asking = makeWorld();
    const [one, two] = [await connect(asking.gate), await connect(asking.gate)];
    void one.callTool(withId(id));
    void two.callTool(withId(id));
    await asking.clock.pass(1_000);
    expect(await listOpen(asking.gate)).toHaveLength(2);
    await clock.pass(0);
  },
);

test('an id that comes again long after its result was sent, as from a cache of answers of a model, is another call', async () => {
  const { gate, bank, clock } = makeWorld({ ...free, bank: makeCountingBank() });
  const client = await connect(gate);
  for (const [pause, result] of [
    [0, 'paid 1'],
    [3_500_000, 'paid 1'],
    [3_600_000, 'paid 2'],
  ] as const) {
    await clock.pass(pause);
    expect(readTexts(await client.callTool(withId(drawn)))).toEqual([result]);
  }
  expect(bank.calls).toHaveLength(2);
});

test('an id with other arguments is another call: somebody is asked about each, and each gets its own result', async () => {
  const { gate, bank, clock } = makeWorld({
    bank: makeBank(({ arguments: input }) => text(`paid ${String(input?.['euros'])}`)),
  });
  const client = await connect(gate);
  const calls = [client.callTool(withId(drawn, 1)), client.callTool(withId(drawn, 1_000_000))];
  await clock.pass(1_000);
  const open = await listOpen(gate);
  expect(open).toHaveLength(2);
  const small = open.find(({ toolCall }) => JSON.stringify(toolCall?.input).includes('"euros":1}'));
  if (small === undefined) throw new Error('Nothing is asked.');
  await gate.agent.respond(small.approve(), await gate.agent.thread(small.threadId));
  await clock.pass(45_000);
  const [first, second] = await Promise.all(calls);
  expect(readTexts(first)).toEqual(['paid 1']);
  expect(readTexts(second)[0]).toMatch(/^Pending/);
  expect(bank.calls).toHaveLength(1);
});

test('a client that sends a call with its id twice, the second time before the first is recorded, makes one call', async () => {
  const kept = memoryStore();
  const pause = new Pause();
  let isSlow = true;
  const append: typeof kept.append = async (threadId, ...rest) => {
    if (isSlow && threadId.startsWith('call-')) {
      isSlow = false;
      await pause.wait();
    }
    return kept.append(threadId, ...rest);
  };
  const { gate, bank, clock } = makeWorld({ ...free, store: { ...kept, append } });
  const client = await connect(gate);
  const first = client.callTool(withId(drawn));
  let second = first;
  await pause.during(first, async () => {
    second = client.callTool(withId(drawn));
    await clock.pass(0);
  });
  await clock.pass(3_000);
  for (const result of [first, second]) expect(readTexts(await result)).toEqual(['pay done']);
  expect(bank.calls).toHaveLength(1);
});

test('a client that repeats a call with its id gets the result of that one, and not what an equal one waits for', async () => {
  const { gate, bank, clock } = makeWorld({ bank: makeCountingBank() });
  const client = await connect(gate);
  const first = client.callTool(withId(drawn));
  await clock.pass(1_000);
  const { requestId } = await onlyRequest(gate);
  const second = client.callTool(withId(other));
  await clock.pass(1_000);
  const asked = (await listOpen(gate)).find((request) => request.requestId === requestId);
  if (asked === undefined) throw new Error('Nothing is asked.');
  await gate.agent.respond(asked.approve(), await gate.agent.thread(asked.threadId));
  await clock.pass(45_000);
  expect(readTexts(await first)).toEqual(['paid 1']);
  expect(readTexts(await second)[0]).toMatch(/^Pending/);
  await answerOnly(gate, (request) => request.approve());
  expect(readTexts(await client.callTool(withId(drawn)))).toEqual(['paid 1']);
  expect(bank.calls).toHaveLength(1);
});

test('a client that repeats a call with the id with which it has collected it gets the same result', async () => {
  const { gate, bank, clock } = makeWorld({ bank: makeCountingBank() });
  const client = await connect(gate);
  const first = client.callTool(withId(drawn));
  await clock.pass(45_000);
  expect(readTexts(await first)[0]).toMatch(/^Pending/);
  await answerOnly(gate, (request) => request.approve());
  for (let times = 0; times < 2; times += 1) {
    const again = client.callTool(withId(other));
    await clock.pass(1_000);
    expect(await listOpen(gate)).toEqual([]);
    expect(readTexts(await again)).toEqual(['paid 1']);
  }
  expect(bank.calls).toHaveLength(1);
});

test('a call that is repeated with its id and that another call has collected is a second one', async () => {
  const { gate, bank, clock } = makeWorld({ bank: makeCountingBank() });
  const client = await connect(gate);
  const first = client.callTool(withId(drawn));
  await clock.pass(45_000);
  await first;
  await answerOnly(gate, (request) => request.approve());
  expect(readTexts(await client.callTool(withId(other)))).toEqual(['paid 1']);
  const again = client.callTool(withId(drawn));
  await clock.pass(1_000);
  expect(await listOpen(gate)).toHaveLength(1);
  await answerOnly(gate, (request) => request.approve());
  await clock.pass(2_000);
  expect(readTexts(await again)).toEqual(['paid 2']);
  expect(bank.calls).toHaveLength(2);
});
