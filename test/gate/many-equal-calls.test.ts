import { memoryStore } from 'holdpoint';
import type { Gate } from 'holdpoint/mcp';
import { sqliteStore } from 'holdpoint/stores/sqlite';
import { expect, test } from 'vitest';
import { virtualClock } from '../support/virtual-clock.ts';
import {
  answerOnly,
  connect,
  free,
  listOpen,
  makeCountingBank,
  makeWorld,
  onlyRequest,
  payment,
  readTexts,
} from './gate-world.ts';
import { authorize, connectHttp, type Fetch, fetchAs } from './http-clients.ts';

/** Sends requests to a gate as Ada, who reads the results of calls once `until` resolves. */
function fetchSlowly(gate: Gate, until: Promise<void>): Fetch {
  const asAda = fetchAs(gate, 'ada');
  return async (url, init) => {
    const response = await asAda(url, init);
    const { body } = response;
    if (body === null || !JSON.stringify(init?.body).includes('tools/call')) return response;
    const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
    void until.then(async () => body.pipeTo(writable));
    return new Response(readable, response);
  };
}

const ten = Array.from({ length: 10 }, (_each, index) => index);

/** Two gates on one store. */
function makeGates(options: Parameters<typeof makeWorld>[0] = {}) {
  const [store, clock, bank] = [memoryStore(), virtualClock(), makeCountingBank()];
  const shared = { store, clock, bank, ...options };
  return { here: makeWorld(shared).gate, there: makeWorld(shared).gate, store, clock, bank };
}

test('of ten equal calls that were told to call again, each is taken up once, also at another gate', async () => {
  const { here, there, clock, bank } = makeGates();
  const client = await connect(here);
  const held = ten.map(async () => client.callTool(payment));
  await clock.pass(46_000);
  for (const result of held) expect(readTexts(await result)[0]).toMatch(/^Pending/);
  expect(await listOpen(here)).toHaveLength(10);
  const clients = [await connect(here), await connect(there)];
  const again = ten.map(async (index) => clients[index % 2]?.callTool(payment));
  await clock.pass(20_000);
  const open = await listOpen(here);
  expect(open).toHaveLength(10);
  for (const request of open)
    await here.agent.respond(request.approve(), await here.agent.thread(request.threadId));
  await clock.pass(10_000);
  const told = (await Promise.all(again)).flatMap((result) => readTexts(result));
  expect(new Set(told).size).toBe(10);
  expect(bank.calls).toHaveLength(10);
});

test('without a limit of waiting calls, a call runs that was made ten times before', async () => {
  const store = sqliteStore(':memory:');
  const bank = makeCountingBank();
  const { gate, clock } = makeWorld({ maximumWaiting: Infinity, store, bank, ...free });
  const client = await connect(gate);
  for (const index of ten) {
    expect(readTexts(await client.callTool(payment))).toEqual([`paid ${index + 1}`]);
    await clock.pass(0);
  }
  await gate.close();
  store.close();
});

test('a call beside ten equal ones that another gate holds is asked about within seconds', async () => {
  const { here, there, clock } = makeGates();
  const client = await connect(here);
  ten.forEach(() => void client.callTool(payment));
  await clock.pass(1_000);
  expect(await listOpen(here)).toHaveLength(10);
  void (await connect(there)).callTool(payment);
  await clock.pass(5_000);
  expect(await listOpen(here)).toHaveLength(11);
});

test.each([
  ['ran at once', free],
  ['was approved', {}],
])(
  'the result of a call that %s, which its client reads slowly, is told to no equal call at another gate',
  async (_name, rules) => {
    const { here, there, clock, bank } = makeGates({ ...rules, authorize });
    const { promise: slowly, resolve: release } = Promise.withResolvers<void>();
    const client = await connectHttp(fetchSlowly(here, slowly), 'legacy');
    const first = client.callTool(payment);
    await clock.pass(1_000);
    const approve = async () => {
      if (rules === free) return;
      await answerOnly(here, (request) => request.approve());
      await clock.pass(2_000);
    };
    await approve();
    expect(bank.calls).toHaveLength(1);
    const other = await connectHttp(fetchAs(there, 'ada'), 'legacy');
    const second = other.callTool(payment);
    await clock.pass(10_000);
    await approve();
    expect(bank.calls).toHaveLength(2);
    expect(readTexts(await second)).toEqual(['paid 2']);
    release();
    await clock.pass(1_000);
    expect(readTexts(await first)).toEqual(['paid 1']);
  },
);

test('of two gates that collect one result at once, one does; the other call is another one', async () => {
  const { here, there, clock, bank } = makeGates();
  const clients = [await connect(here), await connect(there)];
  const first = clients[0]?.callTool(payment);
  await clock.pass(45_000);
  await first;
  const threadId = await answerOnly(here, (request) => request.approve());
  await here.runNow(threadId);
  const again = clients.map(async (client) => client.callTool(payment));
  await clock.pass(5_000);
  await onlyRequest(here);
  await answerOnly(here, (request) => request.approve());
  await clock.pass(5_000);
  const told = (await Promise.all(again)).flatMap((result) => readTexts(result));
  expect(told.toSorted()).toEqual(['paid 1', 'paid 2']);
  expect(bank.calls).toHaveLength(2);
});

