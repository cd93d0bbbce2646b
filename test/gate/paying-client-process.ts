/*
 * A client of its own process that starts a gate (`gate-process.ts`, with the arguments from the second one on), has it pay as many euros as the first
 * argument says, and prints what it is told.
 */
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';

const [euros = '', ...args] = process.argv.slice(2);
const program = join(import.meta.dirname, 'gate-process.ts');
const client = new Client({ name: 'driver', version: '1' });
await client.connect(
  new StdioClientTransport({
    command: process.execPath,
    args: ['--conditions=holdpoint-source', program, ...args],
    stderr: 'inherit',
  }),
);
const { content } = await client.callTool({ name: 'pay', arguments: { euros: Number(euros) } });
console.log(content.map((part) => (part.type === 'text' ? part.text : part.type)).join('\n'));
await client.close();
