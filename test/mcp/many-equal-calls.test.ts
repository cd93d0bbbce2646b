import { memoryStore } from 'holdpoint';
import { expect, test } from 'vitest';
import { virtualClock } from '../support/virtual-clock.ts';
import {
  answerOnly,
  connect,
  listOpen,
  makeBank,
  makeWorld,
  onlyRequest,
  payment,
  readTexts,
  text,
} from './gate-world.ts';
import { authorize, connectHttp, fetchAs } from './http-clients.ts';

/* Every call runs at once. */
const free = { toolApproval: () => 'approved' as const };

/** A bank whose payments are told apart. */
const makeCountingBank = () => {
  let payments = 0;
  return makeBank(() => {
    payments += 1;
    return text(`paid ${payments}`);
  });
};

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
    const asAda = fetchAs(here, 'ada');
    let isSlow = false;
    const client = await connectHttp(async (url, init) => {
      const response = await asAda(url, init);
      if (!isSlow || response.body === null) return response;
      const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
      const { body } = response;
      void slowly.then(async () => body.pipeTo(writable));
      return new Response(readable, response);
    }, 'legacy');
    isSlow = true;
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
