import { type ToolSet } from 'ai';
import { type AgentOptions, createAgent, memoryStore } from 'holdpoint';
import { mcpToolApproval } from 'holdpoint/tools';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { scriptedModel } from '../support/scripted-model.ts';
import { travelTools } from '../support/travel-world.ts';
import { FileServer } from './mcp-server.ts';

type McpToolApprovalOptions = Parameters<typeof mcpToolApproval>[0];

type Annotations = ConstructorParameters<typeof FileServer>[0][string];

function agentOf(tools: ToolSet, toolApproval: AgentOptions['toolApproval'], name = 'touch') {
  const call = { id: 'c1', name, input: { path: 'a.txt' } };
  const { model } = scriptedModel([{ calls: [call] }, { text: 'Done.' }]);
  return createAgent({ model, tools, toolApproval, maxRetries: 0 });
}

/** What becomes of a call to an MCP tool with these annotations: why it is asked about, or how it ended. */
async function outcome(
  annotations: Annotations,
  options?: McpToolApprovalOptions,
  client: { clientName?: string } = { clientName: 'files' },
) {
  const server = new FileServer({ touch: annotations });
  const agent = agentOf(await server.tools(client), mcpToolApproval(options));
  const { approvalRequests, thread } = await agent.run('Go', await agent.thread('t'));
  const status = thread.calls[0]?.status;
  expect(server.called).toEqual(status === 'succeeded' ? ['touch a.txt'] : []);
  return status === 'waiting' ? approvalRequests[0]?.reason : status;
}

/* As lenient as `?.` in the rule of an app: a call without metadata is one without hints. */
const annotationsSchema = z
  .object({ annotations: z.object({ destructiveHint: z.boolean() }).partial() })
  .transform(({ annotations }) => annotations)
  .catch({});
const trusting = { trustedServers: ['files'] };
const unmarked = 'The MCP server does not mark this tool as read-only or non-destructive.';
const destroys = 'The MCP server marks this tool as destructive.';

test.each<[string, Annotations, unknown]>([
  ['none', undefined, unmarked],
  ['empty', {}, unmarked],
  ['a title only', { title: 'Read' }, unmarked],
  ['idempotent', { idempotentHint: true }, unmarked],
  ['closed', { openWorldHint: false }, unmarked],
  ['not read-only', { readOnlyHint: false }, unmarked],
  ['destructive', { destructiveHint: true }, destroys],
  ['read-only and destructive', { readOnlyHint: true, destructiveHint: true }, destroys],
  [
    'non-destructive',
    { destructiveHint: false },
    'The MCP server marks this tool as non-destructive.',
  ],
  ['read-only', { readOnlyHint: true }, 'succeeded'],
  ['read-only, closed', { readOnlyHint: true, openWorldHint: false }, 'succeeded'],
  ['read-only, non-destructive', { readOnlyHint: true, destructiveHint: false }, 'succeeded'],
])('annotations of a trusted server: %s', async (_what, annotations, expected) => {
  expect(await outcome(annotations, trusting)).toBe(expected);
});

test.each<[string, Annotations, unknown]>([
  ['absent hints', undefined, 'denied'],
  ['contradicting hints', { readOnlyHint: true, destructiveHint: true }, 'denied'],
  ['non-destructive', { destructiveHint: false }, 'succeeded'],
  ['read-only that may reach outside', { readOnlyHint: true }, 'It may send the text out.'],
  ['read-only, closed', { readOnlyHint: true, openWorldHint: false }, 'succeeded'],
])('statuses of the app: %s', async (_what, annotations, expected) => {
  const options: McpToolApprovalOptions = {
    ...trusting,
    readOnly: 'approved',
    readOnlyOpenWorld: { type: 'user-approval', reason: 'It may send the text out.' },
    nonDestructive: 'approved',
    destructive: { type: 'denied', reason: 'Not from here.' },
  };
  expect(await outcome(annotations, options)).toBe(expected);
});

test('a rule finds the annotations and the title of a tool in the call, as in the AI SDK', async () => {
  const seen: unknown[] = [];
  const server = new FileServer({ touch: { destructiveHint: true, title: 'Touch' } });
  const tools = await server.tools({ clientName: 'files' });
  const agent = agentOf(tools, ({ toolCall: { title, toolMetadata, dynamic } }) => {
    seen.push({ title, toolMetadata, dynamic });
    const { destructiveHint } = annotationsSchema.parse(toolMetadata);
    return destructiveHint === true ? 'user-approval' : 'approved';
  });
  const { approvalRequests } = await agent.run('Go', await agent.thread('t'));
  expect(approvalRequests).toHaveLength(1);
  expect(server.called).toEqual([]);
  const { title, metadata: toolMetadata } = tools['touch'] ?? {};
  expect(toolMetadata).toMatchObject({ annotations: { destructiveHint: true } });
  expect(seen).toEqual([{ title, toolMetadata, dynamic: true }]);
});

