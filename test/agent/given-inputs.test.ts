import { tool } from 'ai';
import { createAgent, type AgentOptions } from 'holdpoint';
import { scriptedModel } from 'holdpoint/testing';
import { expect, test } from 'vitest';
import { z } from 'zod';

/* Two schemas that make the same text of different inputs. */
const order = z.object({ order: z.string().default('all') }).transform((given) => given.order);
const note = z.object({ id: z.string() }).transform(({ id }) => id);
const shared = { all: true };
const constant = z.object({ n: z.number() }).transform(() => shared);

function office(
  calls: { id: string; name: string; input: object }[],
  options: Partial<AgentOptions>,
) {
  const ran: unknown[] = [];
  const noted = (name: string) => async (input: unknown) => void ran.push([name, input]);
  const tools = {
    refund: tool({ inputSchema: order, execute: noted('refund') }),
    note: tool({ inputSchema: note, execute: noted('note') }),
    same: tool({ inputSchema: constant, execute: noted('same') }),
  };
  const { model } = scriptedModel([{ calls }, { text: 'Done.' }]);
  return { ran, agent: createAgent({ model, tools, ...options }) };
}

const equal = [
  { id: 'c0', name: 'note', input: { id: 'n' } },
  { id: 'c1', name: 'refund', input: { order: 'x' } },
  { id: 'c2', name: 'note', input: { id: 'x' } },
];

test('a call that waits for its turn runs what was proposed for it, also if another call’s schema made an equal value', async () => {
  const { ran, agent } = office(equal, { toolCallConcurrency: 1 });
  const thread = await agent.thread('t');
  await agent.run('Go.', thread);
  expect(ran).toEqual([
    ['note', 'n'],
    ['refund', 'x'],
    ['note', 'x'],
  ]);
  expect(thread.calls.map(({ given }) => given)).toEqual(equal.map(({ input }) => input));
});

test('an approved call runs what was approved, also if another call’s schema made an equal value', async () => {
  const { ran, agent } = office(equal, { toolApproval: { refund: 'user-approval' } });
  const thread = await agent.thread('t');
  const asked = await agent.run('Go.', thread);
  expect(asked.approvalRequests).toMatchObject([{ toolCall: { input: 'x' } }]);
  const after = await agent.run(
    asked.approvalRequests.map((request) => request.approve()),
    thread,
  );
  expect(after).toMatchObject({ status: 'completed', approvalRequests: [] });
  expect(ran).toContainEqual(['refund', 'x']);
});

test('calls of a schema that makes one object of all inputs keep their own', async () => {
  const calls = [1, 2].map((n) => ({ id: `c${n}`, name: 'same', input: { n } }));
  const { ran, agent } = office(calls, {});
  const thread = await agent.thread('t');
  await agent.run('Go.', thread);
  expect(ran).toEqual([
    ['same', shared],
    ['same', shared],
  ]);
  expect(thread.calls.map(({ given }) => given)).toEqual([{ n: 1 }, { n: 2 }]);
});
