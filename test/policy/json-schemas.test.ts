import { dynamicTool, type JSONSchema7, jsonSchema, type ModelMessage } from 'ai';
import { type AgentOptions, createAgent, memoryStore } from 'holdpoint';
import { createCustomAgent } from 'holdpoint/custom-agent';
import { answerMessage, approvalRequestsOf, guardTools } from 'holdpoint/middleware';
import { remoteTool } from 'holdpoint/rap';
import { agentTool } from 'holdpoint/tools';
import { createUiHandler } from 'holdpoint/ui';
import { describe, expect, test, vi } from 'vitest';
import { ofThread, scriptedWorld, ways } from '../middleware/held-world.ts';
import { errorCode } from '../support/error-code.ts';
import type { ScriptedStep } from '../support/script.ts';
import { scriptedModel } from '../support/scripted-model.ts';
import { FileServer } from './mcp-server.ts';
import { triesAll, pickCases } from '../support/sampling.ts';

const editable = { type: 'user-approval', editable: true } as const;
const toolApproval = { remove: editable };

function calling(...inputs: object[]): ScriptedStep[] {
  const steps = inputs.map((input, index) => ({
    calls: [{ id: `c${index}`, name: 'remove', input }],
  }));
  return [...steps, { text: 'Done.' }];
}

/** A tool `remove` that its JSON Schema alone describes, as all tools of other servers are. */
function removing(schema: JSONSchema7, ran: unknown[] = []) {
  const remove = dynamicTool({
    description: 'Removes files.',
    inputSchema: jsonSchema(schema),
    execute: async (input) => {
      ran.push(input);
      return 'Removed.';
    },
  });
  return { remove };
}

const byPath: JSONSchema7 = {
  type: 'object',
  properties: { path: { type: 'string' }, force: { type: 'boolean', default: true } },
  required: ['path'],
};

/** An agent whose model calls `remove` with these inputs, in turn. */
function agentOf(schema: JSONSchema7, inputs: object[], more: Partial<AgentOptions> = {}) {
  const ran: unknown[] = [];
  const { model } = scriptedModel(calling(...inputs));
  const tools = removing(schema, ran);
  const agent = createAgent({ model, tools, toolApproval, maxRetries: 0, ...more });
  return { agent, ran };
}

/** The request of Ada's call, which Ben edits. */
async function asked(schema: JSONSchema7, input: object = { path: 'a.txt' }) {
  const { agent, ran } = agentOf(schema, [input]);
  const thread = await agent.thread('t');
  const { approvalRequests } = await agent.run('Remove a.txt', thread, { principal: 'ada' });
  const request = theOnly(approvalRequests);
  const edit = async (edited: unknown) =>
    agent.run(request.approve({ input: edited }), thread, { principal: 'ben' });
  return { agent, ran, thread, request, edit };
}

function theOnly<ITEM>([item, ...more]: readonly ITEM[]): ITEM {
  if (item === undefined || more.length > 0) throw new Error('There is not one.');
  return item;
}

const hostile = { path: { $ne: null } };

/** A server whose tool `remove` takes a path, and its tools as an MCP client makes them. */
async function clientTools() {
  const server = new FileServer({ remove: undefined });
  return { server, tools: await server.tools({ clientName: 'files' }) };
}

/** What the model was told of the last call. */
function told(messages: readonly ModelMessage[]): string {
  return JSON.stringify(messages.at(-2)?.content).replaceAll('\\', '');
}

