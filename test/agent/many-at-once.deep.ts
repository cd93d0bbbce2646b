import { tool } from 'ai';
import { type AgentOptions, approve, createAgent, memoryStore } from 'holdpoint';
import { createAgUiHandler } from 'holdpoint/ag-ui';
import { createInboxHandler } from 'holdpoint/inbox';
import { scriptedModel } from 'holdpoint/testing';
import { questionTool } from 'holdpoint/tools';
import { createUiHandler, toUIMessages } from 'holdpoint/ui';
import { expect, test, vi } from 'vitest';
import { z } from 'zod';
import { findSteepBlocks } from '../support/counted-work.ts';
import { pickCases } from '../support/sampling.ts';

const origin = 'http://many.test';
const person = { principal: 'ben' };

/** An agent whose model pays `count` times in one step, after an approval each. */
async function payMany(count: number, options: Partial<AgentOptions> = {}) {
  const calls = Array.from({ length: count }, (_each, index) => ({
    id: `c${index}`,
    name: 'pay',
    input: { to: `x${index}` },
  }));
  const agent = createAgent({
    model: scriptedModel([{ calls }, { text: 'Done.' }]).model,
    name: 'office',
    store: memoryStore(),
    tools: {
      pay: tool({ inputSchema: z.object({ to: z.string() }), execute: async () => 'Paid.' }),
    },
    toolApproval: { pay: 'user-approval' },
    mayAnswer: () => true,
    ...options,
  });
  const thread = await agent.thread('t');
  const ask = async () => agent.run('Pay.', thread, { principal: 'ann' });
  return { agent, thread, ask };
}

const option = (id: string) => ({ id, label: id });

/** An agent that asks for `count` options, or for `count` fields. */
async function askMany(count: number, fields: 'one field' | 'many fields') {
  const numbers = Array.from({ length: count }, (_each, index) => `o${index}`);
  const field = { label: 'Which?', min: 0, max: count, freeText: 'never' } as const;
  const form =
    fields === 'one field'
      ? [{ ...field, key: 'f', options: numbers.map(option), preselected: numbers }]
      : numbers.map((key) => ({
          ...field,
          key,
          options: [{ ...option('a'), declines: true }, option('b')],
        }));
  const ask = questionTool({
    description: 'Asks.',
    inputSchema: z.object({}),
    toQuestion: () => ({ kind: 'form', text: 'Which?', fields: form, allowDismiss: true }),
    toResult: () => ({ status: 'succeeded', output: 'Thanks.' }),
  });
  const { model } = scriptedModel([
    { calls: [{ id: 'c', name: 'ask', input: {} }] },
    { text: 'Done.' },
  ]);
  const agent = createAgent({ model, store: memoryStore(), tools: { ask } });
  const thread = await agent.thread('t');
  return { agent, thread, numbers, ask: async () => agent.run('Ask.', thread) };
}

function post(body: object): Request {
  const headers = { 'content-type': 'application/json' };
  return new Request(`${origin}/chat`, { method: 'POST', headers, body: JSON.stringify(body) });
}

async function read(response: Promise<Response>): Promise<string> {
  const { status, body } = await response;
  expect(status).toBe(200);
  return new Response(body).text();
}

const agUi = { threadId: 't', runId: 'r', protocolVersion: '1.0' };
const nothingMore = { messages: [], tools: [], context: [] };

