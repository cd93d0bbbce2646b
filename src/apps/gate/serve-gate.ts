import { Server } from '@modelcontextprotocol/server';
import type { GateCaller } from './gate-options.ts';
import { answerClientCall, type ServedGate, waitForTools } from './answer-call.ts';

/** A server for one connection of this caller. It lists the pinned tools of the upstreams, and holds their calls. */
export function makeGateServer(serving: ServedGate, caller: GateCaller): Server {
  const { index } = serving;
  const { agent, upstreams } = index.gate;
  const info = { name: agent.name ?? 'gate', version: '1' };
  const server = new Server(info, { capabilities: { tools: { listChanged: true } } });
  server.setRequestHandler('tools/list', async (_request, { mcpReq }) => {
    await waitForTools(index, mcpReq.signal);
    return { tools: [...upstreams.listed] };
  });
  server.setRequestHandler('tools/call', async ({ params }, context) =>
    answerClientCall(serving, { server, caller, params, context }),
  );
  return server;
}