describe('an edit of a call to an MCP tool must fit the JSON Schema of its server', () => {
  const script = calling({ path: 'a.txt' });
  const why =
    /field "path": type "object" is invalid. Expected "string"\. The request stays open\.$/;

  test("in the agent's thread, where the request stays open for an edit that fits", async () => {
    const { server, tools } = await clientTools();
    const { model } = scriptedModel(script);
    const agent = createAgent({ model, tools, toolApproval });
    const thread = await agent.thread('t');
    const { approvalRequests } = await agent.run('Remove a.txt', thread, { principal: 'ada' });
    const request = theOnly(approvalRequests);
    const { revision } = thread;
    for (const input of [hostile, {}, { path: 'b.txt', all: true }, 'b.txt', []]) {
      const answer = agent.run(request.approve({ input }), thread, { principal: 'ben' });
      expect(await errorCode(answer)).toBe('invalid-answer');
    }
    await expect(
      agent.run(request.approve({ input: hostile }), thread, { principal: 'ben' }),
    ).rejects.toThrow(why);
    expect([thread.revision, server.called]).toEqual([revision, []]);
    const input = { path: 'b.txt' };
    await agent.run(request.approve({ input }), thread, { principal: 'ben' });
    expect(server.called).toEqual(['remove b.txt']);
  });

  test.each(pickCases(ways, 3))('behind holdPoint, with $name', async (way) => {
    const { server, tools } = await clientTools();
    const { model } = scriptedWorld(script, { tools, toolApproval });
    const ask = async (principal: string, ...messages: ModelMessage[]) =>
      way.ask({ model, messages, ...ofThread('t', { principal }) });
    const got = await ask('ada', { role: 'user', content: 'Remove a.txt' });
    const request = theOnly(approvalRequestsOf(got));
    const answer = answerMessage(request.approve({ input: hostile }));
    expect(await errorCode(ask('ben', answer))).toBe('invalid-answer');
    expect(server.called).toEqual([]);
  });

  test("on the page's route", async () => {
    const { server, tools } = await clientTools();
    const { model } = scriptedModel(script);
    const agent = createAgent({ model, tools, toolApproval });
    const { approvalRequests } = await agent.run('Remove', await agent.thread('t'));
    const handler = createUiHandler({ agent, authorize: () => ({ principal: 'ben' }) });
    const answers = [theOnly(approvalRequests).approve({ input: hostile })];
    const posted = await handler(
      new Request('https://page.example/chat', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ id: 't', answers }),
      }),
    );
    expect(await posted.text()).toMatch(/invalid-answer.*Expected/s);
    expect(server.called).toEqual([]);
  });

  test('through a sub-agent, which checks it', async () => {
    const { server, tools } = await clientTools();
    const store = memoryStore();
    const files = createAgent({
      name: 'files',
      model: scriptedModel(script).model,
      tools,
      toolApproval,
      store,
    });
    const { model } = scriptedModel([
      { calls: [{ id: 'c1', name: 'files', input: { prompt: 'Remove a.txt' } }] },
      { text: 'Done.' },
    ]);
    const clerk = createAgent({
      name: 'clerk',
      model,
      store,
      tools: { files: agentTool(files, { description: 'Files.' }) },
    });
    const thread = await clerk.thread('t');
    const { approvalRequests } = await clerk.run('Remove a.txt', thread);
    const request = theOnly(approvalRequests);
    await clerk.run(request.approve({ input: hostile }), thread).catch(() => undefined);
    expect(server.called).toEqual([]);
    expect((await clerk.thread('t')).activeApprovalRequests).toHaveLength(1);
  });
});

describe('an edit is validated by the schema, and nothing changes it', () => {
  test('no default is written, and what runs is what was sent', async () => {
    const { ran, edit } = await asked(byPath);
    await edit({ path: 'b.txt', note: 'kept' });
    expect(ran).toEqual([{ path: 'b.txt', note: 'kept' }]);
  });

  test.each<[string, JSONSchema7, unknown, RegExp]>([
    ['a closed object', { ...byPath, additionalProperties: false }, { path: 'a', x: 1 }, /"x"/],
    ['a required field', byPath, {}, /"path"/],
    [
      'a branch',
      JSON.parse('{"if":{"required":["force"]},"then":{"required":["reason"]}}'),
      { path: 'a', force: true },
      /"reason"/,
    ],
    [
      'a reference',
      { properties: { path: { $ref: '#/$defs/path' } }, $defs: { path: { minLength: 3 } } },
      { path: 'ab' },
      /"path"/,
    ],
    ['a format', { properties: { at: { format: 'date' } } }, { at: '2026-02-30' }, /"at"/],
    [
      'an inner field',
      { properties: { files: { items: { properties: { 'a/b': { type: 'string' } } } } } },
      { files: [{ 'a/b': 'x' }, { 'a/b': 1 }] },
      /"files.1.a\/b"/,
    ],
    [
      'a field that every object inherits',
      { properties: { constructor: { type: 'string' } } },
      { constructor: 1 },
      /"constructor"/,
    ],
  ])('%s is enforced by name', async (_what, schema, edited, name) => {
    const { ran, edit } = await asked(schema);
    await expect(edit(edited)).rejects.toThrow(name);
    expect(await errorCode(edit(edited))).toBe('invalid-answer');
    expect(ran).toEqual([]);
  });

  test('a format that the validator does not have refuses nothing', async () => {
    const { ran, edit } = await asked({ properties: { path: { format: '__proto__' } } });
    await edit({ path: 'b' });
    expect(ran).toEqual([{ path: 'b' }]);
  });

  test("a schema's own function decides alone", async () => {
    const ran: unknown[] = [];
    const remove = dynamicTool({
      description: 'Removes files.',
      inputSchema: jsonSchema(byPath, { validate: (value) => ({ success: true, value }) }),
      execute: async (input) => ran.push(input),
    });
    const { agent } = agentOf(byPath, [{ path: 7 }], { tools: { remove } });
    const thread = await agent.thread('t');
    const { approvalRequests } = await agent.run('Remove', thread);
    await agent.run(theOnly(approvalRequests).approve({ input: { path: 8 } }), thread);
    expect(ran).toEqual([{ path: 8 }]);
  });
});

