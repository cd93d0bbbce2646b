import { StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { InMemoryTransport as OldTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import { Server as OldServer } from '@modelcontextprotocol/sdk/server/index.js';
import { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import {
  type CallToolResult,
  createMcpHandler,
  InMemoryTransport,
  inputRequired,
  type InputRequests,
  type InputRequiredResult,
  ProtocolError,
  Server,
  type Transport,
} from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { memoryStore } from 'holdpoint';
import { createGate } from 'holdpoint/mcp';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { answer, onlyQuestion, seats } from './asked-gate.ts';
import { connect, payment, readTexts, text } from './gate-world.ts';

const inputSchema = { type: 'object' } as const;
const pay = { name: 'pay', inputSchema };

/** A gate whose calls all run, in front of a server that speaks both eras and counts its calls. */
async function openServer(
  reply: (responses?: object) => CallToolResult | InputRequiredResult,
  tool: object = {},
) {
  const counted = { calls: 0 };
  const makeServer = (): Server => {
    const server = new Server({ name: 'bank', version: '1' }, { capabilities: { tools: {} } });
    server.setRequestHandler('tools/list', () => ({ tools: [{ ...pay, ...tool }] }));
    server.setRequestHandler('tools/call', (_request, { mcpReq }) => {
      counted.calls += 1;
      return reply(mcpReq.inputResponses);
    });
    return server;
  };
  const transport = (): Transport => {
    const [mine, theirs] = InMemoryTransport.createLinkedPair();
    serveStdio(makeServer, { transport: mine });
    return theirs;
  };
  const store = memoryStore();
  const upstreams = { bank: { transport } };
  const gate = createGate({ upstreams, store, toolApproval: () => 'approved' });
  return { counted, gate, store, client: await connect(gate) };
}

test.each([
  ['its server left out what it declares', text('Paid.'), 'Paid.'],
  ['it is too long', text('x'.repeat(1_100_000)), /^The tool has returned 1100\d+ characters/],
])(
  'a call that ran is told as such to clients that want structured content, although %s',
  async (_why, result, told) => {
    const { gate, store, client } = await openServer(() => result, { outputSchema: inputSchema });
    /* From then on it checks results. */
    await client.listTools();
    const marked = await client.callTool(payment);
    expect(marked).toMatchObject({ isError: true });
    expect(readTexts(marked)).toEqual([
      expect.stringMatching(/^The call ran\. .* Do not repeat it for that\.$/),
      expect.stringMatching(told),
    ]);
    const [{ threadId } = { threadId: '' }] = await store.list({ agent: 'gate' });
    expect((await gate.agent.thread(threadId)).calls).toMatchObject([{ status: 'succeeded' }]);
    await gate.close();
  },
);

test('a call is sent once, also if its server refuses it for the headers that repeat its arguments', async () => {
  const { gate, client, counted } = await openServer(() => {
    throw new ProtocolError(-32_020, 'Header mismatch.');
  });
  const refused = await client.callTool(payment);
  expect(refused.isError).toBe(true);
  expect(counted.calls).toBe(1);
  await gate.close();
});

const refused = 'refused';
const unknown = 'unknown';

/** What the client is told of a call: that it was refused, or that nobody knows. */
function readTold(result: unknown): string {
  return readTexts(result)[0]?.startsWith('It is unknown whether') === true ? unknown : refused;
}

/** A gate whose calls all run, in front of a server of an older protocol that answers calls by `answerCall`. */
async function openOldServer(answerCall: (server: OldServer) => Promise<never>, tool: object = {}) {
  const counted = { calls: 0 };
  /* That of SDK 2 gives some codes others for the newer protocol. */
  const server = new OldServer({ name: 'bank', version: '1' }, { capabilities: { tools: {} } });
  server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: [{ ...pay, ...tool }] }));
  server.setRequestHandler(CallToolRequestSchema, async () => {
    counted.calls += 1;
    return answerCall(server);
  });
  const [mine, theirs] = OldTransport.createLinkedPair();
  void server.connect(mine);
  const upstreams = { bank: { transport: () => theirs } };
  const gate = createGate({ upstreams, toolApproval: () => 'approved' });
  return { counted, gate, client: await connect(gate) };
}

const failWith = (code: number) => async () => {
  throw Object.assign(new Error('No.'), { code });
};

test.each([
  [-32_700, 'it could not be read', refused],
  [-32_600, 'it is no request', refused],
  [-32_601, 'there is no such method', refused],
  [-32_602, 'its parameters are invalid', refused],
  [-32_020, 'its headers differ', refused],
  [-32_021, 'the client lacks a capability', refused],
  [-32_022, 'its protocol is not known', refused],
  [-32_042, 'somebody has to open an address first', refused],
  [-32_603, 'the server failed', unknown],
  [-32_000, 'a proxy has lost its server', unknown],
  [-32_001, 'another server did not answer in time', unknown],
  [-32_002, 'something was not found', unknown],
  [-32_800, 'it was cancelled', unknown],
  [1_234, 'a code of the server itself', unknown],
])('a call that is answered with %i, since %s, is %s', async (code, _why, told) => {
  const { gate, client, counted } = await openOldServer(failWith(code));
  expect(readTold(await client.callTool(payment))).toBe(told);
  expect(counted.calls).toBe(1);
  await gate.close();
});

