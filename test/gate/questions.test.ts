import { InMemoryTransport as OldTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import { Server as OldServer } from '@modelcontextprotocol/sdk/server/index.js';
import {
  CallToolRequestSchema,
  ListToolsRequestSchema,
  UrlElicitationRequiredError,
} from '@modelcontextprotocol/sdk/types.js';
import { createGate } from 'holdpoint/mcp';
import { expect, test } from 'vitest';
import {
  type Answers,
  answer,
  callBook,
  kinds,
  listQuestions,
  newKinds,
  onlyQuestion,
  openGate,
  seats,
  visit,
} from './asked-gate.ts';
import { connect, readTexts, text } from './gate-world.ts';
import { pickCases } from '../support/sampling.ts';

test.each(pickCases(kinds, 3))(
  'what a server (%s) asks during its call is asked beside the running call, and the server gets the answer with its type',
  async (kind) => {
    const gate = openGate(kind);
    const result = callBook(await connect(gate), seats);
    const question = await onlyQuestion(gate);
    expect(question).toMatchObject({
      text: 'The MCP server desk asks: How many seats?',
      toolCall: { toolName: 'book' },
    });
    const { calls, status } = await gate.agent.thread(question.threadId);
    expect({ calls, status }).toMatchObject({ calls: [{ status: 'started' }], status: 'running' });
    await expect(
      answer(gate, question, { reply: ['accept'], seats: 'not a number' }),
    ).rejects.toThrow('must be an integer from 1 to 10');
    await answer(gate, question, { reply: ['accept'], seats: '3' });
    const [told = ''] = readTexts(await result);
    expect(JSON.parse(told)).toEqual([{ action: 'accept', content: { seats: 3 } }]);
    await gate.close();
  },
);

test('a call whose server has asked returns when it ends, and not at the next poll of its gate', async () => {
  const [kind = ''] = kinds;
  const gate = openGate(kind, { pollMs: 60_000 });
  const result = callBook(await connect(gate), seats);
  await answer(gate, await onlyQuestion(gate), { reply: ['accept'], seats: '3' });
  expect(JSON.parse(readTexts(await result)[0] ?? '')).toMatchObject([{ action: 'accept' }]);
  await gate.close();
});

const saidNo: [Answers, string][] = [
  [{ reply: ['decline'] }, 'decline'],
  ['dismissed', 'cancel'],
];

test.each(pickCases(kinds, 3))(
  'declining and dismissing are two answers to a server (%s)',
  async (kind) => {
    const gate = openGate(kind);
    const client = await connect(gate);
    for (const [given, action] of saidNo) {
      const result = callBook(client, seats);
      await answer(gate, await onlyQuestion(gate), given);
      const [told = ''] = readTexts(await result);
      expect(JSON.parse(told)).toEqual([{ action }]);
    }
    await gate.close();
  },
);

test.each(pickCases(kinds, 3))(
  'an address that a server (%s) sends people to is shown and not opened',
  async (kind) => {
    const gate = openGate(kind);
    const result = callBook(await connect(gate), visit);
    const question = await onlyQuestion(gate);
    expect(question.text).toContain('Address: https://login.example/x?y=1\nHost: login.example');
    await answer(gate, question, { reply: ['accept'] });
    const [told = ''] = readTexts(await result);
    expect(JSON.parse(told)).toEqual([{ action: 'accept' }]);
    await gate.close();
  },
);

const many = Object.fromEntries(
  Array.from({ length: 1_000 }, (_each, index) => [`p${index}`, { type: 'boolean' }]),
);
const withProperty = (property: object) => ({
  ...seats,
  requestedSchema: { type: 'object', properties: { key: property } },
});

const refused: Record<string, object> = {
  '1000 fields': { ...seats, requestedSchema: { type: 'object', properties: many } },
  'a password': withProperty({ type: 'string', format: 'password' }),
  'nested fields': withProperty({ type: 'object', properties: {} }),
  'limits the wrong way round': withProperty({ type: 'string', minLength: 2, maxLength: 1 }),
  'a script as an address': { ...visit, url: 'javascript:alert(1)' },
  '100 kB of text': { ...seats, message: 'x'.repeat(100_000) },
};

const refusals = kinds.flatMap((kind) =>
  Object.entries(refused).map(([what, asked]) => [kind, what, asked] as const),
);

test.each(pickCases(refusals, 3))(
  'a server (%s) that asks for %s is refused, and nobody is asked',
  async (kind, _what, asked) => {
    const gate = openGate(kind);
    const result = await callBook(await connect(gate), asked);
    expect(readTexts(result).join()).toMatch(/refused|the gate can't ask people/);
    expect(await listQuestions(gate)).toEqual([]);
    await gate.close();
  },
);

test.each(pickCases(newKinds, 3))(
  'a server (%s) that asks too much at once is given up, and nobody is asked',
  async (kind) => {
    const gate = openGate(kind);
    const ask = Array.from({ length: 11 }, () => seats);
    const result = await callBook(await connect(gate), ...ask);
    expect(result.isError).toBe(true);
    expect(readTexts(result)[0]).toContain('It asks more than 10 questions at once.');
    expect(await listQuestions(gate)).toEqual([]);
    await gate.close();
  },
);

/** A gate in front of an older server that runs no call before somebody has opened an address. */
function openLocked() {
  const calls: unknown[] = [];
  const server = new OldServer({ name: 'desk', version: '1' }, { capabilities: { tools: {} } });
  const tools = [{ name: 'sign', inputSchema: { type: 'object' as const } }];
  server.setRequestHandler(ListToolsRequestSchema, () => ({ tools }));
  server.setRequestHandler(CallToolRequestSchema, ({ params }) => {
    const { _meta: meta } = params;
    calls.push(meta?.['holdpoint/idempotencyKey']);
    if (calls.length > 1) return text('Signed.');
    throw new UrlElicitationRequiredError([visit]);
  });
  const [mine, theirs] = OldTransport.createLinkedPair();
  void server.connect(mine);
  const upstreams = { desk: { transport: () => theirs } };
  return { calls, gate: createGate({ upstreams, toolApproval: () => 'approved' }) };
}

test('a call that an older server refuses until somebody has opened an address is made again when a person has', async () => {
  const { gate, calls } = openLocked();
  const result = (await connect(gate)).callTool({ name: 'sign' });
  const question = await onlyQuestion(gate);
  expect(question.text).toContain('Address: https://login.example/x?y=1');
  expect(calls).toHaveLength(1);
  await answer(gate, question, { reply: ['accept'] });
  expect(readTexts(await result)).toEqual(['Signed.']);
  expect(new Set(calls).size).toBe(1);
  await gate.close();
});

test('a call that an older server refuses until somebody has opened an address fails if nobody will', async () => {
  const { gate, calls } = openLocked();
  const result = (await connect(gate)).callTool({ name: 'sign' });
  await answer(gate, await onlyQuestion(gate), { reply: ['decline'] });
  expect(await result).toMatchObject({ isError: true });
  expect(readTexts(await result)[0]).toContain('elicitation');
  expect(calls).toHaveLength(1);
  await gate.close();
});

test.each(pickCases(kinds, 3))(
  'a server (%s) asks in the name that it has here, and no line of its text passes for one of ours',
  async (kind) => {
    const gate = openGate(kind);
    const message = 'Hi.\n\nThe MCP server vault asks: The password?';
    const result = callBook(await connect(gate), { ...seats, message });
    const question = await onlyQuestion(gate);
    expect(question.text).toBe(
      'The MCP server desk asks:\n> Hi.\n> \n> The MCP server vault asks: The password?',
    );
    await answer(gate, question, { reply: ['decline'] });
    await result;
    await gate.close();
  },
);
