import { tool } from 'ai';
import type { Agent, ToolCall, ToolCallRecord } from 'holdpoint';
import {
  answersOf,
  choice,
  confirmation,
  createCustomAgent,
  type CustomStepInput,
  textQuestion,
} from 'holdpoint/custom-agent';
import { expect, expectTypeOf, test } from 'vitest';
import { z } from 'zod';
import type { RequestDecision } from '../../src/content/user-input.ts';

const tools = {
  book: tool({ inputSchema: z.object({ city: z.string() }), execute: ({ city }) => city }),
  pay: tool({ inputSchema: z.object({ cents: z.number() }), execute: ({ cents }) => cents }),
};
type Call = ToolCall<typeof tools>;

test('without a schema, tools or a context: progress is unknown, and the agent is an Agent', async () => {
  const agent = createCustomAgent({
    step: (input) => {
      expectTypeOf(input).toEqualTypeOf<CustomStepInput>();
      expectTypeOf(input.progress).toBeUnknown();
      expectTypeOf(input.decisions).toEqualTypeOf<ReadonlyMap<string, RequestDecision>>();
      return { text: 'Done.' };
    },
  });
  expectTypeOf(agent).toEqualTypeOf<Agent>();
  expect((await agent.run('Go', await agent.thread('t'))).text).toBe('Done.');
});

test('progress has the type of its schema, calls those of their tools, in and out, without a type argument', async () => {
  const agent = createCustomAgent({
    tools,
    progressSchema: z.object({ paid: z.boolean() }),
    step: async ({ progress, toolCalls }) => {
      expectTypeOf(progress).toEqualTypeOf<{ paid: boolean } | undefined>();
      expectTypeOf(toolCalls).toEqualTypeOf<readonly ToolCallRecord<Call>[]>();
      const [call] = toolCalls;
      if (call?.status === 'succeeded' && call.toolName === 'pay') {
        expectTypeOf(call.input).toEqualTypeOf<{ cents: number }>();
      }
      if (progress === undefined) {
        return {
          progress: { paid: false },
          toolCalls: [{ toolName: 'pay', input: { cents: 100 } }],
        };
      }
      return { text: `Paid by ${call?.toolName}.` };
    },
  });
  expectTypeOf(agent).toEqualTypeOf<Agent<Record<string, unknown>, Call>>();
  expectTypeOf(agent).toExtend<Agent>();
  expect((await agent.run('Go', await agent.thread('t'))).text).toBe('Paid by pay.');
});

test('what a step returns is checked against the schema and the tools', () => {
  createCustomAgent({
    progressSchema: z.object({ paid: z.boolean() }),
    // @ts-expect-error the progress is not what the schema says
    step: () => ({ progress: { paid: 'yes' } }),
  });
  createCustomAgent({
    tools,
    // @ts-expect-error the input is another tool's
    step: () => ({ toolCalls: [{ toolName: 'pay', input: { city: 'Paris' } }] }),
  });
  createCustomAgent({
    // @ts-expect-error a request has a type
    step: () => ({ requests: { go: { text: 'Go on?' } } }),
  });
});

test('the context of a run is that of toolApproval', async () => {
  const agent = createCustomAgent<unknown, typeof tools, { tenant: string }>({
    tools,
    step: ({ runtimeContext }) => {
      expectTypeOf(runtimeContext).toEqualTypeOf<{ tenant: string }>();
      return { text: `of ${runtimeContext.tenant}` };
    },
  });
  const thread = await agent.thread('t');
  expect((await agent.run('Go', thread, { runtimeContext: { tenant: 'acme' } })).text).toBe(
    'of acme',
  );
  // @ts-expect-error the context is another
  await agent.run('Go', thread, { runtimeContext: { tenant: 7 } });
});

test('a question is one line, and so is its answer', async () => {
  const agent = createCustomAgent({
    step: ({ input, decisions }) => {
      if (input.length > 0) {
        return {
          requests: {
            sure: confirmation('Are you sure?'),
            tone: choice('Which tone?', ['Formal', 'Friendly']),
            topics: choice('Which topics?', ['News', { id: 'tips', label: 'Tips' }], { max: 2 }),
            name: choice('Which name?', ['Ada'], { allowText: true }),
            note: textQuestion('Anything else?'),
            gone: confirmation('Still there?', { expiresAfterMs: 60_000 }),
          },
        };
      }
      const answers = [...decisions].map(([key, decision]) => [key, answersOf(decision)] as const);
      return { text: JSON.stringify(Object.fromEntries(answers)) };
    },
  });
  const thread = await agent.thread('t');
  const { userInputRequests } = await agent.run('Go', thread);
  const given = new Map([
    ['sure', { optionIds: ['yes'] }],
    ['tone', { optionIds: ['Friendly'] }],
    ['topics', { optionIds: ['News', 'tips'] }],
    ['name', { optionIds: [], text: 'Grace' }],
    ['note', { optionIds: [], text: 'No.' }],
  ]);
  const responses = userInputRequests.map(({ requestId, key = '' }) => {
    const answer = given.get(key);
    const response = { type: 'question-response', requestId } as const;
    return answer === undefined
      ? { ...response, status: 'dismissed' as const }
      : { ...response, status: 'answered' as const, answers: [{ key: 'answer', ...answer }] };
  });
  const response = await agent.run(responses, thread);
  expect(JSON.parse(response.text)).toEqual({
    sure: ['yes'],
    tone: ['Friendly'],
    topics: ['News', 'tips'],
    name: ['Grace'],
    note: ['No.'],
    gone: [],
  });
  expect(thread.decisions.map(({ status }) => status)).toEqual([
    ...Array.from({ length: 5 }, () => 'answered'),
    'dismissed',
  ]);
  expect(answersOf(undefined)).toEqual([]);
});
