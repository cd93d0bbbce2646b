import {
  generateText,
  jsonSchema,
  tool,
  type ToolApprovalConfiguration,
  type ToolApprovalStatus as AiStatus,
  ToolLoopAgent,
  type ToolSet,
} from 'ai';
import {
  createAgent,
  type ToolApproval,
  type ToolApprovalStatus,
  type UserApproval,
} from 'holdpoint';
import { createCustomAgent } from 'holdpoint/custom-agent';
import { holdPoint } from 'holdpoint/middleware';
import { scriptedModel } from 'holdpoint/testing';
import { expect, test, vi } from 'vitest';
import { z } from 'zod';

const { model } = scriptedModel([]);
const pay = tool({ inputSchema: z.object({ cents: z.number(), note: z.string().optional() }) });
const look = tool({ inputSchema: z.object({ page: z.string() }) });
const tools = { pay, look };
const step = () => ({ text: 'Done.' });

type Tools = typeof tools;

const forAll: ToolApprovalConfiguration<Tools, Record<string, unknown>> = ({ toolCall }) =>
  toolCall.toolName === 'pay' ? { type: 'user-approval', reason: 'It costs.' } : 'approved';

/* Each of these lines is checked by the compiler; that the agents can be made is checked here. */
test('rules that are written for the AI SDK can be given to an agent, typed or not', () => {
  const status: AiStatus = 'user-approval';
  const forTools: ToolApprovalConfiguration<Tools, Record<string, unknown>> = { pay: status };
  const inline = { pay: async () => ({ type: 'denied', reason: 'No.' }) as const };
  for (const toolApproval of [forTools, forAll, inline]) {
    /* The AI SDK's own loops take the same values. */
    expect(new ToolLoopAgent({ model, tools, toolApproval })).toBeDefined();
    expect(generateText<Tools, Record<string, unknown>>).toBeTypeOf('function');
    expect(createAgent({ model, tools, toolApproval })).toBeDefined();
  }
  createAgent({ model, tools, toolApproval: forTools });
  createAgent({ model, tools, toolApproval: forAll });
});

test('correct rules compile in each form that they may have', () => {
  const terms: UserApproval = { type: 'user-approval', quorum: 2, editable: ['cents'] };
  const typed: ToolApproval<Tools, Record<string, unknown>> = { pay: terms };
  const names: string[] = ['cents'];
  const some: ToolApprovalStatus = Date.now() > 0 ? terms : 'approved';
  const ofAnyTools: ToolSet = { ...tools };
  const isSafe: boolean = Date.now() < 0;
  const agents = [
    createAgent({ model, tools, toolApproval: typed }),
    createAgent({ model, tools, toolApproval: { pay: some, look: undefined } }),
    createAgent({ model, tools, toolApproval: { pay: () => undefined } }),
    createAgent({ model, tools, toolApproval: { pay: async () => undefined } }),
    createAgent({ model, tools, toolApproval: { pay: () => JSON.parse('"denied"') } }),
    createAgent({
      model,
      tools,
      toolApproval: ({ toolCall }) => {
        if (toolCall.toolName === 'pay') return 'user-approval';
        return undefined;
      },
    }),
    createAgent({
      model,
      tools,
      toolApproval: {
        pay: () => {
          throw new Error('Not yet.');
        },
      },
    }),
    createAgent({ model, tools: ofAnyTools, toolApproval: { look: () => terms } }),
    createAgent({ model, tools, toolApproval: isSafe ? {} : { pay: 'user-approval' } }),
    createAgent({ model, tools, toolApproval: isSafe ? () => 'approved' : { pay: terms } }),
    createAgent({
      model,
      tools,
      toolApproval: {
        pay: ({ cents }, { calls, requesters }) =>
          cents > 5 && calls.length + requesters.length > 1
            ? {
                type: 'user-approval',
                text: (input) => `Pay ${input.cents}?`,
                editable: ['note', 'cents'],
                remember: { scope: 'thread', match: ['cents'], uses: 2 },
                onExpiry: { type: 'escalate', approvers: ['boss'], quorum: 2, expiresAfterMs: 5 },
              }
            : { type: 'approved', reason: 'It is little.' },
        look: () => ({ type: 'user-approval', editable: names, onExpiry: 'wait' }),
      },
    }),
    createAgent({
      model,
      tools,
      toolApproval: async ({ toolCall }) =>
        toolCall.toolName === 'look' ? 'approved' : { type: 'user-approval', editable: ['cents'] },
    }),
    createAgent({
      model,
      tools: { raw: tool({ inputSchema: jsonSchema({ type: 'object' }) }) },
      toolApproval: { raw: { type: 'user-approval', editable: ['anything'] } },
    }),
    createCustomAgent({ step, tools, toolApproval: { pay: () => terms } }),
  ];
  expect(agents).toHaveLength(14);
  expect(holdPoint({ tools, toolApproval: { pay: () => terms } })).toBeDefined();
});

