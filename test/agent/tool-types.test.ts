import { tool } from 'ai';
import { type Agent, createAgent, type ToolCall } from 'holdpoint';
import { scriptedModel } from 'holdpoint/testing';
import { expect, expectTypeOf, test } from 'vitest';
import { z } from 'zod';

const tools = {
  book: tool({ inputSchema: z.object({ city: z.string() }), execute: ({ city }) => city }),
  pay: tool({ inputSchema: z.object({ cents: z.number() }), execute: ({ cents }) => cents }),
};
type Tools = typeof tools;

const played = () =>
  scriptedModel([
    {
      calls: [
        { id: 'c1', name: 'book', input: { city: 'Paris' } },
        { id: 'c2', name: 'pay', input: { cents: 'many' } },
      ],
    },
    { text: 'Done.' },
  ]).model;

test('a request and a call have the input of their tool', async () => {
  const agent = createAgent({ model: played(), tools, toolApproval: { book: 'user-approval' } });
  const { approvalRequests, thread } = await agent.run('Book', await agent.thread('t'));
  const [request] = approvalRequests;
  expectTypeOf(request?.toolCall).toEqualTypeOf<ToolCall<Tools> | undefined>();
  if (request?.toolCall?.toolName !== 'book') throw new Error('A request for book was expected.');
  expectTypeOf(request.toolCall.input).toEqualTypeOf<{ city: string }>();
  expect(request.toolCall.input.city).toBe('Paris');
  const [booking, payment] = thread.calls;
  if (booking?.status !== 'waiting' || booking.toolName !== 'book') throw new Error('It waits.');
  expectTypeOf(booking.input).toEqualTypeOf<{ city: string }>();
  if (payment?.status !== 'failed') throw new Error('A refused input was expected.');
  expectTypeOf(payment.input).toBeUnknown();
  expect(payment.input).toEqual({ cents: 'many' });
});

test('an agent of any tools is an Agent, and what it gives is of any tools', () => {
  const agent = createAgent({ model: played(), tools });
  const any: Agent = agent;
  expectTypeOf(agent).toEqualTypeOf<Agent<Record<string, unknown>, ToolCall<Tools>>>();
  expectTypeOf(agent).toExtend<Agent>();
  expectTypeOf(createAgent({ model: played() })).toEqualTypeOf<Agent>();
  expectTypeOf(any.run).returns.resolves.toHaveProperty('approvalRequests');
  expectTypeOf<ToolCall['input']>().toBeUnknown();
  expectTypeOf<ToolCall['toolName']>().toBeString();
});
