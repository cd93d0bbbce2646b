import { jsonSchema, tool } from 'ai';
import { createAgent } from 'holdpoint';
import { sqliteStore } from 'holdpoint/stores/sqlite';
import { scriptedModel } from 'holdpoint/testing';
import { afterEach, expect, test, vi } from 'vitest';

const agent = createAgent({ model: scriptedModel([{ text: 'Hi.' }]).model });

/* The methods of an agent that take a thread, called as JavaScript can call them. */
const calls: [string, (thread: unknown) => unknown][] = [
  ['run', (thread) => Reflect.apply(agent.run, agent, ['Hi', thread])],
  ['stream', (thread) => Reflect.apply(agent.stream, agent, ['Hi', thread]).response],
  ['respond', (thread) => Reflect.apply(agent.respond, agent, [[], thread])],
  ['requestApproval', (thread) => Reflect.apply(agent.requestApproval, agent, [thread, {}])],
  ['requestAnswer', (thread) => Reflect.apply(agent.requestAnswer, agent, [thread, 'c1', {}])],
  ['settle', (thread) => Reflect.apply(agent.settle, agent, [thread, 'c1', {}])],
  ['deliver', (thread) => Reflect.apply(agent.deliver, agent, [thread, 'c1', {}])],
  ['retract', (thread) => Reflect.apply(agent.retract, agent, [thread])],
  ['stop', (thread) => Reflect.apply(agent.stop, agent, [thread])],
  ['cancel', (thread) => Reflect.apply(agent.cancel, agent, [thread])],
  ['adopt', (thread) => Reflect.apply(agent.adopt, agent, [thread])],
  ['delete', (thread) => Reflect.apply(agent.delete, agent, [thread])],
];

const mistakes = [
  { what: 'no thread', got: 'undefined', make: () => undefined },
  { what: 'the id of a thread', got: 'string', make: () => 'trip-42' },
  { what: 'a promise of a thread', got: 'a promise', make: () => agent.thread('trip-42') },
];

test.each(calls.flatMap(([method, call]) => mistakes.map((each) => ({ method, call, ...each }))))(
  'agent.$method with $what says what to pass',
  async ({ call, got, make }) => {
    await expect(call(make())).rejects.toMatchObject({
      code: 'invalid-input',
      message: `Pass a thread, from \`await agent.thread(id)\`; got ${got}.`,
    });
  },
);

test('agent.thread with an id that was lost says so, and starts no thread', async () => {
  const lost: unknown[][] = [[undefined], [undefined, { messages: [] }]];
  for (const given of lost) {
    await expect(Reflect.apply(agent.thread, agent, given)).rejects.toThrow(
      new TypeError(
        "agent.thread got the id undefined. Pass a thread's `id`, or the `threadId` of a request or an event; call it without arguments for a new thread.",
      ),
    );
  }
  const thread = await agent.thread();
  // @ts-expect-error -- a thread calls it id
  await expect(agent.thread(thread.threadId)).rejects.toThrow(TypeError);
  expect(thread.id).toHaveLength(22);
});

test.each(['settle', 'deliver'] as const)(
  'agent.%s refuses the thread of another agent before it prepares any tool',
  async (method) => {
    const inputSchema = jsonSchema(() => {
      throw new Error('The tool server is down.');
    });
    const tools = { look: tool({ inputSchema }) };
    const other = createAgent({ model: scriptedModel([]).model, tools });
    const thread = await agent.thread('elsewhere');
    const ending = other[method](thread, 'c1', { status: 'failed', error: 'x' });
    await expect(ending).rejects.toMatchObject({ code: 'invalid-input' });
  },
);

afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
});

test('a Node that is too old is named when an agent is made', () => {
  vi.stubGlobal('Promise', class extends Promise<unknown> {});
  Reflect.set(Promise, 'withResolvers', undefined);
  expect(() => createAgent({ model: 'provider/model' })).toThrow(
    `holdpoint needs Node 22.18 or newer; this is ${process.version}.`,
  );
});

test('a Node without SQLite is named when a store is opened', () => {
  vi.spyOn(process, 'getBuiltinModule').mockReturnValue(undefined);
  expect(() => sqliteStore(':memory:')).toThrow(
    'holdpoint/stores/sqlite needs the module node:sqlite, which Node has from 22.18 on',
  );
});
