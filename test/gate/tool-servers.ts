import { InMemoryTransport, Server, type Tool, type Transport } from '@modelcontextprotocol/server';
import { createGate, type GateOptions } from 'holdpoint/mcp';
import { expect } from 'vitest';
import { text } from './gate-world.ts';

export function eventually<VALUE>(read: () => VALUE) {
  return expect.poll(read, { timeout: 8_000 });
}

const schema = { type: 'object' } as const;
export const pay: Tool = { name: 'pay', description: 'Pays money.', inputSchema: schema };
export const balance: Tool = {
  name: 'balance',
  description: 'Reads the balance.',
  inputSchema: schema,
  annotations: { readOnlyHint: true },
};

/** A server whose tools the test changes. */
export function makeServer(tools: Tool[]) {
  const at = { tools, calls: 0, connections: 0, tries: 0, listings: 0, isDown: false };
  const servers: Server[] = [];
  const transport = (): Transport => {
    at.tries += 1;
    if (at.isDown) throw new Error('It is down.');
    at.connections += 1;
    const server = new Server(
      { name: 'bank', version: '1' },
      { capabilities: { tools: { listChanged: true } } },
    );
    servers.push(server);
    server.setRequestHandler('tools/list', () => {
      at.listings += 1;
      return { tools: at.tools };
    });
    server.setRequestHandler('tools/call', ({ params }) => {
      at.calls += 1;
      return text(`${params.name} done`);
    });
    const [mine, theirs] = InMemoryTransport.createLinkedPair();
    void server.connect(mine);
    return theirs;
  };
  const change = async (next: Tool[]): Promise<void> => {
    at.tools = next;
    await servers.at(-1)?.sendToolListChanged();
  };
  const stop = async (): Promise<void> => {
    at.isDown = true;
    await servers.at(-1)?.close();
  };
  return { at, transport, change, stop };
}

type Given = Partial<GateOptions> & { servers: Record<string, ReturnType<typeof makeServer>> };

export function openGate({ servers, ...options }: Given) {
  const problems: string[] = [];
  const gate = createGate({
    upstreams: Object.fromEntries(
      Object.entries(servers).map(([name, { transport }]) => [name, { transport }]),
    ),
    onProblem: ({ problem }) => problems.push(problem),
    pollMs: 25,
    ...options,
  });
  const about = gate.agents[1];
  if (about === undefined) throw new Error('There is no agent of the upstreams.');
  const listAsked = async () => (await about.requests({ principal: 'boss' })).requests;
  const answer = async (isYes: boolean): Promise<void> => {
    const [asked] = await listAsked();
    if (asked?.request?.type !== 'approval-request') throw new Error('Nothing is asked.');
    const thread = await about.thread(asked.row.threadId);
    const { request } = asked;
    await about.respond(isYes ? request.approve() : request.reject(), thread, {
      principal: 'boss',
    });
  };
  const listTexts = async () => (await listAsked()).map(({ request }) => request?.text);
  return { gate, problems, listTexts, answer };
}
