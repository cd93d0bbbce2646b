import { type JSONValue, tool, type ToolSet } from 'ai';
import { later } from 'holdpoint';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { memoryWorld } from '../support/travel-world.ts';

const done = { text: 'Done.' };

async function outcomeOf(made: ToolSet[string]) {
  const world = memoryWorld([{ calls: [{ id: 'c1', name: 'make', input: {} }] }, done]);
  const agent = world.agent({ tools: { make: made }, toolApproval: {} });
  const response = await agent.run('Make', await agent.thread('t'));
  const reopened = await world.agent({ tools: { make: made }, toolApproval: {} }).thread('t');
  expect(JSON.stringify(reopened)).toBe(JSON.stringify(response.thread));
  expect(response).toMatchObject({ status: 'completed', text: 'Done.' });
  return { call: response.thread.calls[0], message: response.thread.messages.at(-2), world };
}

function making(output: unknown, more: Partial<ToolSet[string]> = {}): ToolSet[string] {
  return Object.assign(
    tool({ description: 'make', inputSchema: z.object({}), execute: async () => output }),
    more,
  );
}

const cycle: unknown[] = [];
cycle.push(cycle);
let deep: unknown = 'bottom';
for (let depth = 0; depth < 50_000; depth += 1) deep = [deep];

/** Lists in lists. */
function nested(levels: number): JSONValue {
  let value: JSONValue = 'bottom';
  for (let level = 0; level < levels; level += 1) value = [value];
  return value;
}

const trapped = new Proxy(
  { amount: 1n },
  {
    has(target, key) {
      if (key === later) throw new Error('gotcha');
      return key in target;
    },
  },
);

test.each([
  ['a BigInt', 1n],
  ['a cycle', cycle],
  ['a function', () => 1],
  ['50,000 levels of nesting', deep],
  [
    'a getter that throws',
    {
      get trap() {
        throw new Error('gotcha');
      },
    },
  ],
  ['what throws when it is asked whether it comes later', trapped],
])(
  'a tool that returns %s has succeeded, and a placeholder says what was not recorded',
  async (_what, output) => {
    const { call } = await outcomeOf(making(output));
    expect(call).toMatchObject({ status: 'succeeded' });
    const recorded = JSON.stringify(call?.outcome);
    expect(recorded).toContain("can't be recorded as JSON");
    expect(recorded.length).toBeLessThan(400);
  },
);

test.each([
  ['text', 'booked', 'booked', { type: 'text', value: 'booked' }],
  ['nothing', undefined, null, { type: 'json', value: null }],
  ['a NUL character', { text: '\0' }, { text: '\0' }, { type: 'json', value: { text: '\0' } }],
  ['half a surrogate pair', '\uD800', '\uD800', { type: 'text', value: '\uD800' }],
  ['a date', { at: new Date(0) }, { at: '1970-01-01T00:00:00.000Z' }, { type: 'json' }],
  [
    'a key like our own tags',
    { $bytes: 'AAAA' },
    { $bytes: 'AAAA' },
    { value: { $bytes: 'AAAA' } },
  ],
  ['no number', Number.NaN, null, { type: 'json', value: null }],
])(
  'a tool that returns %s: the log holds what JSON makes of it',
  async (_what, output, recorded, seen) => {
    const { call, message } = await outcomeOf(making(output));
    expect(call?.outcome).toEqual({ status: 'succeeded', output: recorded });
    expect(message).toMatchObject({ content: [{ output: seen }] });
  },
);

test.each([470, 490, 495, 499, 501, 505])(
  'what a tool returns with %i levels of nesting can be recorded, or a placeholder is',
  async (levels) => {
    const plain = await outcomeOf(making(nested(levels)));
    expect(plain.call).toMatchObject({ status: 'succeeded' });
    const tagged = await outcomeOf(making({ $bytes: nested(levels) }));
    expect(tagged.call).toMatchObject({ status: 'succeeded' });
    const written = await outcomeOf(making({ toJSON: () => nested(levels) }));
    expect(written.call).toMatchObject({ status: 'succeeded' });
    const value = nested(levels);
    const seen = { toModelOutput: () => ({ type: 'json' as const, value }) };
    const shown = await outcomeOf(making('short', seen));
    expect(shown.call).toMatchObject({ outcome: { status: 'succeeded', output: 'short' } });
  },
);

test('toModelOutput makes what the model sees; the output itself stays in the log', async () => {
  const { call, message } = await outcomeOf(
    making(
      { secret: 1, name: 'Paris' },
      {
        toModelOutput: ({ output }: { output: { name: string } }) => ({
          type: 'text' as const,
          value: `to ${output.name}`,
        }),
      },
    ),
  );
  expect(call?.outcome).toMatchObject({ output: { secret: 1, name: 'Paris' } });
  expect(message).toMatchObject({ content: [{ output: { type: 'text', value: 'to Paris' } }] });
});

