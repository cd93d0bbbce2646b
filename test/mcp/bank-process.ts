/*
 * A bank as an MCP server of its own process, over standard input and output, in both eras of the protocol. Each payment is a line of the file in
 * the first argument. `pay` answers at once; `hang` pays and never answers; `die` pays and kills its process; `environment` returns the names of
 * its variables.
 */
import { appendFileSync } from 'node:fs';
import { Server } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';

const [ledger = ''] = process.argv.slice(2);
const names = ['pay', 'hang', 'die', 'environment'];

serveStdio(() => {
  const server = new Server({ name: 'bank', version: '1' }, { capabilities: { tools: {} } });
  server.setRequestHandler('tools/list', () => ({
    tools: names.map((name) => ({ name, inputSchema: { type: 'object' as const } })),
  }));
  server.setRequestHandler('tools/call', async ({ params }, { mcpReq }) => {
    if (params.name === 'environment') {
      const text = JSON.stringify(Object.keys(process.env).toSorted());
      return { content: [{ type: 'text', text }] };
    }
    const { _meta: meta } = mcpReq;
    appendFileSync(ledger, `${String(meta?.['holdpoint/idempotencyKey'])}\n`);
    if (params.name === 'die') process.kill(process.pid, 'SIGKILL');
    if (params.name === 'hang') await new Promise(() => {});
    return { content: [{ type: 'text', text: 'Paid.' }] };
  });
  return server;
});