describe('a call of the model that does not fit the JSON Schema', () => {
  test('fails with the name of the field, asks nobody and runs nothing; the next one is asked about', async () => {
    const { agent, ran } = agentOf(byPath, [hostile, { path: 'a.txt' }]);
    const thread = await agent.thread('t');
    const { status } = await agent.run('Remove a.txt', thread);
    expect(status).toBe('waiting');
    expect(thread.calls).toMatchObject([{ status: 'failed' }, { status: 'waiting' }]);
    expect(told(thread.messages)).toContain(
      'field "path": type "object" is invalid. Expected "string"',
    );
    expect(ran).toEqual([]);
  });

  test('is repaired first, and the repaired input must fit', async () => {
    const repairs: unknown[] = [{ path: 'a.txt' }, { path: 1 }];
    const repairToolCall: AgentOptions['repairToolCall'] = async ({ toolCall }) => ({
      ...toolCall,
      input: JSON.stringify(repairs.shift()),
    });
    const { agent, ran } = agentOf(byPath, [hostile, hostile], {
      repairToolCall,
      toolApproval: { remove: 'approved' },
    });
    const thread = await agent.thread('t');
    await agent.run('Remove a.txt', thread);
    expect(thread.calls.map(({ status }) => status)).toEqual(['succeeded', 'failed']);
    expect(ran).toEqual([{ path: 'a.txt' }]);
  });

  test('that fits runs as the model sent it, without defaults', async () => {
    const { agent, ran } = agentOf(byPath, [{ path: 'a.txt', more: 1 }], {
      toolApproval: { remove: 'approved' },
    });
    await agent.run('Remove a.txt', await agent.thread('t'));
    expect(ran).toEqual([{ path: 'a.txt', more: 1 }]);
  });

  test('fails in the same way from a custom agent', async () => {
    const ran: unknown[] = [];
    const agent = createCustomAgent({
      name: 'remover',
      tools: removing(byPath, ran),
      toolApproval,
      step: ({ toolCalls }) =>
        toolCalls.length > 0
          ? { text: 'Done.' }
          : { toolCalls: [{ toolName: 'remove', input: hostile }] },
    });
    const thread = await agent.thread('t');
    await agent.run('Remove a.txt', thread);
    expect(thread.calls).toMatchObject([{ status: 'failed' }]);
    expect(JSON.stringify(thread.messages)).toContain('invalid input: field');
    expect(ran).toEqual([]);
  });

  test('fails in the same way in a guarded tool', async () => {
    const ran: unknown[] = [];
    const tools = guardTools(removing(byPath, ran), { store: memoryStore(), threadId: 't' });
    const running = async () =>
      tools.remove.execute?.(hostile, { toolCallId: 'c1', messages: [], context: {} });
    await expect(running()).rejects.toThrow('"path"');
    expect(ran).toEqual([]);
  });

  test('is never sent to a remote tool', async () => {
    const sent: unknown[] = [];
    const remove = remoteTool({
      description: 'Removes files.',
      inputSchema: jsonSchema(byPath),
      endpoint: 'https://tools.test/remove',
      callbackUrl: 'https://agent.test/callback',
      secret: 'a secret of the tests, 32 bytes or more',
      fetch: async (...sending) => {
        sent.push(sending);
        return new Response();
      },
    });
    const { agent } = agentOf(byPath, [hostile], { tools: { remove }, toolApproval: {} });
    const { thread } = await agent.run('Remove a.txt', await agent.thread('t'));
    expect(told(thread.messages)).toContain('field "path"');
    expect(sent).toEqual([]);
  });

  test('may have a field that only the MCP client forbids, and an edit may not', async () => {
    const { tools } = await clientTools();
    const input = { path: 'a.txt', why: 'old' };
    const { agent } = agentOf(byPath, [input], { tools });
    const thread = await agent.thread('t');
    const { approvalRequests } = await agent.run('Remove a.txt', thread);
    const request = theOnly(approvalRequests);
    expect(request.toolCall?.input).toEqual(input);
    const edited = { path: 'b.txt', why: 'old' };
    expect(await errorCode(agent.run(request.approve({ input: edited }), thread))).toBe(
      'invalid-answer',
    );
  });

  test.each<[string, JSONSchema7]>([
    ['an object within', { properties: { at: { additionalProperties: false } } }],
    ['a tool that is not from an MCP client', { additionalProperties: false }],
  ])('may not have a field that its schema forbids in %s', async (_what, schema) => {
    const { agent, ran } = agentOf(schema, [{ at: { x: 1 } }]);
    const thread = await agent.thread('t');
    await agent.run('Remove a.txt', thread);
    expect(thread.calls).toMatchObject([{ status: 'failed' }]);
    expect(ran).toEqual([]);
  });

  test('stays failed after a crash', async () => {
    const store = memoryStore();
    const { agent } = agentOf(byPath, [hostile], { store });
    await agent.run('Remove a.txt', await agent.thread('t'));
    const { agent: restarted, ran } = agentOf(byPath, [], { store });
    const thread = await restarted.thread('t');
    await restarted.run([], thread);
    expect(thread.calls).toMatchObject([{ status: 'failed' }]);
    expect(ran).toEqual([]);
  });
});

