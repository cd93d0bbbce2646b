/* A bank of SDK 1 as an MCP server of its own process: it knows only protocols with a handshake. */
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';

const server = new McpServer({ name: 'old-bank', version: '1' });
server.registerTool('pay', { description: 'Pays money.' }, () => ({
  content: [{ type: 'text', text: 'Paid by an old bank.' }],
}));
await server.connect(new StdioServerTransport());
