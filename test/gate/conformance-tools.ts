import { setTimeout } from 'node:timers/promises';
import {
  type CallToolResult,
  InMemoryTransport,
  Server,
  type Tool,
  type Transport,
} from '@modelcontextprotocol/server';
import { text } from './gate-world.ts';

const pixel =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==';
const silence = 'UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQAAAAA=';
const image = { type: 'image', data: pixel, mimeType: 'image/png' } as const;
const resource = {
  type: 'resource',
  resource: { uri: 'test://resource', mimeType: 'text/plain', text: 'An embedded resource.' },
} as const;

/** What the tools of the suite return, by the names that it gives them. */
const results: Record<string, CallToolResult> = {
  test_simple_text: text('This is a simple text response for testing.'),
  test_image_content: { content: [image] },
  test_audio_content: { content: [{ type: 'audio', data: silence, mimeType: 'audio/wav' }] },
  test_embedded_resource: { content: [resource] },
  test_multiple_content_types: { content: [{ type: 'text', text: 'Several.' }, image, resource] },
  test_error_handling: { ...text('This tool intentionally returns an error.'), isError: true },
  test_tool_with_progress: text('Done.'),
  test_trigger_tool_change: text('Done.'),
};

const newSchema: Tool['inputSchema'] = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  $defs: {
    address: {
      $anchor: 'addressDef',
      type: 'object',
      properties: { street: { type: 'string' }, city: { type: 'string' } },
    },
  },
  properties: {
    name: { type: 'string' },
    address: { $ref: '#/$defs/address' },
    contactMethod: { type: 'string', enum: ['phone', 'email'] },
    phone: { type: 'string' },
    email: { type: 'string' },
  },
  allOf: [{ anyOf: [{ required: ['phone'] }, { required: ['email'] }] }],
  if: { properties: { contactMethod: { const: 'phone' } }, required: ['contactMethod'] },
  // oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema.
  then: { required: ['phone'] },
  else: { required: ['email'] },
  additionalProperties: false,
};

const headerSchema: Tool['inputSchema'] = {
  type: 'object',
  properties: { region: { type: 'string', 'x-mcp-header': 'Region' }, query: { type: 'string' } },
};

const makeTool = (name: string, inputSchema: Tool['inputSchema'] = { type: 'object' }): Tool => ({
  name,
  description: `What the suite wants of ${name}.`,
  inputSchema,
});

/** An MCP server with the tools that the protocol's conformance suite calls. */
export function openConformanceTools(): Transport {
  const capabilities = { tools: { listChanged: true } };
  const server = new Server({ name: 'suite', version: '1' }, { capabilities });
  const tools = Object.keys(results).map((name) => makeTool(name));
  tools.push(makeTool('json_schema_2020_12_tool', newSchema));
  tools.push(makeTool('test_custom_headers', headerSchema));
  server.setRequestHandler('tools/list', () => ({ tools }));
  server.setRequestHandler('tools/call', async ({ params: { name } }) => {
    /* The suite waits for three notices of progress meanwhile. */
    if (name === 'test_tool_with_progress') await setTimeout(300);
    if (name === 'test_trigger_tool_change') {
      tools.push(makeTool(`tool_${tools.length}`));
      await server.sendToolListChanged();
    }
    return results[name] ?? text('Done.');
  });
  const [mine, theirs] = InMemoryTransport.createLinkedPair();
  void server.connect(mine);
  return theirs;
}
