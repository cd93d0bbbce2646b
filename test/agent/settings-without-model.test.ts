import { isStepCount, tool } from 'ai';
import { createCustomAgent } from 'holdpoint/custom-agent';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { AgentOffice, ask, pay } from '../support/agent-office.ts';

test('a custom agent has stopWhen, onStepEnd, onEnd and toolCallConcurrency', async () => {
  let running = 0;
  let most = 0;
  const work = tool({
    inputSchema: z.object({ n: z.number() }),
    execute: async ({ n }) => {
      running += 1;
      most = Math.max(most, running);
      await new Promise((resolve) => {
        setTimeout(resolve, 5);
      });
      running -= 1;
      return n;
    },
  });
  const seen: unknown[] = [];
  const agent = createCustomAgent({
    tools: { work },
    toolCallConcurrency: 2,
    stopWhen: isStepCount(2),
    onStepEnd: ({ stepNumber, toolResults }) => seen.push([stepNumber, toolResults.length]),
    onEnd: ({ status }) => seen.push(status),
    step: () => ({
      toolCalls: [1, 2, 3].map((n) => ({ toolName: 'work' as const, input: { n } })),
    }),
  });
  const thread = await agent.thread('t');
  expect(await agent.run('Go', thread)).toMatchObject({ status: 'max-steps' });
  expect(most).toBe(2);
  expect(seen).toEqual([[0, 3], [1, 3], 'max-steps']);
});

test('a run of a custom agent takes no settings of a model, and records nothing', async () => {
  const agent = createCustomAgent({ step: () => ({ text: 'Hi.' }) });
  const thread = await agent.thread('t');
  await expect(agent.run('Go', thread, { temperature: 1 })).rejects.toThrow('has no model');
  await expect(agent.run('Go', thread, { prepareStep: () => undefined })).rejects.toThrow(
    'has no model',
  );
  expect(thread.events).toEqual([]);
  expect(await agent.run('Go', thread, { timeout: 5_000 })).toMatchObject({ text: 'Hi.' });
});

test('agents that work for another resume one at a time, where it says so', async () => {
  const office = new AgentOffice();
  const child = (name: string) =>
    office.tool(office.payer(name, [{ calls: [pay('p1', name)] }, { text: `${name} paid.` }]));
  const parent = office.agent(
    'parent',
    [{ calls: [ask('c1', 'ann', 'Pay.'), ask('c2', 'bob', 'Pay.')] }, { text: 'Both have paid.' }],
    { tools: { ann: child('ann'), bob: child('bob') }, toolCallConcurrency: 1 },
  );
  const { approvalRequests, thread } = await parent.run('Pay both', await parent.thread('t'));
  expect(approvalRequests).toHaveLength(2);
  const response = await parent.run(
    approvalRequests.map((request) => request.approve()),
    thread,
  );
  expect(response).toMatchObject({ status: 'completed', text: 'Both have paid.' });
  expect(office.payments.map(({ to }) => to).toSorted()).toEqual(['ann', 'bob']);
  expect(thread.calls.map(({ status }) => status)).toEqual(['succeeded', 'succeeded']);
});