test.each<[string, McpToolApprovalOptions | undefined, { clientName?: string }?]>([
  ['no server is trusted', undefined],
  ['another server is trusted', { trustedServers: ['mail'] }],
  ['a part of the name is trusted', { trustedServers: ['file', 'files '] }],
  ['the server calls itself by a trusted name', { trustedServers: ['trusted'] }],
  ['the client has no name', trusting, {}],
])('a server that lies gains nothing: %s', async (_what, options, client) => {
  const untrusted = 'The annotations of this MCP server are not trusted.';
  const lie = { readOnlyHint: true, destructiveHint: false, openWorldHint: false };
  const allowing: McpToolApprovalOptions = {
    readOnly: 'approved',
    nonDestructive: 'approved',
    otherTools: 'approved',
  };
  expect(await outcome(lie, { ...options, ...allowing }, client)).toBe(untrusted);
});

test('the request names the tool and the server, and not the title that the server gave', async () => {
  const server = new FileServer({ touch: { title: 'Read', destructiveHint: true } });
  const agent = agentOf(await server.tools({ clientName: 'files' }), mcpToolApproval(trusting));
  const { approvalRequests } = await agent.run('Go', await agent.thread('t'));
  expect(approvalRequests.map(({ text }) => text)).toEqual([
    'The agent wants to call touch of the MCP server files.',
  ]);
});

test('a read-only tool that the app marked with needsApproval still asks', async () => {
  const server = new FileServer({ touch: { readOnlyHint: true } });
  const { touch } = await server.tools({ clientName: 'files' });
  const tools: ToolSet = { touch: Object.assign({}, touch, { needsApproval: true }) };
  const agent = agentOf(tools, mcpToolApproval(trusting));
  expect((await agent.run('Go', await agent.thread('t'))).status).toBe('waiting');
});

test.each<[string, McpToolApprovalOptions, unknown]>([
  ['ask', {}, 'waiting'],
  ['get a status', { otherTools: 'not-applicable' }, 'completed'],
  [
    'get a rule',
    { otherTools: ({ toolCall }) => (toolCall.toolName === 'look' ? 'approved' : 'denied') },
    'completed',
  ],
])("tools that are not an MCP server's %s", async (_what, options, expected) => {
  const { model } = scriptedModel([
    { calls: [{ id: 'c1', name: 'look', input: { city: 'Paris' } }] },
    { text: 'Done.' },
  ]);
  const agent = createAgent({
    model,
    tools: travelTools([]),
    toolApproval: mcpToolApproval(options),
  });
  const { status, thread } = await agent.run('Go', await agent.thread('t'));
  expect(status).toBe(expected);
  expect(thread.calls[0]?.status).toBe(expected === 'waiting' ? 'waiting' : 'succeeded');
});

test('a rule for other tools never applies to an MCP tool that took the name of one', async () => {
  const server = new FileServer({ look: { readOnlyHint: true } });
  const tools: ToolSet = { ...travelTools([]), ...(await server.tools({ clientName: 'files' })) };
  const agent = agentOf(tools, mcpToolApproval({ otherTools: () => 'approved' }), 'look');
  expect((await agent.run('Go', await agent.thread('t'))).status).toBe('waiting');
  expect(server.called).toEqual([]);
});

test('an approval of a tool does not hold when the server changes its annotations', async () => {
  const store = memoryStore();
  const gentle = new FileServer({ touch: { destructiveHint: false } });
  const rough = new FileServer({ touch: { destructiveHint: true } });
  const call = { id: 'c1', name: 'touch', input: { path: 'a.txt' } };
  const { model } = scriptedModel([{ calls: [call] }, { text: 'Done.' }]);
  const agentWith = async (server: FileServer) =>
    createAgent({
      model,
      tools: await server.tools({ clientName: 'files' }),
      toolApproval: mcpToolApproval(trusting),
      store,
    });

  const agent = await agentWith(gentle);
  const { approvalRequests } = await agent.run('Go', await agent.thread('t'));
  const answers = approvalRequests.map((request) => request.approve());
  await agent.respond(answers, await agent.thread('t'));

  const other = await agentWith(rough);
  const asked = await other.run([], await other.thread('t'));
  expect(asked.status).toBe('waiting');
  expect(rough.called).toEqual([]);
  const again = asked.approvalRequests.map((request) => request.approve());
  expect((await other.run(again, asked.thread)).status).toBe('completed');
  expect(rough.called).toEqual(['touch a.txt']);
});

test('a misspelled option is refused where the rule is made, and so runs nothing unasked', () => {
  const misspelled = { readonly: 'user-approval' };
  expect(() => mcpToolApproval({ ...trusting, ...misspelled })).toThrow(
    new TypeError("mcpToolApproval has no option 'readonly'."),
  );
});
