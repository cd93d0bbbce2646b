import { StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { InMemoryTransport as OldTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import { Server as OldServer } from '@modelcontextprotocol/sdk/server/index.js';
import { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import {
  createMcpHandler,
  InMemoryTransport,
  inputRequired,
  type InputRequests,
  Server,
  type Transport,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { z } from 'zod';
import { text } from './gate-world.ts';

/* Servers whose tool `book` asks what the arguments of its call say, and returns what it was answered. `look` asks nothing. */

const names = { name: 'evil twin of the bank', version: '1' };
const listed = {
  tools: ['book', 'look'].map((name) => ({ name, inputSchema: { type: 'object' as const } })),
};
const capabilities = { tools: {} };

/** What the arguments of a call tell the server to ask: one elicitation after the other, or several at once. */
const argumentsSchema = z.object({ ask: z.array(z.record(z.string(), z.unknown())).default([]) });
const elicitationSchema = z.custom<Parameters<OldServer['elicitInput']>[0]>();

/** What the servers do at a call of `look`. */
export const looking = { until: Promise.resolve() };

async function look() {
  await looking.until;
  return text('seen');
}

/** A question of an older server, as it is answered or refused. */
type AskClient = (params: unknown) => Promise<unknown>;

async function bookOld(name: string, given: unknown, ask: AskClient) {
  if (name === 'look') return look();
  const answers: unknown[] = [];
  for (const params of argumentsSchema.parse(given).ask)
    answers.push(await ask(params).catch((error: unknown) => ({ refused: String(error) })));
  return text(JSON.stringify(answers));
}

function bookNew(name: string, given: unknown, responses: Record<string, unknown> | undefined) {
  if (name === 'look') return look();
  const { ask } = argumentsSchema.parse(given);
  if (responses !== undefined || ask.length === 0)
    return text(JSON.stringify(Object.values(responses ?? {})));
  const inputRequests = Object.fromEntries(
    ask.map((params, index) => [`q${index}`, { method: 'elicitation/create', params }]),
  );
  return inputRequired({ inputRequests: z.custom<InputRequests>().parse(inputRequests) });
}

/** A server of SDK 1, whose client speaks a protocol with a handshake. */
export function makeOldServer(): OldServer {
  const server = new OldServer(names, { capabilities });
  server.setRequestHandler(ListToolsRequestSchema, () => listed);
  server.setRequestHandler(CallToolRequestSchema, async ({ params }) =>
    bookOld(params.name, params.arguments, async (asked) =>
      server.elicitInput(elicitationSchema.parse(asked), { timeout: 600_000 }),
    ),
  );
  return server;
}

function makeNewServer(): Server {
  const server = new Server(names, { capabilities });
  server.setRequestHandler('tools/list', () => listed);
  server.setRequestHandler('tools/call', ({ params }, { mcpReq }) =>
    bookNew(params.name, params.arguments, mcpReq.inputResponses),
  );
  return server;
}

const url = new URL('https://desk.example/mcp');

/** How a gate reaches a server that asks, in both eras and over both transports. */
export const askingServers: Record<string, () => () => Transport> = {
  'an older protocol, stdio': () => () => {
    const [mine, theirs] = OldTransport.createLinkedPair();
    void makeOldServer().connect(mine);
    return theirs;
  },
  'protocol 2026-07-28, stdio': () => () => {
    const [mine, theirs] = InMemoryTransport.createLinkedPair();
    serveStdio(makeNewServer, { transport: mine });
    return theirs;
  },
  'an older protocol, HTTP': () => {
    const sessions = new Map<string, WebStandardStreamableHTTPServerTransport>();
    const answer = async (request: Request): Promise<Response> => {
      const known = sessions.get(request.headers.get('mcp-session-id') ?? '');
      if (known !== undefined) return known.handleRequest(request);
      const transport = new WebStandardStreamableHTTPServerTransport({
        sessionIdGenerator: () => crypto.randomUUID(),
        onsessioninitialized: (id) => void sessions.set(id, transport),
      });
      const server = new Server(names, { capabilities });
      server.setRequestHandler('tools/list', () => listed);
      server.setRequestHandler('tools/call', async ({ params }, { mcpReq }) =>
        bookOld(params.name, params.arguments, async (asked) =>
          mcpReq.elicitInput(elicitationSchema.parse(asked)),
        ),
      );
      await server.connect(transport);
      return transport.handleRequest(request);
    };
    const fetch = async (to: string | URL, init?: RequestInit) => answer(new Request(to, init));
    return () => new StreamableHTTPClientTransport(url, { fetch });
  },
  'protocol 2026-07-28, HTTP': () => {
    const handler = createMcpHandler(makeNewServer);
    const fetch = async (to: string | URL, init?: RequestInit) =>
      handler.fetch(new Request(to, init));
    return () => new StreamableHTTPClientTransport(url, { fetch });
  },
};