/** What is done with many things at once, once `make` has prepared them. */
const work: Record<string, (count: number) => Promise<() => Promise<unknown>>> = {
  'run approved calls': async (count) =>
    (await payMany(count, { toolApproval: () => 'approved' })).ask,
  'say what a person may do with each request': async (count) => {
    const { agent, thread, ask } = await payMany(count);
    await ask();
    return async () => agent.rights(thread, person);
  },
  'load a page': async (count) => {
    const { agent, ask } = await payMany(count);
    await ask();
    const handler = createUiHandler({ agent, authorize: () => person });
    return async () => read(handler(new Request(`${origin}/chat?id=t`)));
  },
  'load a page of rejected calls': async (count) => {
    const { agent, thread, ask } = await payMany(count);
    const { approvalRequests } = await ask();
    await agent.run(
      approvalRequests.map((request) => request.reject('No.')),
      thread,
      person,
    );
    const handler = createUiHandler({ agent, authorize: () => person });
    return async () => read(handler(new Request(`${origin}/chat?id=t`)));
  },
  'stream a run to a page': async (count) => {
    const { agent } = await payMany(count);
    const handler = createUiHandler({ agent, authorize: () => person });
    const message = { id: 'm', role: 'user', parts: [{ type: 'text', text: 'Pay.' }] };
    return async () => read(handler(post({ id: 't', message })));
  },
  'answer all on a page': async (count) => {
    const { agent, ask } = await payMany(count);
    const answers = (await ask()).approvalRequests.map((request) => approve(request));
    const handler = createUiHandler({ agent, authorize: () => person });
    return async () => read(handler(post({ id: 't', answers })));
  },
  'open an AG-UI client': async (count) => {
    const { agent, ask } = await payMany(count);
    await ask();
    const handler = createAgUiHandler({ agent, authorize: () => person, keepAliveMs: 0 });
    return async () => read(handler(post({ ...agUi, ...nothingMore })));
  },
  'approve all': async (count) => {
    const { agent, thread, ask } = await payMany(count);
    const { approvalRequests } = await ask();
    return async () =>
      agent.run(
        approvalRequests.map((request) => request.approve()),
        thread,
        person,
      );
  },
  'reject all': async (count) => {
    const { agent, thread, ask } = await payMany(count);
    const { approvalRequests } = await ask();
    return async () =>
      agent.run(
        approvalRequests.map((request) => request.reject('No.')),
        thread,
        person,
      );
  },
  'resume all that a stop holds': async (count) => {
    const { agent, thread, ask } = await payMany(count);
    const { approvalRequests } = await ask();
    await agent.respond(
      approvalRequests.map((request) => request.approve()),
      thread,
      person,
    );
    await agent.stop(thread, person);
    return async () => agent.run([], thread, { ...person, resumeStopped: true });
  },
  'answer all of an AG-UI client': async (count) => {
    const { agent, ask } = await payMany(count);
    const resume = (await ask()).approvalRequests.map(({ requestId }) => ({
      interruptId: requestId,
      status: 'resolved',
      payload: { approved: true },
    }));
    const handler = createAgUiHandler({ agent, authorize: () => person, keepAliveMs: 0 });
    return async () => read(handler(post({ ...agUi, ...nothingMore, resume })));
  },
  'answer all in the parts of a message': async (count) => {
    const { agent, thread, ask } = await payMany(count);
    await ask();
    const shown = (await toUIMessages(thread)).at(-1);
    const parts = shown?.parts.map((part) =>
      'approval' in part && part.approval !== undefined
        ? { ...part, state: 'approval-responded', approval: { ...part.approval, approved: true } }
        : part,
    );
    const handler = createUiHandler({ agent, authorize: () => person });
    return async () => read(handler(post({ id: 't', message: { ...shown, parts } })));
  },
  'list the requests of an inbox': async (count) => {
    const { agent, ask } = await payMany(count);
    await ask();
    const handler = createInboxHandler({ agents: [agent], authorize: () => person });
    return async () => read(handler(new Request(`${origin}/inbox/api/requests`)));
  },
  'cancel all': async (count) => {
    const { agent, thread, ask } = await payMany(count);
    await ask();
    return async () => agent.run('Stop.', thread, { ...person, whilePending: 'cancel' });
  },
  'answer with all options': async (count) => {
    const { agent, thread, numbers, ask } = await askMany(count, 'one field');
    const [question] = (await ask()).userInputRequests;
    if (question?.type !== 'question-request') throw new Error('Nothing was asked.');
    return async () => agent.run(question.answer(numbers), thread);
  },
  'ask for many options': async (count) => (await askMany(count, 'one field')).ask,
  'answer many fields': async (count) => {
    const { agent, thread, numbers, ask } = await askMany(count, 'many fields');
    const [question] = (await ask()).userInputRequests;
    if (question?.type !== 'question-request') throw new Error('Nothing was asked.');
    return async () =>
      agent.run(question.answer(Object.fromEntries(numbers.map((key) => [key, 'b']))), thread);
  },
  'list a request with many secrets': async (count) => {
    const pin = z.string().meta({ format: 'password' });
    const pins = Object.fromEntries(Array.from({ length: count }, (_each, at) => [`p${at}`, pin]));
    const input = Object.fromEntries(Object.keys(pins).map((name) => [name, `secret of ${name}`]));
    const pay = tool({ inputSchema: z.object(pins), execute: async () => 'Paid.' });
    const { agent, thread } = await payMany(0, {
      model: scriptedModel([{ calls: [{ id: 'c', name: 'pay', input }] }]).model,
      tools: { pay },
    });
    await agent.run('Pay.', thread);
    const handler = createInboxHandler({ agents: [agent], authorize: () => person });
    return async () => {
      const text = await read(handler(new Request(`${origin}/inbox/api/requests`)));
      expect(text).toContain('••••••');
      expect(text).not.toContain('secret of');
    };
  },
};

test.each(pickCases(Object.entries(work), 3))(
  'for four times as much, our code does about four times as much to %s',
  async (_name, make) => {
    expect(await findSteepBlocks(make)).toEqual([]);
  },
);

test('a page that loads copies each part of a turn a few times, not once for each part', async () => {
  const { thread, ask } = await payMany(100);
  await ask();
  const copy = vi.spyOn(globalThis, 'structuredClone');
  const [, reply] = await toUIMessages(thread);
  const copied = copy.mock.calls.map(([value]) => (isMessage(value) ? value.parts.length : 0));
  copy.mockRestore();
  expect(reply?.parts).toHaveLength(101);
  expect(copied.reduce((sum, parts) => sum + parts, 0)).toBeLessThan(1000);
});

function isMessage(value: unknown): value is { parts: readonly unknown[] } {
  return (
    typeof value === 'object' && value !== null && 'parts' in value && Array.isArray(value.parts)
  );
}
