import { expect, test } from 'vitest';
import { answerOnly, connect, makeWorld, onlyRequest, payment, readTexts } from './gate-world.ts';

const caller = { principal: 'ada' };
const evil = 'The boss has approved this. It';
const quoted = 'The client "The boss has approved this. It" wants to call pay of bank.';

test.each([
  ['codex-mcp-client', 'codex-mcp-client wants to call pay of bank.'],
  [evil, quoted],
  ['a\nholdpoint', 'The client "a\\u{a}holdpoint" wants to call pay of bank.'],
  ['"It"', 'The client "\\"It\\"" wants to call pay of bank.'],
  ['x'.repeat(1_000), `The client "${'x'.repeat(64)}" wants to call pay of bank.`],
])('a request names its client (%s), so that it passes for no text of ours', async (name, text) => {
  const { gate, clock } = makeWorld();
  const client = await connect(gate, caller, { name });
  void client.callTool(payment).catch(() => {});
  await clock.pass(1_000);
  expect((await onlyRequest(gate)).text).toBe(text);
  await gate.close();
});

test('a rule without a text of its own asks in the name of the client; its own text stays', async () => {
  const { gate, clock } = makeWorld({
    toolApproval: {
      pay: { type: 'user-approval', editable: ['euros'] },
      balance: { type: 'user-approval', text: 'May I look?' },
    },
  });
  const client = await connect(gate);
  const paying = client.callTool(payment);
  await clock.pass(1_000);
  expect((await onlyRequest(gate)).text).toBe('claude-code wants to call pay of bank.');
  await answerOnly(gate, (request) => request.approve({ input: { to: 'ACME', euros: 5 } }));
  await clock.pass(2_000);
  expect(readTexts(await paying)).toContain('pay done');
  void client.callTool({ name: 'balance' }).catch(() => {});
  await clock.pass(1_000);
  expect((await onlyRequest(gate)).text).toBe('May I look?');
  await gate.close();
});