const typed = { outputSchema: inputSchema };

test.each([
  [-32_602, typed, unknown],
  [-32_600, typed, unknown],
  [-32_601, typed, refused],
  [-32_602, { ...typed, annotations: { readOnlyHint: true } }, refused],
])(
  'with %i, a server may refuse the result of a call that ran, so a call of a tool %j is %s',
  async (code, tool, told) => {
    const { gate, client } = await openOldServer(failWith(code), tool);
    expect(readTold(await client.callTool(payment))).toBe(told);
    await gate.close();
  },
);

test.each<[string, (server: OldServer) => Promise<unknown>]>([
  ['sampling', async (server) => server.createMessage({ messages: [], maxTokens: 1 })],
  ['roots', async (server) => server.listRoots()],
])(
  'a call whose server asks for %s, and passes on that there are none, has begun: nobody knows what came of it',
  async (_what, ask) => {
    const { gate, client } = await openOldServer(async (server) => {
      await ask(server);
      throw new Error('It got an answer.');
    });
    expect(readTold(await client.callTool(payment))).toBe(unknown);
    await gate.close();
  },
);

test('a call that an older server refuses after a person has answered it has begun: nobody knows what came of it', async () => {
  const { gate, client } = await openOldServer(async (server) => {
    await server.elicitInput({
      message: 'How many seats?',
      requestedSchema: { type: 'object', properties: { seats: { type: 'integer' } } },
    });
    return failWith(-32_602)();
  });
  const result = client.callTool(payment);
  await answer(gate, await onlyQuestion(gate), { reply: ['accept'], seats: '3' });
  expect(readTold(await result)).toBe(unknown);
  await gate.close();
});

/** A gate whose calls all run, in front of a server whose answers to calls come from `answerCall`. */
async function openHttpServer(answerCall: () => Response) {
  const counted = { calls: 0 };
  const handler = createMcpHandler(() => {
    const server = new Server({ name: 'bank', version: '1' }, { capabilities: { tools: {} } });
    server.setRequestHandler('tools/list', () => ({ tools: [pay] }));
    return server;
  });
  const fetch = async (url: string | URL, init?: RequestInit): Promise<Response> => {
    const request = new Request(url, init);
    if (!(await request.clone().text()).includes('tools/call')) return handler.fetch(request);
    counted.calls += 1;
    return answerCall();
  };
  const url = new URL('https://bank.example/mcp');
  const transport = (): Transport => new StreamableHTTPClientTransport(url, { fetch });
  const gate = createGate({ upstreams: { bank: { transport } }, toolApproval: () => 'approved' });
  return { counted, gate, client: await connect(gate) };
}

test.each([
  ...[400, 401, 403, 404, 405, 413, 415, 422, 429].map((status) => [status, refused] as const),
  ...[408, 409, 499, 500, 502, 503, 504].map((status) => [status, unknown] as const),
])('a call that is answered with the HTTP status %i is %s', async (status, told) => {
  const { gate, client, counted } = await openHttpServer(() => new Response('No.', { status }));
  expect(readTold(await client.callTool(payment))).toBe(told);
  expect(counted.calls).toBe(1);
  await gate.close();
});

test.each([
  ['ECONNREFUSED', refused],
  ['ENOTFOUND', refused],
  ['UND_ERR_CONNECT_TIMEOUT', refused],
  ['ECONNRESET', unknown],
  ['UND_ERR_SOCKET', unknown],
  ['ETIMEDOUT', unknown],
])('a call that fails with %s is %s', async (code, told) => {
  const { gate, client } = await openHttpServer(() => {
    throw new TypeError('fetch failed', { cause: Object.assign(new Error(code), { code }) });
  });
  expect(readTold(await client.callTool(payment))).toBe(told);
  await gate.close();
});

const askFor = (count: number): InputRequiredResult =>
  inputRequired({
    inputRequests: z
      .custom<InputRequests>()
      .parse(
        Object.fromEntries(
          Array.from({ length: count }, (_each, index) => [
            `q${index}`,
            { method: 'elicitation/create', params: seats },
          ]),
        ),
      ),
  });

test.each<[string, () => InputRequiredResult]>([
  [
    'refuses the answer',
    () => {
      throw new ProtocolError(-32_602, 'The state of the request has expired.');
    },
  ],
  ['asks what can not be asked', () => askFor(11)],
])(
  'a call whose server %s after a person has answered it has begun: nobody knows what came of it',
  async (_what, goOn) => {
    const { gate, client, counted } = await openServer((responses) =>
      responses === undefined ? askFor(1) : goOn(),
    );
    const result = client.callTool(payment);
    await answer(gate, await onlyQuestion(gate), { reply: ['accept'], seats: '3' });
    expect(readTold(await result)).toBe(unknown);
    expect(counted.calls).toBe(2);
    await gate.close();
  },
);
