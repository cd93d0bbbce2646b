import { Client, type Tool } from '@modelcontextprotocol/client';
import { Client as OldClient } from '@modelcontextprotocol/sdk/client/index.js';
import { InMemoryTransport as OldTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import {
  type CallToolResult,
  InMemoryTransport,
  Server,
  type Transport,
} from '@modelcontextprotocol/server';
import { createGate, type Gate, type GateOptions } from 'holdpoint/mcp';
import { expect, onTestFinished } from 'vitest';
import { z } from 'zod';
import { virtualClock } from '../support/virtual-clock.ts';

type GateCaller = Parameters<Gate['makeServer']>[0];

/** What a call of the bank's server gets. */
interface BankCall {
  name: string;
  arguments: Record<string, unknown> | undefined;
  key: unknown;
}

type Answer = (call: BankCall) => CallToolResult | Promise<CallToolResult>;

export const text = (value: string): CallToolResult => ({
  content: [{ type: 'text', text: value }],
});

const bankTools: Tool[] = [
  {
    name: 'pay',
    title: 'Read the weather',
    description: 'Pays money.',
    inputSchema: {
      type: 'object',
      properties: { to: { type: 'string' }, euros: { type: 'number' } },
      required: ['to', 'euros'],
    },
  },
  {
    name: 'balance',
    description: 'Reads the balance.',
    inputSchema: { type: 'object' },
    outputSchema: { type: 'object', properties: { euros: { type: 'number' } } },
    annotations: { readOnlyHint: true },
  },
];

/** A bank as an MCP server, which records what it was asked. */
export function makeBank(
  answer: Answer = ({ name }) => text(`${name} done`),
  listed: readonly Tool[] = bankTools,
) {
  const calls: BankCall[] = [];
  const servers: Server[] = [];
  let tools = [...listed];
  const open = (): Transport => {
    const capabilities = { tools: { listChanged: true } };
    const server = new Server({ name: 'bank', version: '1' }, { capabilities });
    servers.push(server);
    server.setRequestHandler('tools/list', () => ({ tools }));
    server.setRequestHandler('tools/call', async ({ params }, { mcpReq }) => {
      const { _meta: meta } = mcpReq;
      const key = meta?.['holdpoint/idempotencyKey'];
      const call = { name: params.name, arguments: params.arguments, key };
      calls.push(call);
      return answer(call);
    });
    const [mine, theirs] = InMemoryTransport.createLinkedPair();
    void server.connect(mine);
    return theirs;
  };
  /** The bank says something else of its tools from now on. */
  const describe = async (description: string): Promise<void> => {
    tools = listed.map((tool) => ({ ...tool, description }));
    for (const server of servers) await server.sendToolListChanged();
  };
  return { calls, open, describe };
}

type WorldOptions = Partial<GateOptions> & {
  bank?: ReturnType<typeof makeBank>;
  clock?: ReturnType<typeof virtualClock>;
};

/** The options of a gate whose calls all run at once. */
export const free = { toolApproval: () => 'approved' as const };

/** A bank whose payments are told apart. */
export function makeCountingBank() {
  let payments = 0;
  return makeBank(() => {
    payments += 1;
    return text(`paid ${payments}`);
  });
}

/** A gate in front of a bank, on a clock that the test moves. */
export function makeWorld({
  bank = makeBank(),
  clock = virtualClock(),
  ...options
}: WorldOptions = {}) {
  const problems: unknown[] = [];
  const gate = createGate({
    upstreams: { bank: { transport: bank.open } },
    now: clock.now,
    wait: clock.wait,
    onProblem: (problem) => problems.push(problem),
    ...options,
  });
  return { gate, bank, clock, problems };
}

type NewClientOptions = NonNullable<ConstructorParameters<typeof Client>[1]>;

/** A client that is closed when its test ends. A call whose result the test does not wait for ends then, too. */
export class TestClient extends Client {
  constructor(...given: ConstructorParameters<typeof Client>) {
    super(...given);
    onTestFinished(async () => this.close());
  }

  override callTool(...given: Parameters<Client['callTool']>): ReturnType<Client['callTool']> {
    const called = super.callTool(...given);
    called.catch(() => {});
    return called;
  }
}

/** A client of SDK 2 that is connected to the gate. */
export async function connect(
  gate: Gate,
  caller: GateCaller = { principal: 'ada' },
  { name = 'claude-code', ...options }: NewClientOptions & { name?: string } = {},
): Promise<Client> {
  const [mine, theirs] = InMemoryTransport.createLinkedPair();
  await gate.makeServer(caller).connect(theirs);
  const client = new TestClient({ name, version: '1' }, options);
  await client.connect(mine);
  /* Then the gate knows the tools of its servers, which it connects to on the clock of this machine. */
  await client.listTools();
  return client;
}

/** A client of SDK 1 that is connected to the gate. */
export async function connectOld(
  gate: Gate,
  caller: GateCaller = { principal: 'ada' },
): Promise<OldClient> {
  const [mine, theirs] = OldTransport.createLinkedPair();
  await gate.makeServer(caller).connect(theirs);
  const client = new OldClient({ name: 'claude-code', version: '1' });
  await client.connect(mine);
  onTestFinished(async () => client.close());
  await client.listTools();
  return client;
}

export const payment = { name: 'pay', arguments: { to: 'ACME', euros: 100 } };

/** The requests that are open, oldest first. */
export async function listOpen({ agent }: Pick<Gate, 'agent'>) {
  const { requests } = await agent.requests({ principal: 'boss' });
  return requests.map(({ request }) => {
    if (request?.type !== 'approval-request') throw new Error('Not an approval request.');
    return request;
  });
}

/** The only open request. */
export async function onlyRequest(gate: Gate) {
  const [open, ...others] = await listOpen(gate);
  expect(others).toEqual([]);
  if (open === undefined) throw new Error('Nothing is asked.');
  return open;
}

type Request = Awaited<ReturnType<typeof onlyRequest>>;

/** Answers the only open request, without running anything, as the inbox does. Returns the id of its thread. */
export async function answerOnly(
  gate: Gate,
  answer: (request: Request) => Parameters<Gate['agent']['respond']>[0],
  principal = 'boss',
): Promise<string> {
  const request = await onlyRequest(gate);
  const { threadId } = request;
  await gate.agent.respond(answer(request), await gate.agent.thread(threadId), { principal });
  return threadId;
}

const contentSchema = z.object({ content: z.array(z.object({ text: z.string() })) });

/** The texts of a result. */
export function readTexts(result: unknown): string[] {
  return contentSchema.parse(result).content.map((part) => part.text);
}
