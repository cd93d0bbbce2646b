import { createMCPClient, ElicitationRequestSchema } from '@ai-sdk/mcp';
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import { Server as OldServer } from '@modelcontextprotocol/sdk/server/index.js';
import { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import {
  createMcpHandler,
  type ElicitRequestFormParams,
  inputRequired,
  Server,
} from '@modelcontextprotocol/server';
import { type Agent, createAgent, memoryStore } from 'holdpoint';
import { answerElicitations } from 'holdpoint/tools';
import { scriptedModel } from 'holdpoint/testing';

/** The parameters of an elicitation in form mode, which a test may get wrong. */
export type Form = ElicitRequestFormParams;

const listed = {
  tools: [{ name: 'book', description: 'Books.', inputSchema: { type: 'object' as const } }],
};

function makeResult(answer: unknown) {
  return { content: [{ type: 'text' as const, text: JSON.stringify(answer) }] };
}

const capabilities = { elicitation: { form: {}, url: {} } };

/** A server of protocol 2025-11-25, which asks by a request of its own. */
async function connectOld(form: Form) {
  const server = new OldServer(
    { name: 'desk', version: '1' },
    { capabilities: { tools: {} }, enforceStrictCapabilities: false },
  );
  server.setRequestHandler(ListToolsRequestSchema, () => listed);
  server.setRequestHandler(CallToolRequestSchema, async () => {
    try {
      return makeResult(await server.elicitInput(form));
    } catch (error) {
      return makeResult({ refused: String(error) });
    }
  });
  const [mine, theirs] = InMemoryTransport.createLinkedPair();
  await server.connect(mine);
  return createMCPClient({
    clientName: 'desk',
    capabilities,
    transport: theirs,
    protocolVersionDiscovery: false,
  });
}

/** A server of protocol 2026-07-28, whose call is made again with the answer. */
async function connectNew(form: Form) {
  const handler = createMcpHandler(() => {
    const server = new Server({ name: 'desk', version: '1' }, { capabilities: { tools: {} } });
    server.setRequestHandler('tools/list', () => listed);
    server.setRequestHandler('tools/call', (_request, { mcpReq }) => {
      const answer = mcpReq.inputResponses?.['ask'];
      if (answer !== undefined) return makeResult(answer);
      return inputRequired({ inputRequests: { ask: inputRequired.elicit(form) } });
    });
    return server;
  });
  return createMCPClient({
    clientName: 'desk',
    capabilities,
    transport: {
      type: 'http',
      url: 'http://desk.example/mcp',
      fetch: async (url, init) => handler.fetch(new Request(url, init)),
    },
  });
}

export const eras = { 'an older protocol': connectOld, 'protocol 2026-07-28': connectNew };

/** An agent whose model calls `book` this many times at once, on a real server that asks. */
export async function makeElicitedAgent(
  connect: (form: Form) => ReturnType<typeof connectOld>,
  form: Form,
  { calls = 1, now = Date.now }: { calls?: number; now?: () => number } = {},
): Promise<Agent> {
  const client = await connect(form);
  const tools = answerElicitations(client, {
    schema: ElicitationRequestSchema,
    tools: await client.tools(),
    agent: () => agent,
  });
  const ids = Array.from({ length: calls }, (_each, index) => `c${index + 1}`);
  const { model } = scriptedModel([
    { calls: ids.map((toolCallId) => ({ id: toolCallId, name: 'book', input: {} })) },
    { text: 'Done.' },
  ]);
  const agent: Agent = createAgent({ model, tools, store: memoryStore(), now });
  return agent;
}
