import { InMemoryTransport } from '@modelcontextprotocol/server';
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
} from './gate-world.ts';

const unready =
  'Pending: a person has approved "pay", but the MCP server "bank" is not ready. Nothing has happened yet. ' +
  'Call "pay" again later with exactly the same arguments to run it and get the result; nobody is asked twice.';

const outages = {
  'is down': () => {
    throw new Error('It is down.');
  },
  'does not answer': () => InMemoryTransport.createLinkedPair()[0],
};

/** A gate that knows the tools of its server, with which it has no connection until `at.isUp`. */
async function openDown(outage: keyof typeof outages) {
  const [store, clock, bank] = [memoryStore(), virtualClock(), makeBank()];
  const before = makeWorld({ store, clock, bank });
  await connect(before.gate);
  await before.gate.close();
  const at = { isUp: false };
  const transport = () => (at.isUp ? bank.open() : outages[outage]());
  const { gate } = makeWorld({ store, clock, upstreams: { bank: { transport } } });
  return { gate, clock, bank, at, client: await connect(gate) };
}

test.each(['is down', 'does not answer'] as const)(
  'an approval is not used up while the server %s: the call stays approved, and its client is told to call again',
  async (outage) => {
    const { gate, clock, bank, client } = await openDown(outage);
    const first = client.callTool(payment);
    await clock.pass(1_000);
    const threadId = await answerOnly(gate, (request) => request.approve());
    await clock.pass(43_000);
    expect((await gate.agent.thread(threadId)).caller).toMatchObject({ state: 'waiting' });
    await clock.pass(1_000);
    expect(readTexts(await first)).toEqual([unready]);
    const thread = await gate.agent.thread(threadId);
    expect(thread).toMatchObject({ status: 'due', calls: [{ status: 'approved' }] });
    expect(thread.caller).toMatchObject({ state: 'pending' });
    const again = client.callTool(payment);
    await clock.pass(45_000);
    expect(readTexts(await again)).toEqual([unready]);
    expect(await listOpen(gate)).toEqual([]);
    expect(bank.calls).toEqual([]);
    await gate.close();
  },
);

test('an approved call runs as soon as its server is up, while its client waits', async () => {
  const { gate, clock, bank, at, client } = await openDown('is down');
  const first = client.callTool(payment);
  await clock.pass(1_000);
  await answerOnly(gate, (request) => request.approve());
  await clock.pass(5_000);
  expect(bank.calls).toEqual([]);
  at.isUp = true;
  await clock.pass(20_000);
  expect(readTexts(await first)).toEqual(['pay done']);
  expect(bank.calls).toHaveLength(1);
  await gate.close();
});

test('a call that was approved while its server was down runs when it is called again', async () => {
  const { gate, clock, bank, at, client } = await openDown('is down');
  const first = client.callTool(payment);
  await clock.pass(46_000);
  expect(readTexts(await first)[0]).toMatch(/^Pending: a person has not decided/);
  await answerOnly(gate, (request) => request.approve());
  const second = client.callTool(payment);
  await clock.pass(45_000);
  expect(readTexts(await second)).toEqual([unready]);
  at.isUp = true;
  const third = client.callTool(payment);
  await clock.pass(5_000);
  expect(readTexts(await third)).toEqual(['pay done']);
  expect(bank.calls).toHaveLength(1);
  await gate.close();
});

test('a call that a person rejects while its server is down is told so at once', async () => {
  const { gate, clock, client } = await openDown('is down');
  const first = client.callTool(payment);
  await clock.pass(1_000);
  await answerOnly(gate, (request) => request.reject());
  await clock.pass(2_000);
  expect(readTexts(await first)[0]).toMatch(/^A person rejected this call/);
  await gate.close();
});

test('a call that waits for its server is not taken up from another gate', async () => {
  const store = memoryStore();
  const clock = virtualClock();
  const bank = makeBank();
  const other = makeWorld({ store, clock, bank }).gate;
  const twin = await connect(other);
  const down = { transport: outages['is down'] };
  const { gate } = makeWorld({ store, clock, upstreams: { bank: down } });
  const first = (await connect(gate)).callTool(payment);
  await clock.pass(1_000);
  const { requestId } = await onlyRequest(gate);
  await answerOnly(gate, (request) => request.approve());
  await clock.pass(2_000);
  void twin.callTool(payment);
  await clock.pass(6_000);
  expect(await onlyRequest(other)).not.toMatchObject({ requestId });
  expect(bank.calls).toEqual([]);
  await clock.pass(37_000);
  expect(readTexts(await first)).toEqual([unready]);
  await gate.close();
});

test.each(['is down', 'does not answer'] as const)(
  'a person who runs an approved call while its server %s is told so, and it stays approved',
  async (outage) => {
    const { gate, clock, bank, client } = await openDown(outage);
    const first = client.callTool(payment);
    await clock.pass(45_000);
    await first;
    const threadId = await answerOnly(gate, (request) => request.approve());
    const running = gate.runNow(threadId).catch((error: unknown) => error);
    await clock.pass(30_000);
    expect(await running).toMatchObject({
      code: 'not-allowed',
      message: expect.stringMatching(
        /^The MCP server "bank" is not ready, so the call was not run/,
      ),
    });
    expect(bank.calls).toEqual([]);
    expect(await gate.agent.thread(threadId)).toMatchObject({ calls: [{ status: 'approved' }] });
    await gate.close();
  },
);

test('a person may run an approved call once its server is up again', async () => {
  const { gate, clock, bank, at, client } = await openDown('is down');
  const first = client.callTool(payment);
  await clock.pass(45_000);
  await first;
  const threadId = await answerOnly(gate, (request) => request.approve());
  await expect(gate.runNow(threadId)).rejects.toThrow('is not ready');
  at.isUp = true;
  expect(await gate.runNow(threadId)).toMatchObject({ status: 'completed' });
  expect(bank.calls).toHaveLength(1);
  await gate.close();
});