test.each([
  ['its hold ends', 44_600, false],
  ['its client leaves', 1_000, true],
])(
  'a call that is asked about in the moment %s is taken up, once',
  async (_name, passed, leaves) => {
    const { here, there, clock, bank } = makeGates();
    const cancelling = new AbortController();
    const held = (await connect(here)).callTool(payment, { signal: cancelling.signal });
    const other = await connect(there);
    await clock.pass(passed);
    const { threadId } = await onlyRequest(here);
    const again = other.callTool(payment);
    await clock.pass(100);
    expect((await here.agent.thread(threadId)).caller?.callerId).toMatch(/^asked:/);
    if (leaves) cancelling.abort();
    await clock.pass(leaves ? 0 : 300);
    expect((await here.agent.thread(threadId)).caller).toMatchObject({
      state: leaves ? 'left' : 'pending',
    });
    await held.catch(() => {});
    await clock.pass(2_000);
    await answerOnly(here, (request) => request.approve());
    await clock.pass(5_000);
    expect(readTexts(await again)).toEqual(['paid 1']);
    expect(bank.calls).toHaveLength(1);
  },
);

test.each([
  ['that slept for an hour', 3_600_000],
  ['whose clock was put back', -3_600_000],
])(
  'a call that a gate holds on a machine %s is not taken up from another one',
  async (_name, step) => {
    let offset = 0;
    const [store, clock, bank] = [memoryStore(), virtualClock(), makeCountingBank()];
    const now = () => 1_800_000_000_000 + clock.now() + offset;
    const { gate: here } = makeWorld({ store, clock, bank, now });
    const { gate: there } = makeWorld({ store, clock, bank, now });
    const held = (await connect(here)).callTool(payment);
    const other = await connect(there);
    await clock.pass(1_000);
    const { requestId } = await onlyRequest(here);
    offset = step;
    const second = other.callTool(payment);
    await clock.pass(5_000);
    const open = await listOpen(here);
    expect(open).toHaveLength(2);
    const first = open.find((request) => request.requestId === requestId);
    if (first === undefined) throw new Error('The first call is not asked about.');
    await here.agent.respond(first.approve(), await here.agent.thread(first.threadId));
    await clock.pass(3_000);
    expect(readTexts(await held)).toEqual(['paid 1']);
    await answerOnly(here, (request) => request.approve());
    await clock.pass(3_000);
    expect(readTexts(await second)).toEqual(['paid 2']);
  },
);

test('a call that a gate holds is not taken up from one whose clock is an hour ahead, while a third one asks too', async () => {
  const [store, clock, bank] = [memoryStore(), virtualClock(), makeCountingBank()];
  const shared = { store, clock, bank };
  const { gate: here } = makeWorld({ ...shared, pollMs: 4_000 });
  const { gate: there } = makeWorld(shared);
  const { gate: ahead } = makeWorld({ ...shared, now: () => clock.now() + 3_600_000 });
  void (await connect(here)).callTool(payment);
  const [one, other] = [await connect(there), await connect(ahead)];
  await clock.pass(1_000);
  void one.callTool(payment);
  await clock.pass(100);
  void other.callTool(payment);
  await clock.pass(15_000);
  expect(await listOpen(here)).toHaveLength(3);
});

test('the result that a client reads while its gate closes is collected from the next one, and the call is not made again', async () => {
  const { here, there, clock, bank } = makeGates({ ...free, authorize });
  const reading = await connectHttp(fetchSlowly(here, new Promise(() => {})), 'legacy');
  void reading.callTool(payment);
  await clock.pass(1_000);
  expect(bank.calls).toHaveLength(1);
  const closed = here.close();
  await clock.pass(1_000);
  await closed;
  const client = await connectHttp(fetchAs(there, 'ada'), 'legacy');
  expect(readTexts(await client.callTool(payment))).toEqual(['paid 1']);
  expect(bank.calls).toHaveLength(1);
});

test('a result counts as sent also if the store was out of reach while its client read it', async () => {
  const kept = memoryStore();
  let isDown = false;
  const head: typeof kept.head = async (threadId) => {
    if (isDown) throw new Error('The store is down.');
    return kept.head(threadId);
  };
  const { gate, clock, problems } = makeWorld({ ...free, authorize, store: { ...kept, head } });
  const { promise: slowly, resolve: release } = Promise.withResolvers<void>();
  const client = await connectHttp(fetchSlowly(gate, slowly), 'legacy');
  const result = client.callTool(payment);
  await clock.pass(100);
  isDown = true;
  await clock.pass(3_000);
  isDown = false;
  release();
  await clock.pass(1_000);
  expect(readTexts(await result)).toEqual(['pay done']);
  expect(problems).toContainEqual(
    expect.objectContaining({ error: new Error('The store is down.') }),
  );
  const [{ threadId } = { threadId: '' }] = await kept.list({ agent: 'gate' });
  expect((await gate.agent.thread(threadId)).caller).toMatchObject({ state: 'informed' });
});
