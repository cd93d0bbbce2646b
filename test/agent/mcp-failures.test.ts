import { dynamicTool, generateText, isStepCount, jsonSchema, type ToolSet } from 'ai';
import { createAgent, memoryStore, type ThreadStore } from 'holdpoint';
import { createAgUiHandler } from 'holdpoint/ag-ui';
import { auditTrail } from 'holdpoint/audit';
import { guardTools } from 'holdpoint/middleware';
import { agentTool } from 'holdpoint/tools';
import { createUiHandler, toUIMessages } from 'holdpoint/ui';
import { expect, test } from 'vitest';
import { ofType, poster, runInput, user } from '../ag-ui/ag-ui-site.ts';
import { scriptedWorld } from '../middleware/held-world.ts';
import { FileServer } from '../policy/mcp-server.ts';
import { scriptedModel } from '../support/scripted-model.ts';
import { chatPage, toolParts } from '../ui/chat-page.ts';

const deletion = [
  { calls: [{ id: 'c1', name: 'remove', input: { path: 'locked.txt' } }] },
  { text: 'It is locked.' },
];
const error = 'locked.txt is locked.\nNothing was done.';
/** What the model reads of the server's refusal. */
const refusal = {
  type: 'content',
  value: [
    { type: 'text', text: 'locked.txt is locked.' },
    { type: 'text', text: 'Nothing was done.' },
    { type: 'file', mediaType: 'image/png', data: { type: 'data' } },
  ],
};

async function fileTools(): Promise<ToolSet> {
  return new FileServer({ remove: {} }).tools({ clientName: 'files' });
}

function agentOf(tools: ToolSet, store: ThreadStore = memoryStore()) {
  const { model, prompts } = scriptedModel(deletion);
  return { agent: createAgent({ name: 'keeper', model, tools, store }), prompts };
}

test('a call that the MCP server refused has failed, in the thread and in its trail, and the model reads all that the server said', async () => {
  const { agent, prompts } = agentOf(await fileTools());
  const { thread, text } = await agent.run('Delete it', await agent.thread('t'));
  expect(text).toBe('It is locked.');
  expect(thread.calls).toMatchObject([
    { status: 'failed', outcome: { error, output: { isError: true } } },
  ]);
  expect(prompts[1]?.at(-1)).toMatchObject({ content: [{ toolCallId: 'c1', output: refusal }] });
  const trail = (await auditTrail(thread)).rows.map(({ what }) => what);
  expect(trail).toContain('call failed');
  expect(trail).not.toContain('call succeeded');
  const parts = (await toUIMessages(thread)).flatMap((message) => message.parts);
  const shown = { state: 'output-error', errorText: 'An error occurred.' };
  expect(parts).toContainEqual(expect.objectContaining(shown));
});

test('its log is read and verified by another process', async () => {
  const { agent } = agentOf(await fileTools());
  const { thread } = await agent.run('Delete it', await agent.thread('t'));
  const restored = await agentOf(await fileTools()).agent.restore(JSON.stringify(thread));
  expect(restored.calls).toEqual(thread.calls);
});

test.each([
  ['a server without toModelOutput', { toModelOutput: undefined }, 'failed', { value: error }],
  ['a client without a name', { metadata: undefined }, 'succeeded', refusal],
])('what counts is that a tool is of an MCP client: %s', async (_what, more, status, expected) => {
  const { remove } = await fileTools();
  const { agent, prompts } = agentOf({ remove: Object.assign({}, remove, more) });
  const { thread } = await agent.run('Delete it', await agent.thread('t'));
  expect(thread.calls).toMatchObject([{ status }]);
  expect(prompts[1]?.at(-1)).toMatchObject({ content: [{ output: expected }] });
});

test.each([
  ['without metadata', {}],
  ['with metadata of its own', { metadata: { owner: 'files' } }],
])("isError in the result of an app's own tool %s has no meaning", async (_what, own) => {
  const remove = dynamicTool({
    inputSchema: jsonSchema({ type: 'object' }),
    execute: async () => ({ content: [{ type: 'text', text: '3 errors found' }], isError: true }),
    ...own,
  });
  const { agent } = agentOf({ remove });
  const { thread } = await agent.run('Delete it', await agent.thread('t'));
  expect(thread.calls).toMatchObject([{ status: 'succeeded' }]);
});

test.each([
  ['no text', [{ type: 'image', data: 'AAAA', mimeType: 'image/png' }]],
  ['nothing', []],
  ['something else', 'oops'],
])('a refusal that says %s has failed, too', async (_what, content) => {
  const { remove } = await fileTools();
  const execute = async () => ({ content, isError: true });
  const { agent } = agentOf({ remove: Object.assign({}, remove, { execute }) });
  const { thread } = await agent.run('Delete it', await agent.thread('t'));
  const silent = 'The MCP server reported an error without a text.';
  expect(thread.calls).toMatchObject([{ status: 'failed', outcome: { error: silent } }]);
});

