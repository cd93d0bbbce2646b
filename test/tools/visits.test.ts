/* The client of a gate: that of `@ai-sdk/mcp` takes no elicitation in URL mode. */
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import { Server as OldServer } from '@modelcontextprotocol/sdk/server/index.js';
import { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { createMcpHandler, inputRequired, Server } from '@modelcontextprotocol/server';
import { tool } from 'ai';
import { type Agent, createAgent, lookAlikeWarnings, type ToolRunOptions } from 'holdpoint';
import { scriptedModel } from 'holdpoint/testing';
import { receiveAnswers } from 'holdpoint/tools';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { Elicitations } from '../../src/tools/ask-elicitations.ts';

const listed = { tools: [{ name: 'sign', inputSchema: { type: 'object' as const } }] };
const message = 'Sign in.';
const names = { name: 'desk', version: '1' };

function makeResult(answer: unknown) {
  return { content: [{ type: 'text' as const, text: JSON.stringify(answer) }] };
}

async function connectOld(client: Client, url: string): Promise<void> {
  const server = new OldServer(names, { capabilities: { tools: {} } });
  server.setRequestHandler(ListToolsRequestSchema, () => listed);
  server.setRequestHandler(CallToolRequestSchema, async () => {
    const params = { mode: 'url' as const, message, url, elicitationId: 'e1' };
    return makeResult(
      await server.elicitInput(params).catch((error: unknown) => ({ refused: String(error) })),
    );
  });
  const [mine, theirs] = InMemoryTransport.createLinkedPair();
  await server.connect(mine);
  await client.connect(theirs);
}

async function connectNew(client: Client, url: string): Promise<void> {
  const handler = createMcpHandler(() => {
    const server = new Server(names, { capabilities: { tools: {} } });
    server.setRequestHandler('tools/list', () => listed);
    server.setRequestHandler('tools/call', (_request, { mcpReq }) => {
      const answer = mcpReq.inputResponses?.['page'];
      if (answer !== undefined) return makeResult(answer);
      const page = inputRequired.elicitUrl({ message, url });
      return inputRequired({ inputRequests: { page } });
    });
    return server;
  });
  await client.connect(
    new StreamableHTTPClientTransport(new URL('http://desk.example/mcp'), {
      fetch: async (to, init) => handler.fetch(new Request(to, init)),
    }),
  );
}

const eras = { 'an older protocol': connectOld, 'protocol 2026-07-28': connectNew };

/** An agent whose only call is sent to a server that sends people to this address. */
async function openDesk(connect: typeof connectOld, url: string) {
  const client = new Client(names, {
    capabilities: { elicitation: { form: {}, url: {} } },
    versionNegotiation: { mode: 'auto' },
  });
  const elicitations = new Elicitations(() => agent);
  const running = new AbortController();
  client.setRequestHandler('elicitation/create', async ({ params }) => ({
    ...(await elicitations.ask({
      call: { threadId: 't', toolCallId: 'c1' },
      params,
      server: 'desk',
      signal: running.signal,
    })),
  }));
  await connect(client, url);
  const sign = tool({
    inputSchema: z.object({}),
    execute: async (_input, _call: ToolRunOptions): Promise<unknown> => {
      try {
        return await client.callTool({ name: 'sign', arguments: {} });
      } finally {
        running.abort();
      }
    },
  });
  const { model } = scriptedModel([
    { calls: [{ id: 'c1', name: 'sign', input: {} }] },
    { text: 'Done.' },
  ]);
  const agent: Agent = createAgent({
    model,
    tools: { sign: receiveAnswers(sign, elicitations.receiver) },
  });
  const run = agent.run('Sign in', await agent.thread('t'));
  const readQuestion = async () => {
    const thread = await agent.thread('t');
    const [question] = thread.activeRequests;
    return { thread, question: question?.type === 'question-request' ? question : undefined };
  };
  return { agent, run, readQuestion };
}

test.each(Object.entries(eras))(
  'a server of %s sends people to an address, which is shown and accepted once they say so',
  async (_era, connect) => {
    const url = 'https://b\u0430nk.example/sign?in=1';
    const { agent, run, readQuestion } = await openDesk(connect, url);
    await expect
      .poll(async () => (await readQuestion()).question?.text ?? '')
      .toContain('desk asks');
    const { thread, question } = await readQuestion();
    if (question === undefined) throw new Error('Nothing is asked.');
    expect(question.text).toMatch(/Host: xn--[\w-]+\.example\n/);
    expect(question.fields).toMatchObject([{ options: [{ id: 'accept' }, { id: 'decline' }] }]);
    expect(question.text).toContain(`Address: ${url}`);
    expect(lookAlikeWarnings(question).join(' ')).toContain('Cyrillic');
    await agent.respond(question.answer('accept'), thread);
    const { thread: after } = await run;
    expect(JSON.stringify(after.calls[0]?.outcome)).toContain('accept');
  },
);

test.each([
  'http://bank.example',
  'http://127.0.0.1.example',
  'javascript:alert(1)',
  'https://bank.example@evil.example/',
  'https://bank.example/\u202e',
])('nobody is sent to %j', async (url) => {
  const { agent } = await openDesk(connectOld, url);
  const readOutcome = async () => (await agent.thread('t')).calls[0]?.outcome ?? 'none';
  await expect
    .poll(async () => JSON.stringify(await readOutcome()))
    .toMatch(/refused.*url (?:is|must)/);
  const thread = await agent.thread('t');
  expect(thread.events.some(({ type }) => type === 'request-opened')).toBe(false);
});
