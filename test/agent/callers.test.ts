import { type AgentThread, createAgent, memoryStore, type ThreadStore } from 'holdpoint';
import { auditTrail } from 'holdpoint/audit';
import { scriptedModel } from 'holdpoint/testing';
import { tool } from 'ai';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { noteCaller } from '../../src/agent/agent-door.ts';
import { errorCode } from '../support/error-code.ts';

const at = 1_795_000_000_000;

function asking(store: ThreadStore = memoryStore(), name = 'gate') {
  const { model } = scriptedModel([{ calls: [{ id: 'c1', name: 'pay', input: {} }] }]);
  const pay = tool({ inputSchema: z.object({}), execute: () => 'Paid.' });
  const toolApproval = { pay: 'user-approval' } as const;
  return createAgent({ name, model, tools: { pay }, toolApproval, store, now: () => at });
}

test('what becomes of a caller is in the log, for every process, and opens, answers and runs nothing', async () => {
  const store = memoryStore();
  const agent = asking(store);
  const thread = await agent.thread('t');
  expect(thread.caller).toBeUndefined();
  const response = await agent.run('Pay.', thread);
  const waiting = { callerId: 'one', state: 'waiting', until: at + 1 } as const;
  expect(await noteCaller(agent, thread, () => waiting)).toBe(true);
  const opened = await asking(store).thread('t');
  expect(opened.caller).toEqual({ ...waiting, at });
  expect(opened.status).toBe('waiting');
  expect(opened.activeRequests.map(({ requestId }) => requestId)).toEqual([
    response.approvalRequests[0]?.requestId,
  ]);
  await noteCaller(agent, thread, () => ({ callerId: 'one', state: 'informed' }));
  expect(thread.caller).toEqual({ callerId: 'one', state: 'informed', at });
  const rows = (await auditTrail(thread)).toText();
  expect(rows).toContain('caller waiting');
  expect(rows).toContain('caller informed');
});

test('of two that take over from a caller at once, the second sees what the first has recorded', async () => {
  const store = memoryStore();
  const agent = asking(store);
  const thread = await agent.thread('t');
  await agent.run('Pay.', thread);
  await noteCaller(agent, thread, () => ({ callerId: 'first', state: 'pending' }));
  const takeOver = async (own: ReturnType<typeof asking>, handle: AgentThread, callerId: string) =>
    noteCaller(own, handle, (before) =>
      before?.state === 'pending' ? { callerId, state: 'waiting', until: at + 1 } : undefined,
    );
  const others = await Promise.all(
    ['a', 'b'].map(async (id) => {
      const own = asking(store);
      return { id, own, handle: await own.thread('t') };
    }),
  );
  const taken = await Promise.all(
    others.map(async ({ id, own, handle }) => takeOver(own, handle, id)),
  );
  expect(taken.filter(Boolean)).toHaveLength(1);
  const winner = others[taken.indexOf(true)]?.id;
  expect((await asking(store).thread('t')).caller?.callerId).toBe(winner);
});

test('a snapshot and a restored thread have the caller', async () => {
  const agent = asking();
  const thread = await agent.thread('t');
  await agent.run('Pay.', thread);
  for (let index = 0; index < 80; index += 1) {
    await noteCaller(agent, thread, () => ({ callerId: `c${index}`, state: 'pending' }));
  }
  const restored = await asking(memoryStore()).restore(JSON.stringify(thread));
  expect(restored.caller).toEqual({ callerId: 'c79', state: 'pending', at });
});

test('the caller of a thread of another agent is refused', async () => {
  const store = memoryStore();
  const agent = asking(store);
  await agent.run('Pay.', await agent.thread('t'));
  const other = asking(store, 'other');
  const note = noteCaller(other, await other.thread('t'), () => ({ callerId: 'x', state: 'left' }));
  expect(await errorCode(note)).toBe('wrong-agent');
});
