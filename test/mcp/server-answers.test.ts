import {
  type CallToolResult,
  InMemoryTransport,
  ProtocolError,
  Server,
  type Transport,
} from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { createGate } from 'holdpoint/mcp';
import { expect, test } from 'vitest';
import { connect, payment, readTexts, text } from './gate-world.ts';

const inputSchema = { type: 'object' } as const;
const pay = { name: 'pay', inputSchema };

/** A gate whose calls all run, in front of a server that speaks both eras and counts its calls. */
async function openServer(answer: () => CallToolResult, tool: object = {}) {
  const counted = { calls: 0 };
  const makeServer = (): Server => {
    const server = new Server({ name: 'bank', version: '1' }, { capabilities: { tools: {} } });
    server.setRequestHandler('tools/list', () => ({ tools: [{ ...pay, ...tool }] }));
    server.setRequestHandler('tools/call', () => {
      counted.calls += 1;
      return answer();
    });
    return server;
  };
  const transport = (): Transport => {
    const [mine, theirs] = InMemoryTransport.createLinkedPair();
    serveStdio(makeServer, { transport: mine });
    return theirs;
  };
  const gate = createGate({ upstreams: { bank: { transport } }, toolApproval: () => 'approved' });
  return { counted, gate, client: await connect(gate) };
}

test('a call that ran has its result, although its server left the structured content out that it declares', async () => {
  const { gate, client } = await openServer(() => text('Paid.'), { outputSchema: inputSchema });
  expect(readTexts(await client.callTool(payment))).toEqual(['Paid.']);
  await gate.close();
});

test('a call is sent once, also if its server refuses it for the headers that repeat its arguments', async () => {
  const { gate, client, counted } = await openServer(() => {
    throw new ProtocolError(-32_020, 'Header mismatch.');
  });
  const refused = await client.callTool(payment);
  expect(refused.isError).toBe(true);
  expect(counted.calls).toBe(1);
  await gate.close();
});

test('a call whose server says that another one did not answer in time is unknown', async () => {
  const { gate, client } = await openServer(() => {
    throw new ProtocolError(-32_001, 'Request timed out');
  });
  expect(readTexts(await client.callTool(payment))[0]).toContain('It is unknown whether');
  await gate.close();
});
