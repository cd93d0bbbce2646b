import { jsonSchema, tool, type ToolSet } from 'ai';
import { type AgentOptions, createAgent } from 'holdpoint';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { scriptedModel } from '../support/scripted-model.ts';
import { book, memoryWorld, travelTools } from '../support/travel-world.ts';
import { pickCases } from '../support/sampling.ts';

type Rule = AgentOptions['toolApproval'];

const throws = (): never => {
  throw new Error('the rule is broken');
};
const odd = (value: unknown) => () => JSON.parse(JSON.stringify(value));
const rejects = async (): Promise<undefined> => throws();

const rules: [string, unknown, unmarked: string, marked: string][] = [
  ['nothing', undefined, 'runs', 'asks'],
  ["'not-applicable'", 'not-applicable', 'runs', 'asks'],
  ["{ type: 'not-applicable' }", { type: 'not-applicable' }, 'runs', 'asks'],
  ["'approved'", 'approved', 'runs', 'runs'],
  ["{ type: 'approved', reason }", { type: 'approved', reason: 'small' }, 'runs', 'runs'],
  ["'denied'", 'denied', 'denied', 'denied'],
  ["{ type: 'denied', reason }", { type: 'denied', reason: 'no' }, 'denied', 'denied'],
  ["'user-approval'", 'user-approval', 'asks', 'asks'],
  ["{ type: 'user-approval', reason }", { type: 'user-approval', reason: 'big' }, 'asks', 'asks'],
  ['() => undefined', () => undefined, 'runs', 'asks'],
  ['() => approved', () => 'approved', 'runs', 'runs'],
  ['async () => denied', async () => 'denied', 'denied', 'denied'],
  ['async () => user-approval', async () => ({ type: 'user-approval' }), 'asks', 'asks'],
  ['a function that throws', throws, 'asks', 'asks'],
  ['a promise that rejects', rejects, 'asks', 'asks'],
  ['() => null', odd(null), 'asks', 'asks'],
  ['() => true', odd(true), 'asks', 'asks'],
  ['() => an unknown status', odd('aproved'), 'asks', 'asks'],
  ['() => an unknown object', odd({ type: 'allow' }), 'asks', 'asks'],
  ['() => approved with a surplus', odd({ type: 'approved', always: true }), 'asks', 'asks'],
];

async function verdict(needsApproval: unknown, toolApproval: unknown): Promise<string> {
  const world = memoryWorld([{ calls: [book('c1', 'Paris')] }, { text: 'Done.' }]);
  const tools: ToolSet = {
    book: Object.assign(travelTools(world.ran).book, { needsApproval }),
  };
  // @ts-expect-error -- rules return what they may not, too.
  const agent = world.agent({ tools, toolApproval });
  const { thread, status } = await agent.run('Book', await agent.thread('t'));
  if (status === 'waiting') return 'asks';
  return thread.calls[0]?.status === 'succeeded' && world.ran.length === 1 ? 'runs' : 'denied';
}

describe.each([
  ['for the tool', (rule: unknown) => ({ book: rule })],
  ['as one function', (rule: unknown) => (typeof rule === 'function' ? rule : () => rule)],
])('a rule %s', (_form, given) => {
  test.each(pickCases(rules, 3))('%s', async (_name, rule, unmarked, marked) => {
    expect(await verdict(undefined, given(rule))).toBe(unmarked);
    expect(await verdict(false, given(rule))).toBe(unmarked);
    expect(await verdict(true, given(rule))).toBe(marked);
  });
});

test('a rule that a getter gives is a rule: bundlers make getters of the exports of a module', async () => {
  const getter = { enumerable: true, get: () => 'user-approval' };
  expect(await verdict(undefined, Object.defineProperty({}, 'book', getter))).toBe('asks');
  expect(await verdict(undefined, Object.defineProperty({}, 'book', { get: throws }))).toBe('asks');
});

test.each([
  ['true', () => true, 'asks'],
  ['false', () => false, 'runs'],
  ['a promise of true', async () => true, 'asks'],
  ['a promise of false', async () => false, 'runs'],
  ['false, as a promise and no function', Promise.resolve(false), 'runs'],
  ['nothing', () => undefined, 'asks'],
  ['0, as no function', 0, 'asks'],
  ['an error', throws, 'asks'],
])("a tool's needsApproval that gives %s", async (_what, needsApproval, expected) => {
  expect(await verdict(needsApproval, undefined)).toBe(expected);
});

