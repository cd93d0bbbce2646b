import { tool, type ToolSet, type UserModelMessage } from 'ai';
import {
  type Agent,
  type AgentOptions,
  type AgentThread,
  createAgent,
  memoryStore,
} from 'holdpoint';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { ScriptedStep } from '../support/script.ts';
import { scriptedModel } from 'holdpoint/testing';
import { pickCases } from '../support/sampling.ts';

type Prompt = ReturnType<typeof scriptedModel>['prompts'][number];

/* A text that was cut in the middle of an emoji. */
const half = 'a fox 🦊'.slice(0, 7);
const inputSchema = z.object({ page: z.string() });
const read = { id: 'c1', name: 'read', input: { page: 'x' } };

/** What a message has as the arguments of calls. */
function readArguments({ role, content }: Prompt[number]): unknown[] {
  if (role !== 'assistant') return [];
  return content.flatMap((part) => (part.type === 'tool-call' ? [part.input] : []));
}

/** Whether all text in a value is well-formed: otherwise its JSON has escapes that strict parsers refuse. */
function isWellFormed(value: unknown): boolean {
  return !/\\ud[89a-f]/i.test(JSON.stringify(value));
}

interface Told {
  agent: Agent;
  thread: AgentThread;
  prompts: readonly Prompt[];
}

/** An agent with a tool that reads. */
async function reader(
  script: ScriptedStep[],
  { execute, ...options }: Partial<AgentOptions> & { execute?: () => unknown } = {},
): Promise<Told> {
  const { model, prompts } = scriptedModel(script);
  const tools: ToolSet = { read: tool({ inputSchema, execute: async () => execute?.() ?? 'ok' }) };
  const agent = createAgent({ model, tools, store: memoryStore(), ...options });
  return { agent, thread: await agent.thread('t'), prompts };
}

const steps = [{ calls: [read] }, { text: 'Done.' }];

const places: [string, () => Promise<Told>][] = [
  [
    'a result',
    async () => {
      const told = await reader(steps, { execute: () => half });
      await told.agent.run('Read.', told.thread);
      return told;
    },
  ],
  [
    'a key deep in a result',
    async () => {
      const told = await reader(steps, { execute: () => ({ pages: [{ [half]: { by: half } }] }) });
      await told.agent.run('Read.', told.thread);
      return told;
    },
  ],
  [
    'a message of the user',
    async () => {
      const told = await reader([{ text: 'Done.' }]);
      await told.agent.run(`Look: ${half}`, told.thread);
      return told;
    },
  ],
  [
    'the instructions',
    async () => {
      const told = await reader([{ text: 'Done.' }], { instructions: half });
      await told.agent.run('Read.', told.thread);
      return told;
    },
  ],
  [
    'the text of the model itself',
    async () => {
      const told = await reader([{ text: half }, { text: 'Done.' }]);
      await told.agent.run('Read.', told.thread);
      await told.agent.run('Go on.', told.thread);
      return told;
    },
  ],
  [
    'the reason of a rejection',
    async () => {
      const told = await reader(steps, { toolApproval: { read: 'user-approval' } });
      const asked = await told.agent.run('Read.', told.thread);
      await told.agent.run(asked.approvalRequests[0]?.reject(`No: ${half}`) ?? [], told.thread);
      return told;
    },
  ],
  [
    'what prepareStep returns',
    async () => {
      const told = await reader([{ text: 'Done.' }], {
        prepareStep: ({ messages }) => ({
          instructions: half,
          messages: [...messages, { role: 'user', content: half }],
        }),
      });
      await told.agent.run('Read.', told.thread);
      return told;
    },
  ],
];

describe('half of a surrogate pair', () => {
  test.each(pickCases(places, 3))(
    'in %s does not reach the model, and the log keeps it',
    async (_where, play) => {
      const { prompts, thread } = await play();
      expect(prompts.filter((prompt) => !isWellFormed(prompt))).toEqual([]);
      expect(JSON.stringify(prompts)).toContain('a fox \u{FFFD}');
      expect(thread.status).toBe('idle');
    },
  );

  test('stays in the log as it was', async () => {
    const { agent, thread } = await reader(steps, { execute: () => half });
    await agent.run('Read.', thread);
    expect(isWellFormed(thread.messages)).toBe(false);
    expect(thread.calls[0]?.outcome).toMatchObject({ output: half });
  });
});

describe('arguments that are no JSON', () => {
  test.each(['{"page": "x', '"x"', '7', ''])(
    'are an empty object for the model, which may try again: %s',
    async (input) => {
      const script = [{ calls: [{ ...read, input }] }, { text: 'Done.' }, { text: 'Yes.' }];
      const { agent, thread, prompts } = await reader(script);
      expect(await agent.run('Read.', thread)).toMatchObject({ text: 'Done.' });
      await agent.run('Go on.', thread);
      const sent = prompts.slice(1).map((prompt) => prompt.flatMap(readArguments));
      expect(sent).toEqual([[{}], [{}]]);
    },
  );

  test('stay in the log as the model wrote them', async () => {
    const script = [{ calls: [{ ...read, input: '{"page": "x' }] }, { text: 'Done.' }];
    const { agent, thread } = await reader(script);
    await agent.run('Read.', thread);
    expect(thread.calls).toMatchObject([{ input: '{"page": "x', status: 'failed' }]);
  });
});

test('a message of prepareStep that the app changes between two steps is sent as it is then', async () => {
  const reminder: UserModelMessage = { role: 'user', content: `First: ${half}` };
  const { agent, thread, prompts } = await reader(steps, {
    prepareStep: ({ messages, stepNumber }) => {
      if (stepNumber > 0) reminder.content = 'Second.';
      return { messages: [...messages.filter(({ role }) => role !== 'user'), reminder] };
    },
  });
  await agent.run('Read.', thread);
  expect(JSON.stringify(prompts[0])).toContain('First: a fox \u{FFFD}');
  expect(JSON.stringify(prompts[1])).toContain('Second.');
});
