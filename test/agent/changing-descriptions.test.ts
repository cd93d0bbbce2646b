import { tool } from 'ai';
import { createAgent, memoryStore } from 'holdpoint';
import { MockLanguageModelV4 } from 'ai/test';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { scriptedModel } from '../support/scripted-model.ts';
import type { ScriptedStep } from '../support/script.ts';

/** A model that plays a script, and the descriptions that its requests had. */
function describedModel(script: ScriptedStep[]) {
  const { model } = scriptedModel(script);
  const descriptions: unknown[] = [];
  const seeing = new MockLanguageModelV4({
    doGenerate: async (options) => {
      for (const each of options.tools ?? [])
        if (each.type === 'function') descriptions.push(each.description);
      return model.doGenerate(options);
    },
  });
  return { model: seeing, descriptions };
}

const call = { id: 'c1', name: 'pay', input: { to: 'Ada' } };
const contextSchema = z.object({ city: z.string() });

/** A tool that pays, whose description says how often it was asked for. */
function clockedTool(paid: unknown[], clock = { hours: 0 }) {
  return tool({
    contextSchema,
    description: ({ context: { city } }) => `Pays. It is ${(clock.hours += 1)} o'clock in ${city}.`,
    inputSchema: z.object({ to: z.string() }),
    execute: async ({ to }) => paid.push(to),
  });
}

const toolsContext = { pay: { city: 'Rome' } };

test('each request to the model has the description of its moment', async () => {
  const { model, descriptions } = describedModel([{ calls: [call] }, { text: 'Done.' }]);
  const agent = createAgent({
    model,
    store: memoryStore(),
    tools: { pay: clockedTool([]) },
    toolsContext,
  });
  await agent.run('Pay.', await agent.thread('t'));
  expect(descriptions).toEqual([
    "Pays. It is 1 o'clock in Rome.",
    "Pays. It is 2 o'clock in Rome.",
  ]);
});

test('an approval counts in an agent that is made for each request', async () => {
  const store = memoryStore();
  const paid: unknown[] = [];
  const clock = { hours: 0 };
  const script = [{ calls: [call] }, { text: 'Done.' }];
  const { model } = describedModel(script);
  const open = async () => {
    const tools = { pay: clockedTool(paid, clock) };
    const agent = createAgent({
      model,
      store,
      tools,
      toolsContext,
      toolApproval: { pay: 'user-approval' },
    });
    return { agent, thread: await agent.thread('t') };
  };
  const first = await open();
  await first.agent.run('Pay.', first.thread);
  const next = await open();
  const answers = next.thread.activeApprovalRequests.map((request) => request.approve());
  expect(await next.agent.run(answers, next.thread)).toMatchObject({ text: 'Done.' });
  expect(paid).toEqual(['Ada']);
});

test('a description that is a text and changes while a call waits is asked about again', async () => {
  const store = memoryStore();
  const { model } = describedModel([{ calls: [call] }, { text: 'Done.' }]);
  const open = async (description: string) => {
    const pay = tool({
      description,
      inputSchema: z.object({ to: z.string() }),
      execute: async () => 'Paid.',
    });
    const agent = createAgent({
      model,
      store,
      tools: { pay },
      toolApproval: { pay: 'user-approval' },
    });
    return { agent, thread: await agent.thread('t') };
  };
  const first = await open('Pays.');
  const { approvalRequests } = await first.agent.run('Pay.', first.thread);
  const next = await open('Pays twice.');
  const answers = approvalRequests.map((request) => request.approve());
  const { status, approvalRequests: again } = await next.agent.run(answers, next.thread);
  expect(status).toBe('waiting');
  expect(again).toHaveLength(1);
});