test('a toModelOutput that throws loses nothing: the model sees the plain output', async () => {
  const { message } = await outcomeOf(
    making('booked', {
      toModelOutput: () => {
        throw new Error('no view');
      },
    }),
  );
  expect(message).toMatchObject({ content: [{ output: { type: 'text', value: 'booked' } }] });
});

test('what a tool goes on writing in what it gave to the model is not in the log', async () => {
  let seen = 0;
  const living = {
    type: 'json' as const,
    get value() {
      seen += 1;
      return { seen };
    },
  };
  const { call } = await outcomeOf(making('booked', { toModelOutput: () => living }));
  expect(call?.outcome).toMatchObject({ modelOutput: { value: { seen: expect.any(Number) } } });
});

function hides(_target: object, key: string | symbol): boolean {
  if (key === later) throw new Error('gotcha');
  return false;
}

test('a tool that returns a proxy that does not say what it is has succeeded, and the process goes on', async () => {
  const { call } = await outcomeOf(making(new Proxy({ city: 'Paris' }, { has: hides })));
  expect(call?.outcome).toEqual({ status: 'succeeded', output: { city: 'Paris' } });
});

test('a tool that returns an async iterable gives its last output', async () => {
  const streaming = tool({
    description: 'make',
    inputSchema: z.object({}),
    async *execute() {
      yield 'looking';
      yield 'found';
    },
  });
  const { call } = await outcomeOf(streaming);
  expect(call?.outcome).toMatchObject({ output: 'found' });
});

test.each([
  ['an error', new Error('no seats'), 'no seats'],
  ['text', 'no seats', 'no seats'],
  ['an object', { code: 7 }, '{"code":7}'],
  ['nothing', undefined, 'It failed without a message.'],
  [
    'an error without a readable message',
    Object.defineProperty(new Error('x'), 'message', {
      get() {
        throw new Error('gotcha');
      },
    }),
    'It failed with an error that has no readable message.',
  ],
])('a tool that throws %s gives one result the model can read', async (_what, thrown, message) => {
  const { call } = await outcomeOf(
    making(undefined, {
      execute: () => {
        throw thrown;
      },
    }),
  );
  expect(call?.outcome).toEqual({ status: 'failed', error: message });
});

test('an error that is cut to length is well-formed text still, as providers refuse other', async () => {
  const { call } = await outcomeOf(
    making(undefined, {
      execute: () => {
        throw new Error(`${'x'.repeat(7_999)}😀`);
      },
    }),
  );
  expect(call?.outcome).toEqual({ status: 'failed', error: `${'x'.repeat(7_999)}\uFFFD` });
});

test("execute gets the AI SDK's options, its validated context, and a key that is stable and the call's own", async () => {
  const seen: unknown[] = [];
  const contextual = tool({
    description: 'make',
    inputSchema: z.object({}),
    contextSchema: z.object({ tenant: z.string() }),
    execute: async (_input, options) => {
      seen.push(options);
      return 'made';
    },
  });
  const world = memoryWorld([
    {
      calls: [
        { id: 'c1', name: 'make', input: {} },
        { id: 'c2', name: 'make', input: {} },
      ],
    },
    done,
  ]);
  const signal = new AbortController().signal;
  const agent = world.agent({
    tools: { make: contextual },
    toolApproval: {},
    toolsContext: { make: { tenant: 'acme' } },
  });
  const { thread } = await agent.run('Make', await agent.thread('t'), { abortSignal: signal });
  const messages = [{ role: 'user', content: 'Make' }];
  expect(seen).toMatchObject([
    { toolCallId: 'c1', messages, abortSignal: signal, context: { tenant: 'acme' } },
    { toolCallId: 'c2', messages, abortSignal: signal, context: { tenant: 'acme' } },
  ]);
  const keys = thread.calls.map(({ idempotencyKey }) => idempotencyKey);
  expect(new Set(keys).size).toBe(2);
  expect(seen.map((options) => Reflect.get(Object(options), 'idempotencyKey'))).toEqual(keys);
});

test('a context that its schema refuses is a TypeError, and nothing is recorded', async () => {
  const contextual = tool({
    description: 'make',
    inputSchema: z.object({}),
    contextSchema: z.object({ tenant: z.string() }),
    execute: async () => 'made',
  });
  const agent = memoryWorld([]).agent({ tools: { make: contextual }, toolApproval: {} });
  const thread = await agent.thread('t');
  await expect(agent.run('Make', thread)).rejects.toThrow(TypeError);
  expect(thread.revision).toBe(0);
});