describe("a schema that can't be read is reported once, its calls go on, and edits are refused:", () => {
  const insensitive = { properties: { path: { pattern: '(?i)\\.txt$' } } };
  test.each<[string, JSONSchema7, string]>([
    ['an unknown dialect', { $schema: 'https://schemas.example/mine' }, 'schemas.example/mine'],
    ['a pattern that JavaScript lacks', insensitive, '#/properties/path/pattern'],
    ['a schema elsewhere', { $ref: 'https://evil.example/s.json' }, 'evil.example'],
    ['a reference to nothing', { $ref: '#/$defs/none' }, '#/$defs/none'],
    ['a circle', { $ref: '#/$defs/a', $defs: { a: { anyOf: [{ $ref: '#' }] } } }, 'circle'],
    ['an unknown type', JSON.parse('{"type":"strin"}'), '#/type'],
    ['required as in draft 3', JSON.parse('{"properties":{"a":{"required":true}}}'), 'required'],
    ['a limit of draft 4', JSON.parse('{"exclusiveMinimum":true}'), '#/exclusiveMinimum'],
    ['a dynamic reference', JSON.parse('{"$dynamicRef":"#a"}'), '$dynamicRef'],
  ])('%s', async (_what, schema, why) => {
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => {});
    const fetched = vi.spyOn(globalThis, 'fetch');
    const { agent, ran } = agentOf(schema, [{ path: 'a.txt' }, { path: 'b.txt' }]);
    const failures: unknown[] = [];
    agent.on('setting-failed', (failure) => failures.push(failure));
    const thread = await agent.thread('t');
    const { approvalRequests } = await agent.run('Remove a.txt', thread);
    const request = theOnly(approvalRequests);
    const edit = agent.run(request.approve({ input: { path: 'c.txt' } }), thread);
    await expect(edit).rejects.toThrow(`can't be read, so no edit can be validated: `);
    await expect(edit).rejects.toThrow(why);
    expect(await errorCode(edit)).toBe('invalid-answer');
    await agent.run(request.approve(), thread);
    expect(ran).toEqual([{ path: 'a.txt' }]);
    const setting = 'tools.remove.inputSchema';
    const problem = expect.stringContaining(why);
    expect(failures).toMatchObject([{ setting, kind: 'unreadable-schema', problem }]);
    expect(warn.mock.calls).toEqual([[expect.stringContaining(setting)]]);
    expect(fetched).not.toHaveBeenCalled();
    vi.restoreAllMocks();
  });
});

describe('a hostile input or schema', () => {
  const recursive: JSONSchema7 = {
    type: 'object',
    anyOf: [1, 2, 3, 4].map((kind) => ({
      properties: { in: { $ref: '#' }, kind: { const: kind } },
    })),
  };
  const nested = (depth: number): object => (depth === 0 ? {} : { in: nested(depth - 1), kind: 0 });

  test.runIf(triesAll)('that would take too many attempts is refused in time', async () => {
    const { ran, edit } = await asked(recursive, { kind: 1 });
    await expect(edit(nested(60))).rejects.toThrow('too large or too deep');
    expect(ran).toEqual([]);
  });

  test('that is nested hundreds deep is refused as what it is', async () => {
    const { agent, ran } = agentOf(recursive, [nested(500)]);
    const thread = await agent.thread('t');
    await agent.run('Remove', thread);
    expect(thread.calls).toMatchObject([{ status: 'failed' }]);
    expect(ran).toEqual([]);
  });

  test('whose items would each be compared with each other is refused in time', async () => {
    const { edit } = await asked({ properties: { path: { uniqueItems: true } } });
    const path = Array.from({ length: 6_000 }, (_, index) => [index]);
    await expect(edit({ path })).rejects.toThrow('uniqueItems');
  });
});