test('a name that a rule does not have is a type error, also in what a function returns', () => {
  const make = vi.fn<() => unknown[]>(() => [
    // @ts-expect-error -- in a function for all tools
    createAgent({ model, tools, toolApproval: () => ({ type: 'user-approval', quorom: 2 }) }),
    createAgent({
      model,
      tools,
      toolApproval: {
        // @ts-expect-error -- no such setting, in a function
        pay: () => ({ type: 'user-approval', quorom: 2 }),
      },
    }),
    createAgent({
      model,
      tools,
      toolApproval: {
        // @ts-expect-error -- in one that is async
        pay: async () => ({ type: 'user-approval', quorom: 2 }),
      },
    }),
    createAgent({
      model,
      tools,
      toolApproval: {
        // @ts-expect-error -- in one of two ends
        pay: ({ cents }) => (cents > 1 ? { type: 'user-approval', quorom: 2 } : 'approved'),
      },
    }),
    createCustomAgent({
      step,
      tools,
      toolApproval: {
        // @ts-expect-error -- in a custom agent
        pay: () => ({ type: 'user-approval', quorom: 2 }),
      },
    }),
    holdPoint({
      tools,
      toolApproval: {
        // @ts-expect-error -- behind a model of one's own
        pay: () => ({ type: 'user-approval', quorom: 2 }),
      },
    }),
    createAgent({
      model,
      tools,
      toolApproval: {
        // @ts-expect-error -- no such field
        pay: () => ({ type: 'user-approval', editable: ['cent'] }),
      },
    }),
    createAgent({
      model,
      tools,
      toolApproval: {
        // @ts-expect-error -- a field of another tool
        pay: { type: 'user-approval', editable: ['page'] },
      },
    }),
    createAgent({
      model,
      tools,
      toolApproval: {
        // @ts-expect-error -- no such field to match
        pay: () => ({ type: 'user-approval', remember: { match: ['cent'] } }),
      },
    }),
    createAgent({
      model,
      tools,
      toolApproval: {
        // @ts-expect-error -- no such setting of remember
        pay: () => ({ type: 'user-approval', remember: { scop: 'thread' } }),
      },
    }),
    createAgent({
      model,
      tools,
      toolApproval: {
        // @ts-expect-error -- no such setting of onExpiry
        pay: () => ({ type: 'user-approval', onExpiry: { type: 'ask-again', after: 1 } }),
      },
    }),
    createAgent({
      model,
      tools,
      toolApproval: {
        // @ts-expect-error -- only user-approval has more than a reason
        pay: () => ({ type: 'denied', raison: 'No.' }),
      },
    }),
    createAgent({
      model,
      tools,
      toolApproval: {
        // @ts-expect-error -- no such status
        pay: () => 'aproved',
      },
    }),
    createAgent({
      model,
      tools,
      toolApproval: {
        // @ts-expect-error -- no such tool
        pya: 'user-approval',
      },
    }),
  ]);
  expect(make).not.toHaveBeenCalled();
});
