/*
 * A bank as an MCP server of its own process, over standard input and output, in both eras of the protocol. Each payment is a line of the file in
 * the first argument. `pay` answers at once; `hang` pays and never answers; `die` pays and kills its process; `environment` returns the names of
 * its variables; `ask` asks how many euros to pay before it pays them. The second argument is the bank's fate: whether it kills itself or the gate that has started it, and when (such as `gate before
 * payment`), or that it is `slow`: then it answers once there is a file that has the ledger's name and `.go`.
 */
import { appendFileSync, existsSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import { inputRequired, Server } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';

const [ledger = '', fate = ''] = process.argv.slice(2);

function killIfDue(when: string): void {
  if (fate === `bank ${when}`) process.kill(process.pid, 'SIGKILL');
  if (fate === `gate ${when}`) process.kill(process.ppid, 'SIGKILL');
}

async function waitForWord(): Promise<void> {
  while (!existsSync(`${ledger}.go`)) await setTimeout(20);
}

const names = ['pay', 'hang', 'die', 'environment', 'ask'];
const howMany = inputRequired.elicit({
  message: 'How many euros?',
  requestedSchema: {
    type: 'object',
    properties: { euros: { type: 'integer' } },
    required: ['euros'],
  },
});

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
    const answer = mcpReq.inputResponses?.['how-many'];
    if (params.name === 'ask' && answer === undefined)
      return inputRequired({ inputRequests: { 'how-many': howMany } });
    const { _meta: meta } = mcpReq;
    killIfDue('before payment');
    const key = String(meta?.['holdpoint/idempotencyKey']);
    appendFileSync(ledger, `${key} ${JSON.stringify(params.arguments)}\n`);
    killIfDue('after payment');
    if (fate === 'slow') await waitForWord();
    void setTimeout(100).then(() => killIfDue('after answer'));
    if (params.name === 'die') process.kill(process.pid, 'SIGKILL');
    if (params.name === 'hang') await new Promise(() => {});
    const text = answer === undefined ? 'Paid.' : `Paid: ${JSON.stringify(answer)}`;
    return { content: [{ type: 'text', text }] };
  });
  return server;
});
