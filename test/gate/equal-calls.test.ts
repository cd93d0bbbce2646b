import { memoryStore } from 'holdpoint';
import { expect, test } from 'vitest';
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

test('a client that cancels a running call and calls again at once gets the result of the same call', async () => {
  const { promise: paid, resolve } = Promise.withResolvers<void>();
  const slow = makeBank(async () => {
    await paid;
    return text('Paid.');
  });
  const { gate, clock } = makeWorld({ ...free, bank: slow });
  const client = await connect(gate);
  const cancelling = new AbortController();
  const first = client.callTool(payment, { signal: cancelling.signal });
  await expect.poll(() => slow.calls.length).toBe(1);
  cancelling.abort();
  const again = client.callTool(payment);
  await expect(first).rejects.toThrow();
  await clock.pass(3_000);
  expect(slow.calls).toHaveLength(1);
  resolve();
  await clock.pass(10_000);
  expect(readTexts(await again)).toEqual(['Paid.']);
});

test("a client's own id of a call is the same call, also after others with the same arguments", async () => {
  const { gate, bank, clock } = makeWorld(free);
  const client = await connect(gate);
  for (const id of ['a', 'b', 'a']) {
    expect(
      readTexts(
        await client.callTool({
          ...payment,
          _meta: { callId: `call_aBcD3fGh1jKlMn0pQrStUvW${id}` },
        }),
      ),
    ).toEqual(['pay done']);
    await clock.pass(10);
  }
  expect(bank.calls).toHaveLength(2);
});

test('a pending call is collected also after the result of one that was held beside it', async () => {
  const { gate, bank, clock } = makeWorld();
  const client = await connect(gate);
  const first = client.callTool(payment);
  await clock.pass(1_000);
  const request = await onlyRequest(gate);
  const second = client.callTool(payment);
  await clock.pass(1_000);
  const other = (await listOpen(gate)).find(({ requestId }) => requestId !== request.requestId);
  if (other === undefined) throw new Error('The second call is not asked about.');
  const thread = await gate.agent.thread(other.threadId);
  await gate.agent.respond(other.approve(), thread, { principal: 'boss' });
  await clock.pass(60_000);
  expect(readTexts(await second)).toEqual(['pay done']);
  expect(readTexts(await first)[0]).toMatch(/^Pending/);
  const again = client.callTool(payment);
  await clock.pass(1_000);
  expect(await onlyRequest(gate)).toMatchObject({ requestId: request.requestId });
  await answerOnly(gate, (asked) => asked.approve());
  await clock.pass(2_000);
  expect(readTexts(await again)).toEqual(['pay done']);
  expect(bank.calls).toHaveLength(2);
});

test('a gate runs no call of a gate in front of another server, whose tool has the same name', async () => {
  const store = memoryStore();
  const { gate, clock } = makeWorld({ store });
  const shop = makeBank();
  const upstreams = { shop: { transport: shop.open } };
  const { gate: other } = makeWorld({ store, clock, upstreams });
  const first = (await connect(gate)).callTool(payment);
  await clock.pass(45_000);
  await first;
  const threadId = await answerOnly(gate, (request) => request.approve());
  await expect(other.runNow(threadId)).rejects.toMatchObject({
    code: 'not-allowed',
    message: expect.stringContaining(
      'calls "pay" of the MCP server "bank", which this gate is not',
    ),
  });
  const client = await connect(other);
  void client.callTool(payment).catch(() => {});
  await clock.pass(1_000);
  expect(await listOpen(other)).toHaveLength(1);
  expect(shop.calls).toEqual([]);
  expect(await gate.runNow(threadId)).toMatchObject({ status: 'completed' });
});

test('a gate runs no thread that is no call', async () => {
  const { gate } = makeWorld();
  await expect(gate.runNow('t1')).rejects.toMatchObject({
    code: 'not-allowed',
    message: expect.stringContaining('The thread t1 is no call of a gate.'),
  });
});

test('a closed gate does not use an approval up that another one can run', async () => {
  const store = memoryStore();
  const { gate, clock, bank } = makeWorld({ store });
  const client = await connect(gate);
  const first = client.callTool(payment);
  await clock.pass(45_000);
  await first;
  const threadId = await answerOnly(gate, (request) => request.approve());
  await gate.close();
  await expect(gate.runNow(threadId)).rejects.toMatchObject({
    code: 'not-allowed',
    message: expect.stringContaining('is closed'),
  });
  const { gate: other } = makeWorld({ store, bank, clock });
  await connect(other);
  await other.runNow(threadId);
  expect(bank.calls).toHaveLength(1);
});