test('rules get the input, the call, the messages, and contexts as in the AI SDK', async () => {
  const seen: unknown[] = [];
  const world = memoryWorld([{ calls: [book('c1', 'Paris')] }, { text: 'Done.' }]);
  const messages = [{ role: 'user', content: 'Book' }];
  const runtimeContext = { tenant: 'acme' };
  const perTool = world.agent({
    toolApproval: {
      book: (input: unknown, options: unknown) => {
        seen.push(input, options);
        return 'denied';
      },
    },
  });
  await perTool.run('Book', await perTool.thread('one'), { runtimeContext });
  expect(seen).toMatchObject([{ city: 'Paris' }, { toolCallId: 'c1', messages, runtimeContext }]);

  const forAll = memoryWorld([{ calls: [book('c1', 'Paris')] }, { text: 'Done.' }]).agent({
    toolApproval: (options) => {
      seen.push(options);
      return 'denied';
    },
  });
  await forAll.run('Book', await forAll.thread('other'), { runtimeContext });
  expect(seen[2]).toMatchObject({
    toolCall: { type: 'tool-call', toolCallId: 'c1', toolName: 'book', input: { city: 'Paris' } },
    messages,
    runtimeContext,
  });
});

test('a rule sees the earlier calls of its step, as proposed, and neither its own nor later ones', async () => {
  const cities = [book('c1', 'Paris'), book('c2', 'Rome'), book('c3', 'Oslo')];
  const world = memoryWorld([{ calls: cities }, { text: 'Done.' }]);
  const seen = new Map<string, unknown>();
  const agent = world.agent({
    toolApproval: {
      book: (_input, { toolCallId, calls }) => {
        seen.set(
          toolCallId,
          calls.map((call) => `${call.toolCallId} ${call.status}`),
        );
        return 'approved';
      },
    },
  });
  await agent.run('Book', await agent.thread('t'));
  expect(Object.fromEntries(seen)).toEqual({
    c1: [],
    c2: ['c1 proposed'],
    c3: ['c1 proposed', 'c2 proposed'],
  });
});

test('an input that the app changes while its rule is asked is approved and runs as it was recorded', async () => {
  const world = memoryWorld([{ calls: [book('c1', 'Paris')] }, { text: 'Done.' }]);
  const made: { city: string }[] = [];
  const validate = () => {
    const value = { city: 'Paris' };
    made.push(value);
    return { success: true, value } as const;
  };
  const inputSchema = jsonSchema<{ city: string }>({ type: 'object' }, { validate });
  const ran: string[] = [];
  const agent = world.agent({
    tools: { book: tool({ inputSchema, execute: ({ city }) => ran.push(city) }) },
    toolApproval: {
      book: async () => {
        for (const value of made) value.city = 'Rome';
        return 'user-approval' as const;
      },
    },
  });
  const { approvalRequests, thread } = await agent.run('Book', await agent.thread('t'));
  const answers = approvalRequests.map((request) => request.approve());
  expect(await agent.run(answers, thread)).toMatchObject({ status: 'completed' });
  expect(ran).toEqual(['Paris']);
});

/** An agent whose schema always returns the same object, which its rule changes from Paris to Rome. */
function keepingAgent(status: 'user-approval' | 'approved') {
  const world = memoryWorld([{ calls: [book('c1', 'Paris')] }, { text: 'Done.' }]);
  const kept = { city: 'Paris' };
  const validate = () => ({ success: true, value: kept }) as const;
  const inputSchema = jsonSchema<typeof kept>({ type: 'object' }, { validate });
  const ran: string[] = [];
  const agent = world.agent({
    tools: { book: tool({ inputSchema, execute: ({ city }) => ran.push(city) }) },
    toolApproval: {
      book: async () => {
        kept.city = 'Rome';
        return status;
      },
    },
  });
  return { agent, ran };
}

test('an input that the app changes for good while its rule is asked is asked about again', async () => {
  const { agent, ran } = keepingAgent('user-approval');
  const { approvalRequests, thread } = await agent.run('Book', await agent.thread('t'));
  const answers = approvalRequests.map((request) => request.approve());
  expect(approvalRequests[0]?.toolCall?.input).toEqual({ city: 'Paris' });
  expect(await agent.run(answers, thread)).toMatchObject({ status: 'waiting' });
  expect(thread.activeApprovalRequests[0]?.toolCall?.input).toEqual({ city: 'Rome' });
  expect(ran).toEqual([]);
});

test('an unasked input that the app changes while its rule is asked runs as it was recorded', async () => {
  const { agent, ran } = keepingAgent('approved');
  await agent.run('Book', await agent.thread('t'));
  expect(ran).toEqual(['Paris']);
});

