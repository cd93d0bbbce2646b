import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import type { Transport } from '@modelcontextprotocol/server';
import { memoryStore } from 'holdpoint';
import { createGate } from 'holdpoint/mcp';
import { expect, test } from 'vitest';
import { errorCode } from '../support/error-code.ts';
import { virtualClock } from '../support/virtual-clock.ts';
import {
  answer,
  callBook,
  kinds,
  listQuestions,
  newKinds,
  oldKinds,
  onlyQuestion,
  openGate,
  passTurns,
  seats,
} from './asked-gate.ts';
import { askingServers, looking, makeOldServer } from './asking-servers.ts';
import { connect, readTexts } from './gate-world.ts';
import { pickCases } from '../support/sampling.ts';

test.each(pickCases(oldKinds, 3))(
  'from its first question on, a server (%s) gets one call at a time, and each question belongs to the call that asks',
  async (kind) => {
    const gate = openGate(kind);
    const client = await connect(gate);
    const first = callBook(client, seats);
    const one = await onlyQuestion(gate);
    const second = callBook(client, { ...seats, message: 'And for you?' });
    await passTurns();
    expect(await listQuestions(gate)).toHaveLength(1);
    await answer(gate, one, { reply: ['decline'] });
    expect(readTexts(await first)).toEqual(['[{"action":"decline"}]']);
    const other = await onlyQuestion(gate);
    expect(other.text).toContain('And for you?');
    expect(other.threadId).not.toBe(one.threadId);
    await answer(gate, other, 'dismissed');
    expect(readTexts(await second)).toEqual(['[{"action":"cancel"}]']);
    await gate.close();
  },
);

test.each(pickCases(oldKinds, 3))(
  'a question of a server (%s) that runs several calls is asked when one of them is left',
  async (kind) => {
    const held = Promise.withResolvers<void>();
    looking.until = held.promise;
    const gate = openGate(kind);
    const client = await connect(gate);
    const look = client.callTool({ name: 'look' });
    const book = callBook(client, seats);
    await passTurns();
    expect(await listQuestions(gate)).toEqual([]);
    held.resolve();
    expect(readTexts(await look)).toEqual(['seen']);
    const question = await onlyQuestion(gate);
    expect(question.toolCall?.toolName).toBe('book');
    await answer(gate, question, { reply: ['decline'] });
    expect(readTexts(await book)).toEqual(['[{"action":"decline"}]']);
    await gate.close();
  },
);

test.each(pickCases(newKinds, 3))(
  'calls of a server (%s) that says which one asks ask at the same time',
  async (kind) => {
    const gate = openGate(kind);
    const client = await connect(gate);
    const results = [callBook(client, seats), callBook(client, { ...seats, message: 'And you?' })];
    await expect.poll(async () => (await listQuestions(gate)).length).toBe(2);
    for (const question of await listQuestions(gate)) await answer(gate, question, 'dismissed');
    for (const result of results)
      expect(readTexts(await result)).toEqual(['[{"action":"cancel"}]']);
    await gate.close();
  },
);

test('a server that asks while none of its calls runs is refused', async () => {
  const server = makeOldServer();
  const [mine, theirs] = InMemoryTransport.createLinkedPair();
  void server.connect(mine);
  const gate = createGate({ upstreams: { desk: { transport: () => theirs } } });
  await connect(gate);
  const requestedSchema = { type: 'object' as const, properties: {} };
  const asking = server.elicitInput({ message: 'Who are you?', requestedSchema });
  await expect(asking).rejects.toThrow('No call is running that could ask.');
  expect(await listQuestions(gate)).toEqual([]);
  await gate.close();
});

test.each(pickCases(kinds, 3))(
  'a gate that closes asks no longer: the server (%s) is told, and its result is recorded',
  async (kind) => {
    const gate = openGate(kind);
    const client = await connect(gate);
    const result = callBook(client, seats).catch(() => undefined);
    const { threadId } = await onlyQuestion(gate);
    await gate.close();
    await result;
    const { calls, activeRequests, status } = await gate.agent.thread(threadId);
    const output = { content: [{ text: '[{"action":"cancel"}]' }] };
    expect(calls).toMatchObject([{ status: 'succeeded', outcome: { output } }]);
    expect({ activeRequests, status }).toEqual({ activeRequests: [], status: 'idle' });
  },
);

test.each(pickCases(kinds, 3))(
  'a server (%s) that dies while it asks leaves a call that is unknown, and its question is closed',
  async (kind) => {
    const transport = askingServers[kind]?.();
    const opened: Transport[] = [];
    const gate = createGate({
      upstreams: {
        desk: {
          transport: () => {
            const made = transport?.();
            if (made === undefined) throw new Error(`No server of ${kind}.`);
            opened.push(made);
            return made;
          },
        },
      },
      toolApproval: () => 'approved',
    });
    const result = callBook(await connect(gate), seats);
    const { threadId } = await onlyQuestion(gate);
    await opened.at(-1)?.close();
    expect(readTexts(await result)[0]).toContain('It is unknown whether');
    const { calls, activeRequests } = await gate.agent.thread(threadId);
    expect(calls).toMatchObject([{ status: 'indeterminate' }]);
    expect(activeRequests).toEqual([]);
    await gate.close();
  },
);

test.each(pickCases(kinds, 3))(
  'an answer after the call (%s) has ended is refused',
  async (kind) => {
    const gate = openGate(kind);
    const result = callBook(await connect(gate), seats).catch(() => undefined);
    const question = await onlyQuestion(gate);
    await gate.close();
    await result;
    expect(await errorCode(answer(gate, question, { reply: ['accept'], seats: '3' }))).toBe(
      'request-closed',
    );
  },
);

