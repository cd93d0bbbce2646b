import { expect, test } from 'vitest';
import { answerOnly, connect, listOpen, makeWorld, payment, readTexts } from './gate-world.ts';

test('a call that needs nobody runs at once', async () => {
  const { gate, bank } = makeWorld({ toolApproval: () => 'approved' });
  const client = await connect(gate);
  const { tools } = await client.listTools();
  expect(tools.map(({ name }) => name)).toEqual(['pay', 'balance']);
  const result = await client.callTool(payment);
  expect(readTexts(result)).toEqual(['pay done']);
  expect(bank.calls).toMatchObject([{ name: 'pay', arguments: payment.arguments }]);
});

test('a call runs once it is approved while it is held', async () => {
  const { gate, bank, clock } = makeWorld();
  const client = await connect(gate);
  const result = client.callTool(payment);
  await clock.pass(2_000);
  expect(bank.calls).toEqual([]);
  const threadId = await answerOnly(gate, (request) => request.approve());
  await clock.pass(2_000);
  expect(readTexts(await result)).toEqual(['pay done']);
  expect(bank.calls).toHaveLength(1);
  await clock.pass(0);
  const thread = await gate.agent.thread(threadId);
  expect(thread.caller).toMatchObject({ state: 'informed' });
  expect(await listOpen(gate)).toEqual([]);
});