test('a refusal that comes later, or that an operator reports, has failed, too', async () => {
  const { remove } = await fileTools();
  const { agent } = agentOf({ remove: Object.assign({}, remove, { execute: undefined }) });
  const { thread } = await agent.run('Delete it', await agent.thread('t'));
  const output = { content: [{ type: 'text', text: error }], isError: true };
  await agent.deliver(thread, 'c1', { status: 'succeeded', output });
  await agent.deliver(thread, 'c1', { status: 'succeeded', output });
  expect(thread.calls).toMatchObject([{ status: 'failed', outcome: { error } }]);
});

test("a refusal of a sub-agent's call has failed in the child thread, and behind holdPoint the caller sees it fail", async () => {
  const store = memoryStore();
  const { agent: keeper } = agentOf(await fileTools(), store);
  const { model } = scriptedModel([
    { calls: [{ id: 'k1', name: 'keep', input: { prompt: 'Delete it' } }] },
    { text: 'Done.' },
  ]);
  const tools = { keep: agentTool(keeper, { description: 'Keeps files' }) };
  const manager = createAgent({ name: 'manager', model, tools });
  const { thread } = await manager.run('Tidy up', await manager.thread('t'));
  expect(thread.calls).toMatchObject([{ status: 'succeeded' }]);
  const [work] = await store.list({});
  const child = await keeper.thread(work?.threadId ?? '');
  expect(child.calls).toMatchObject([{ status: 'failed', outcome: { error } }]);

  const held = scriptedWorld(deletion, { tools: await fileTools(), toolApproval: {} });
  const { content } = await generateText({
    model: held.model,
    prompt: 'Delete it',
    providerOptions: { holdpoint: { threadId: 't' } },
  });
  expect(content).toMatchObject([{}, { type: 'tool-error', error }, { type: 'text' }]);
});

test('a page and an AG-UI client show, live, that the call has failed, and what the server said where errors are shown', async () => {
  for (const redactToolErrors of [true, false]) {
    const errorText = redactToolErrors ? 'An error occurred.' : error;
    const view = { redactToolErrors, authorize: () => ({ principal: 'Ada' }) };
    const { agent: ofPage } = agentOf(await fileTools());
    const page = chatPage(createUiHandler({ agent: ofPage, ...view }));
    await page.chat.sendMessage({ text: 'Delete it' });
    expect(toolParts(page.chat.messages)).toMatchObject([{ state: 'output-error', errorText }]);

    const { agent: ofClient } = agentOf(await fileTools());
    const client = poster(createAgUiHandler({ agent: ofClient, keepAliveMs: 0, ...view }));
    const { events } = await client(runInput({ messages: [user('u1', 'Delete it')] }));
    expect(ofType(events, 'TOOL_CALL_RESULT')).toMatchObject([
      { toolCallId: 'c1', content: errorText, metadata: { holdpoint: { status: 'failed' } } },
    ]);
  }
});

test('a guarded call is recorded as failed, and every process returns what the server said', async () => {
  const store = memoryStore();
  const tools = guardTools(await fileTools(), { store, threadId: 't' });
  const { model, prompts } = scriptedModel(deletion);
  await generateText({ model, tools, prompt: 'Delete it', stopWhen: isStepCount(2) });
  expect(prompts[1]?.at(-1)).toMatchObject({ content: [{ output: refusal }] });
  const [call] = await store.list({});
  const thread = await agentOf({}, store).agent.thread(call?.threadId ?? '');
  expect(thread.calls).toMatchObject([{ status: 'failed', outcome: { error } }]);
  const again = guardTools(await fileTools(), { store, threadId: 't' });
  const options = { toolCallId: 'c1', messages: [], context: {} };
  expect(await again['remove']?.execute?.({ path: 'locked.txt' }, options)).toMatchObject({
    isError: true,
  });
});

test('a rule that keeps a budget sees that the call has failed', async () => {
  const [first, last] = deletion;
  const again = { calls: [{ id: 'c2', name: 'remove', input: { path: 'a.txt' } }] };
  const { model } = scriptedModel([first, again, last].filter((step) => step !== undefined));
  const seen: unknown[] = [];
  const agent = createAgent({
    model,
    tools: await fileTools(),
    toolApproval: {
      remove: (_input, { calls }) => {
        seen.push(calls.map(({ toolCallId, status }) => `${toolCallId} ${status}`));
        return 'approved';
      },
    },
  });
  await agent.run('Delete both', await agent.thread('t'));
  expect(seen.at(-1)).toContain('c1 failed');
});