test.each(pickCases(kinds, 3))(
  'after a gate (%s) has stalled while it asked, the next one says that the call is unknown, and its question is closed',
  async (kind) => {
    const store = memoryStore();
    const stalled = openGate(kind, { store });
    void callBook(await connect(stalled), seats).catch(() => {});
    const question = await onlyQuestion(stalled);
    const gate = openGate(kind, { store, now: () => Date.now() + 60_000 });
    const told = await callBook(await connect(gate), seats);
    expect(told.isError).toBe(true);
    expect(readTexts(told)[0]).toContain('It is unknown whether this call');
    const { calls, activeRequests } = await gate.agent.thread(question.threadId);
    expect(calls).toMatchObject([{ status: 'indeterminate' }]);
    expect(activeRequests).toEqual([]);
    await stalled.close();
    await gate.close();
  },
);

/** A gate whose waits the test ends. Its leases are on the clock of this machine. */
async function openTimed(kind: string) {
  const clock = virtualClock();
  const gate = openGate(kind, { wait: clock.wait });
  return { clock, gate, client: await connect(gate) };
}

test.each(pickCases(oldKinds, 3))(
  'when two calls of a server (%s) ask at once for the first time, one is refused, and then it is plain whose question the other is',
  async (kind) => {
    const { clock, gate, client } = await openTimed(kind);
    const first = callBook(client, seats);
    const second = callBook(client, { ...seats, message: 'And for you?' });
    await clock.pass(19_000);
    expect(await listQuestions(gate)).toEqual([]);
    await clock.pass(1_000);
    expect(readTexts(await first)[0]).toContain('nobody knows which one asks');
    const question = await onlyQuestion(gate);
    expect(question.text).toContain('And for you?');
    expect(JSON.stringify(question.toolCall?.input)).toContain('And for you?');
    await answer(gate, question, 'dismissed');
    await clock.pass(1_000);
    expect(readTexts(await second)).toEqual(['[{"action":"cancel"}]']);
    await gate.close();
  },
);

test.each(pickCases(oldKinds, 3))(
  'a call that waits for its turn at a server (%s) is not made after half a minute, and says so',
  async (kind) => {
    const { clock, gate, client } = await openTimed(kind);
    const first = callBook(client, seats);
    const question = await onlyQuestion(gate);
    const look = client.callTool({ name: 'look' }, { timeout: 20_000 });
    await clock.pass(30_000);
    const refused = await look;
    expect(refused.isError).toBe(true);
    expect(readTexts(refused)[0]).toMatch(
      /^Not called: the MCP server desk gets one call at a time/,
    );
    await answer(gate, question, 'dismissed');
    await clock.pass(1_000);
    expect(readTexts(await first)).toEqual(['[{"action":"cancel"}]']);
    await gate.close();
  },
);

test.each(pickCases(kinds, 3))(
  'a person may take an hour to answer a server (%s): the client is told to call again, and nobody is asked twice',
  async (kind) => {
    const { clock, gate, client } = await openTimed(kind);
    const first = callBook(client, seats);
    const question = await onlyQuestion(gate);
    await clock.pass(45_000);
    expect(readTexts(await first)[0]).toMatch(/^Pending: "book" has begun, and its server waits/);
    await clock.pass(3_600_000);
    expect((await gate.agent.thread(question.threadId)).caller).toMatchObject({ state: 'pending' });
    const second = callBook(client, seats);
    await clock.pass(5_000);
    expect(await listQuestions(gate)).toMatchObject([{ requestId: question.requestId }]);
    await answer(gate, question, { reply: ['accept'], seats: '3' });
    await clock.pass(1_000);
    expect(readTexts(await second)).toEqual(['[{"action":"accept","content":{"seats":3}}]']);
    await gate.close();
  },
);

test('a client that can show a page is shown that of the question', async () => {
  const gate = openGate('an older protocol, stdio', {
    pageUrl: ({ requestId }) => `http://localhost:4242/${requestId}`,
  });
  const client = await connect(
    gate,
    { principal: 'ada' },
    { capabilities: { elicitation: { url: {} } } },
  );
  const shown: unknown[] = [];
  client.setRequestHandler('elicitation/create', ({ params }) => {
    shown.push(params);
    return { action: 'accept' };
  });
  const result = callBook(client, seats);
  const question = await onlyQuestion(gate);
  await expect
    .poll(() => shown)
    .toMatchObject([
      {
        message: 'The server of "book" asks a person something. Open this page to answer.',
        url: `http://localhost:4242/${question.requestId}`,
      },
    ]);
  await answer(gate, question, 'dismissed');
  expect(readTexts(await result)).toEqual(['[{"action":"cancel"}]']);
  await gate.close();
});

test.each(pickCases(oldKinds, 3))(
  'after a call was given up, questions of its server (%s) are refused: it may be the one that asks',
  async (kind) => {
    const { clock, gate, client } = await openTimed(kind);
    looking.until = new Promise(() => {});
    const lost = client.callTool({ name: 'look' }, { timeout: 20_000 });
    await clock.pass(600_000);
    expect(readTexts(await lost)[0]).toContain('It is unknown whether');
    const result = callBook(client, seats);
    await clock.pass(1_000);
    expect(readTexts(await result)[0]).toContain('An earlier call was given up');
    expect(await listQuestions(gate)).toEqual([]);
    await gate.close();
  },
);