test('a rule that edits its input does not edit what is shown and what runs', async () => {
  const world = memoryWorld([{ calls: [book('c1', 'Paris')] }, { text: 'Done.' }]);
  const agent = world.agent({
    toolApproval: {
      book: (input: unknown) => {
        Object(input).city = 'Rome';
        return 'user-approval';
      },
    },
  });
  const waiting = await agent.run('Book', await agent.thread('t'));
  expect(waiting.approvalRequests[0]?.toolCall?.input).toEqual({ city: 'Paris' });
  await agent.run(
    waiting.approvalRequests.map((request) => request.approve()),
    waiting.thread,
  );
  expect(world.ran).toMatchObject([{ input: { city: 'Paris' } }]);
});

test('a rule may say what to ask, why, and for how long', async () => {
  const world = memoryWorld([{ calls: [book('c1', 'Paris')] }]);
  const agent = world.agent({
    now: () => 1_000,
    toolApproval: {
      book: () => ({
        type: 'user-approval',
        text: 'Book it?',
        reason: 'costs money',
        expiresAfterMs: 500,
      }),
    },
  });
  const { approvalRequests } = await agent.run('Book', await agent.thread('t'));
  expect(approvalRequests).toMatchObject([
    { text: 'Book it?', reason: 'costs money', createdAt: 1_000, expiresAt: 1_500 },
  ]);
});

describe('a TypeError at construction (S3-39):', () => {
  const model = scriptedModel([]).model;
  const { book: bookTool } = travelTools([]);
  const atProvider = tool({
    type: 'provider',
    isProviderExecuted: true,
    id: 'acme.search',
    args: {},
    inputSchema: jsonSchema({ type: 'object' }),
    outputSchema: z.unknown(),
  });
  const wrong: [string, ToolSet, Rule][] = [
    [
      'a rule for a name that is no tool',
      { book: bookTool },
      JSON.parse('{"bok":"user-approval"}'),
    ],
    ['a rule for a name every object has', { book: bookTool }, JSON.parse('{"toString":"denied"}')],
    [
      'a rule for a tool that runs at the provider',
      { search: atProvider },
      { search: 'user-approval' },
    ],
    [
      'a mark on a tool that runs at the provider',
      { search: { ...atProvider, needsApproval: true } },
      {},
    ],
  ];
  test.each(pickCases(wrong, 3))('%s', (_what, tools, toolApproval) => {
    expect(() => createAgent({ model, tools, toolApproval })).toThrow(TypeError);
  });
});

test('rules where no call would meet them are a TypeError: one status for all, methods of a class', () => {
  class Rules {
    book() {
      return 'user-approval';
    }
  }
  const { model } = scriptedModel([]);
  const tools = { book: travelTools([]).book };
  for (const toolApproval of ['user-approval', new Rules(), new Map(), ['denied'], true]) {
    // @ts-expect-error -- not all of these are rules to the compiler.
    expect(() => createAgent({ model, tools, toolApproval })).toThrow(TypeError);
  }
});

test.each(['constructor', '__proto__', 'toString', 'hasOwnProperty'])(
  'a tool named %s is asked about and runs as any other',
  async (name) => {
    const world = memoryWorld([
      { calls: [{ id: 'c1', name, input: { city: 'Paris' } }] },
      { text: 'Done.' },
    ]);
    const tools: ToolSet = Object.fromEntries([[name, travelTools(world.ran).book]]);
    const agent = world.agent({
      tools,
      toolApproval: Object.fromEntries([[name, 'user-approval']]),
    });
    const waiting = await agent.run('Go', await agent.thread('t'));
    expect(world.ran).toEqual([]);
    expect(waiting.approvalRequests).toMatchObject([{ toolCall: { toolName: name } }]);
    const response = await agent.run(
      waiting.approvalRequests.map((request) => request.approve()),
      waiting.thread,
    );
    expect(response).toMatchObject({ status: 'completed', text: 'Done.' });
    expect(world.ran).toHaveLength(1);
  },
);

test.each(['constructor', '__proto__', 'toString'])(
  'a call of %s, which is no tool, fails',
  async (name) => {
    const world = memoryWorld([{ calls: [{ id: 'c1', name, input: {} }] }, { text: 'Done.' }]);
    const agent = world.agent();
    const response = await agent.run('Go', await agent.thread('t'));
    expect(response.thread.calls).toMatchObject([{ status: 'failed' }]);
  },
);
