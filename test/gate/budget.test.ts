import { memoryStore, type SettingFailure } from 'holdpoint';
import type { GateOptions } from 'holdpoint/mcp';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { answerOnly, connect, listOpen, makeWorld, onlyRequest } from './gate-world.ts';

const spending = z.object({ euros: z.number() });
const pay = (euros: number) => ({ name: 'pay', arguments: { to: 'ACME', euros } });

test.each<[string, NonNullable<GateOptions['toolApproval']>]>([
  [
    'for one tool',
    {
      pay: (input, { calls }) => {
        const spent = calls.reduce((sum, call) => sum + spending.parse(call.input).euros, 0);
        return spent + spending.parse(input).euros <= 500 ? 'approved' : 'user-approval';
      },
    },
  ],
  ['for all tools', ({ calls }) => (calls.length < 9 ? 'approved' : 'user-approval')],
  [
    'that copies its options',
    (options) => ({ ...options }).calls.length < 9 ? 'approved' : 'denied',
  ],
])(
  'a rule %s that reads calls asks in a gate, where it sees no other call',
  async (_form, rule) => {
    const { gate, bank, clock } = makeWorld({ toolApproval: rule });
    const failures: SettingFailure[] = [];
    gate.agent.on('setting-failed', (failure) => failures.push(failure));
    const client = await connect(gate);
    void client.callTool(pay(300));
    await clock.pass(2_000);
    expect(bank.calls).toEqual([]);
    const { reason } = await onlyRequest(gate);
    expect(reason).toContain('each call through a gate is a thread of its own');
    expect(failures).toMatchObject([{ kind: 'unknown-field', toolCall: { toolName: 'pay' } }]);
    expect(failures[0]?.problem).toContain('docs/guides/gate.md');
    await answerOnly(gate, (request) => request.approve());
    await clock.pass(2_000);
    expect(bank.calls).toHaveLength(1);
  },
);

test('a budget that sums over the store holds for calls one after another and at once, and counts what people approve', async () => {
  const store = memoryStore();
  const allowed = new Map<string, number>();
  const sumOthers = async (toolCallId: string): Promise<number> => {
    const spent = new Map<string, number>();
    for (const { threadId } of await store.list({ agent: 'gate' })) {
      const { calls } = await gate.agent.thread(threadId);
      for (const call of calls) {
        if (call.toolName !== 'pay' || (call.outcome && call.startedAt === undefined)) continue;
        spent.set(call.toolCallId, spending.parse(call.input).euros);
      }
    }
    for (const [id, euros] of allowed) spent.set(id, euros);
    spent.delete(toolCallId);
    return [...spent.values()].reduce((sum, euros) => sum + euros, 0);
  };
  const { gate, bank, clock } = makeWorld({
    store,
    toolApproval: {
      pay: async (input, { toolCallId }) => {
        const { euros } = spending.parse(input);
        allowed.set(toolCallId, euros);
        if ((await sumOthers(toolCallId)) + euros <= 500) return 'approved';
        allowed.delete(toolCallId);
        return 'user-approval';
      },
    },
  });
  const client = await connect(gate);
  const call = async (...amounts: number[]): Promise<void> => {
    for (const euros of amounts) void client.callTool(pay(euros));
    await clock.pass(2_000);
  };
  await call(300);
  await call(150);
  expect(bank.calls).toHaveLength(2);
  await call(100);
  expect(bank.calls).toHaveLength(2);
  await answerOnly(gate, (request) => request.approve());
  await clock.pass(2_000);
  expect(bank.calls).toHaveLength(3);
  await call(40, 30, 20);
  expect(bank.calls).toHaveLength(3);
  expect(await listOpen(gate)).toHaveLength(3);
});
