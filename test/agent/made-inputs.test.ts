import { type FlexibleSchema, jsonSchema, tool, type ToolSet } from 'ai';
import {
  type AgentOptions,
  createAgent,
  later,
  memoryStore,
  type SettingFailure,
  type ToolCallRecord,
} from 'holdpoint';
import { scriptedModel } from 'holdpoint/testing';
import { describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import * as z3 from 'zod/v3';
import { pickCases } from '../support/sampling.ts';

type Schema = FlexibleSchema<unknown>;

interface World {
  schema: Schema;
  input: object | string;
  options?: Partial<AgentOptions>;
}

/** A tool `pay` with this schema; agents that share a store, and whose model calls it once. */
function payWorld({ schema, input, options = {} }: World) {
  const ran: unknown[] = [];
  const failures: SettingFailure[] = [];
  const store = memoryStore();
  const payWith = (inputSchema: Schema): ToolSet => ({
    pay: tool({
      inputSchema,
      execute: async (given: unknown) => {
        ran.push(given);
        return 'paid';
      },
    }),
  });
  const { model } = scriptedModel((messages) =>
    messages.at(-1)?.role === 'tool'
      ? { text: 'Done.' }
      : { calls: [{ id: 'c1', name: 'pay', input }] },
  );
  const agent = (now: Schema = schema, more: Partial<AgentOptions> = {}) => {
    const made = createAgent({
      model,
      store,
      tools: payWith(now),
      toolApproval: { pay: 'user-approval' },
      ...options,
      ...more,
    });
    made.on('setting-failed', (failure) => failures.push(failure));
    return made;
  };
  /** Leaves the call proposed: its turn had not come when the run was aborted. */
  const propose = async (now: Schema = schema) => {
    const stopping = new AbortController();
    const wait = tool({
      inputSchema: z.unknown(),
      execute: async (): Promise<string> => {
        stopping.abort();
        return 'aborted';
      },
    });
    const calls = [
      { id: 'w1', name: 'wait', input: {} },
      { id: 'c1', name: 'pay', input },
    ];
    const asking = agent(now, {
      model: scriptedModel([{ calls }]).model,
      tools: { wait, ...payWith(now) },
      toolCallConcurrency: 1,
    });
    const { signal: abortSignal } = stopping;
    await asking.run('Pay.', await asking.thread('t'), { abortSignal }).catch(() => {});
    const thread = await asking.thread('t');
    expect(thread.calls[1]?.status).toBe('proposed');
  };
  return { ran, failures, store, agent, propose };
}

/** Asks in one process, and says yes in another that reads the log. */
async function approveElsewhere(world: ReturnType<typeof payWorld>, now?: Schema) {
  const asking = world.agent();
  const asked = await asking.run('Pay.', await asking.thread('t'));
  const [request] = asked.approvalRequests;
  const next = world.agent(now);
  const thread = await next.restore(JSON.parse(JSON.stringify(await next.thread('t'))));
  const response = await next.run(
    thread.activeApprovalRequests.map((open) => open.approve()),
    thread,
  );
  return { request, thread, response, agent: next };
}

const day = '2026-11-29T00:00:00.000Z';

const isoDate = z.string().transform((text) => new Date(text));
const times = (factor: number) => z.object({ n: z.number().transform((n) => n * factor) });
const askForSum = ({ n }: { n: number }): string => `Pay ${n}?`;
const makes = (n: number) =>
  jsonSchema({}, { validate: (given) => ({ success: true, value: { given, n } }) });
function quoteInput(value: unknown): { success: false; error: Error } {
  return { success: false, error: new Error(`bad: ${JSON.stringify(value)}`) };
}

const never = async (): Promise<string> => new Promise(() => {});

/* What a schema makes, what people are shown of it, and what `execute` gets. */
const shownValues: [what: string, schema: Schema, input: object, shown: unknown, given: unknown][] =
  [
    ['a date', z.object({ at: isoDate }), { at: day }, { at: day }, { at: new Date(day) }],
    [
      'a date of a codec',
      z.object({
        at: z.codec(z.iso.date(), z.date(), {
          decode: (text) => new Date(text),
          encode: (date) => date.toISOString().slice(0, 10),
        }),
      }),
      { at: '2026-11-29' },
      { at: day },
      { at: new Date(day) },
    ],
    [
      'a URL',
      z.object({ at: z.url().transform((text) => new URL(text)) }),
      { at: 'https://a.example/x' },
      { at: 'https://a.example/x' },
      { at: new URL('https://a.example/x') },
    ],
    [
      'a BigInt',
      z.object({ n: z.string().transform(BigInt) }),
      { n: '12345678901234567890' },
      { n: '12345678901234567890' },
      { n: 12345678901234567890n },
    ],
    [
      'a Set',
      z.object({ to: z.array(z.string()).transform((items) => new Set(items)) }),
      { to: ['a', 'b'] },
      { to: ['a', 'b'] },
      { to: new Set(['a', 'b']) },
    ],
    [
      'a Map of dates',
      z.object({
        at: z.record(z.string(), isoDate).transform((days) => new Map(Object.entries(days))),
      }),
      { at: { due: day } },
      { at: [['due', day]] },
      { at: new Map([['due', new Date(day)]]) },
    ],
    [
      'a nullable field that becomes undefined',
      z.object({
        to: z.string(),
        memo: z
          .string()
          .nullable()
          .transform((memo) => memo ?? undefined),
      }),
      { to: 'ada', memo: null },
      { to: 'ada' },
      { to: 'ada' },
    ],
    [
      'undefined in a list',
      z.object({
        memos: z.array(
          z
            .string()
            .nullable()
            .transform((memo) => memo ?? undefined),
        ),
      }),
      { memos: ['a', null] },
      { memos: ['a', null] },
      { memos: ['a', undefined] },
    ],
    ['undefined alone', z.unknown().transform(() => undefined), { to: 'ada' }, null, undefined],
    [
      'a text that is trimmed',
      z.object({ to: z.string().trim() }),
      { to: ' ada ' },
      { to: 'ada' },
      { to: 'ada' },
    ],
    [
      'a number times a hundred',
      z.object({ n: z.number().transform((n) => n * 100) }),
      { n: 4 },
      { n: 400 },
      { n: 400 },
    ],
    [
      'another shape, nested',
      z.object({
        a: z.object({ euros: z.number() }).transform(({ euros }) => ({ cents: [euros * 100] })),
      }),
      { a: { euros: 4 } },
      { a: { cents: [400] } },
      { a: { cents: [400] } },
    ],
    ['a default', z.object({ n: z.number().default(7) }), {}, { n: 7 }, { n: 7 }],
    [
      'a date of Zod 3',
      z3.z.object({ at: z3.z.coerce.date() }),
      { at: day },
      { at: day },
      { at: new Date(day) },
    ],
    [
      "a date of the AI SDK's jsonSchema",
      jsonSchema<{ at: Date }>(
        { type: 'object', properties: { at: { type: 'string' } } },
        {
          validate: (value) => ({
            success: true,
            value: { at: new Date(String(Reflect.get(Object(value), 'at'))) },
          }),
        },
      ),
      { at: day },
      { at: day },
      { at: new Date(day) },
    ],
  ];

describe('a call runs with what its schema makes:', () => {
  test.each(pickCases(shownValues, 3))(
    '%s, shown as JSON and approved in another process',
    async (_what, schema, input, shown, given) => {
      const world = payWorld({ schema, input });
      const { request, response, thread } = await approveElsewhere(world);
      expect(request?.toolCall?.input).toEqual(shown);
      expect(response.status).toBe('completed');
      expect(world.ran).toEqual([given]);
      expect(thread.calls).toMatchObject([{ status: 'succeeded', input: shown }]);
      const [call] = thread.calls;
      expect(call?.given ?? call?.input).toEqual(input);
    },
  );

  test.each(pickCases(shownValues, 3))(
    '%s, unasked',
    async (_what, schema, input, shown, given) => {
      const world = payWorld({ schema, input, options: { toolApproval: {} } });
      const agent = world.agent();
      const thread = await agent.thread('t');
      await agent.run('Pay.', thread);
      expect(world.ran).toEqual([given]);
      expect(thread.calls).toMatchObject([{ status: 'succeeded', input: shown }]);
    },
  );
});

test.each(pickCases(shownValues, 3))(
  'toModelOutput gets %s of a call whose outcome another process delivers',
  async (_what, schema, input, _shown, given) => {
    const seen: unknown[] = [];
    const pay = tool({
      inputSchema: schema,
      execute: () => later,
      toModelOutput: ({ input: made }) => {
        seen.push(made);
        return { type: 'text', value: 'paid' };
      },
    });
    const world = payWorld({ schema, input, options: { toolApproval: {}, tools: { pay } } });
    const asking = world.agent(schema, { tools: { pay } });
    await asking.run('Pay.', await asking.thread('t'));
    const agent = world.agent(schema, { tools: { pay } });
    const thread = await agent.restore(JSON.parse(JSON.stringify(await agent.thread('t'))));
    await agent.deliver(thread, 'c1', { status: 'succeeded', output: 'paid' });
    expect(seen).toEqual([given]);
  },
);

test('reconcile gets a date, and what JSON.stringify makes of a value without a form', async () => {
  let now = 0;
  const seen: unknown[] = [];
  const reconcile = async ({ input }: { input: unknown }) => {
    seen.push(input);
    return { status: 'succeeded', output: 'paid' } as const;
  };
  const schema = z.object({ at: isoDate, sum: z.number().transform((n) => new Money(n)) });
  const options = { now: () => now, toolRecovery: { pay: { reconcile } }, toolApproval: {} };
  const world = payWorld({ schema, input: { at: day, sum: 4 }, options });
  const dying = world.agent(schema, {
    tools: { pay: tool({ inputSchema: schema, execute: never }) },
  });
  void dying.run('Pay.', await dying.thread('t')).catch(() => {});
  await expect.poll(async () => (await world.agent().thread('t')).calls[0]?.status).toBe('started');
  now = 600_000;
  const agent = world.agent();
  await agent.run([], await agent.thread('t'));
  expect(seen).toEqual([{ at: new Date(day), sum: { cents: 4 } }]);
});

class Money {
  readonly cents: number;
  constructor(cents: number) {
    this.cents = cents;
  }
}

describe('a value that JSON has no form for', () => {
  const schema = z.object({ to: z.string(), sum: z.number().transform((n) => new Money(n)) });
  const input = { to: 'ada', sum: 400 };

  test('is not asked about: the call fails, and the app hears which field it is, once', async () => {
    const world = payWorld({ schema, input });
    const agent = world.agent();
    const thread = await agent.thread('t');
    const response = await agent.run('Pay.', thread);
    expect(response).toMatchObject({ status: 'completed', text: 'Done.' });
    expect(world.ran).toEqual([]);
    const [call] = thread.calls;
    expect(call?.outcome).toMatchObject({ status: 'failed' });
    expect(world.failures).toMatchObject([
      {
        setting: 'tools.pay.inputSchema',
        kind: 'invalid',
        problem: expect.stringContaining('field "sum"'),
      },
    ]);
    expect(world.failures[0]?.problem).toContain('Money');
  });

  test.each<[string, AgentOptions['toolApproval']]>([
    ['no rule', {}],
    ['a rule that says so', { pay: 'approved' }],
    [
      'a rule that reads another field',
      { pay: ({ to }: { to: string }) => (to === 'ada' ? 'approved' : 'user-approval') },
    ],
    [
      'a rule that reads the name of the tool',
      ({ toolCall }) => (toolCall.toolName === 'pay' ? 'approved' : 'user-approval'),
    ],
  ])('runs with the value itself where nobody is asked, by %s', async (_what, toolApproval) => {
    const world = payWorld({ schema, input, options: { toolApproval } });
    const agent = world.agent();
    await agent.run('Pay.', await agent.thread('t'));
    expect(world.ran).toEqual([{ to: 'ada', sum: new Money(400) }]);
    expect(world.failures).toEqual([]);
  });

  test.each<[string, AgentOptions['toolApproval']]>([
    [
      'the field',
      { pay: ({ sum }: { sum: Money }) => (sum.cents > 100 ? 'user-approval' : 'approved') },
    ],
    [
      'the field, without anything inside it',
      { pay: ({ sum }: { sum: Money }) => (sum === undefined ? 'user-approval' : 'approved') },
    ],
    [
      'all, by structuredClone',
      { pay: (given: object) => (structuredClone(given) === given ? 'user-approval' : 'approved') },
    ],
  ])('does not run where a rule relies on it: it reads %s', async (_what, toolApproval) => {
    const world = payWorld({ schema, input, options: { toolApproval } });
    const agent = world.agent();
    const thread = await agent.thread('t');
    await agent.run('Pay.', thread);
    expect(world.ran).toEqual([]);
    expect(thread.calls).toMatchObject([{ status: 'failed' }]);
  });
});

/** A lost call of a value of which JSON tells nothing, in a process that would make another one. */
async function loseUnshown(options: Partial<AgentOptions> = {}) {
  let sum = 5;
  let now = 0;
  class Hidden {
    readonly #sum = sum;
    get sum(): number {
      return this.#sum;
    }
  }
  const schema = z.unknown().transform(() => new Hidden());
  const world = payWorld({
    schema,
    input: {},
    options: { toolApproval: {}, now: () => now, ...options },
  });
  const dying = world.agent(schema, {
    tools: { pay: tool({ inputSchema: schema, execute: never }) },
  });
  void dying.run('Pay.', await dying.thread('t')).catch(() => {});
  const agent = world.agent();
  await expect.poll(async () => (await agent.thread('t')).calls[0]?.status).toBe('started');
  now = 600_000;
  sum = 500;
  const thread = await agent.thread('t');
  await agent.run([], thread);
  return { ...world, thread, agent };
}

describe('a lost call of a value that JSON has no form for', () => {
  test('can not be approved again, as nobody can be shown what would run', async () => {
    const { ran, thread, agent } = await loseUnshown();
    const retrying = agent.settle(thread, 'c1', { status: 'retry' });
    await expect(retrying).rejects.toMatchObject({ code: 'not-allowed' });
    await agent.run([], thread);
    expect([ran, thread.calls[0]?.status]).toEqual([[], 'indeterminate']);
  });

  test('is not started again, as the value may be another one', async () => {
    const { ran, thread } = await loseUnshown({ toolRecovery: { pay: { idempotent: true } } });
    expect([ran, thread.calls[0]?.status]).toEqual([[], 'indeterminate']);
  });
});

test('a rule that adds up earlier calls decides nothing on values that JSON has no form for', async () => {
  const toolApproval: AgentOptions['toolApproval'] = {
    pay: (_given: unknown, { calls }: { calls: readonly ToolCallRecord[] }) =>
      calls.some(({ input }) => Reflect.get(Object(input), 'sum').cents > 100)
        ? 'user-approval'
        : 'approved',
  };
  const schema = z.object({ sum: z.number().transform((n) => ({ of: new Money(n) })) });
  const world = payWorld({ schema, input: { sum: 400 }, options: { toolApproval } });
  const agent = world.agent();
  const thread = await agent.thread('t');
  await agent.run('Pay.', thread);
  await agent.run('Pay again.', thread);
  expect(world.ran).toHaveLength(1);
  expect(world.failures[0]?.problem).toContain('It reads the input of call c1');
});

/** A date that holds more than a date does. */
class ZonedDate extends Date {
  readonly zone: string;
  constructor(text: string, zone: string) {
    super(text);
    this.zone = zone;
  }
}

test.each([
  ['Date', z.string().transform((text) => new ZonedDate(text, 'Europe/Rome'))],
  ['Map', z.string().transform(() => new (class Prices extends Map {})())],
])('a value of a class of its own that extends %s has no form', async (_what, at) => {
  const world = payWorld({ schema: z.object({ at }), input: { at: day } });
  const agent = world.agent();
  const thread = await agent.thread('t');
  await agent.run('Pay.', thread);
  expect([world.ran, thread.calls[0]?.status]).toEqual([[], 'failed']);
});

test('a date has its form under the clock of a test', async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  try {
    const world = payWorld({ schema: z.object({ at: isoDate }), input: { at: day } });
    const { request } = await approveElsewhere(world);
    expect(request?.toolCall?.input).toEqual({ at: day });
    expect(world.ran).toEqual([{ at: new Date(day) }]);
  } finally {
    vi.useRealTimers();
  }
});

test('a history of the AI SDK may have what schemas made of its inputs', async () => {
  const world = payWorld({ schema: z.object({}), input: {} });
  const input = { at: new Date(day), memo: undefined, sum: 1n };
  const output = { type: 'text', value: 'paid' } as const;
  const thread = await world.agent().thread('imported', {
    messages: [
      { role: 'user', content: 'Pay.' },
      {
        role: 'assistant',
        content: [{ type: 'tool-call', toolCallId: 'c1', toolName: 'pay', input }],
      },
      {
        role: 'tool',
        content: [{ type: 'tool-result', toolCallId: 'c1', toolName: 'pay', output }],
      },
    ],
  });
  expect(thread.messages[1]?.content).toMatchObject([{ input: { at: day, sum: '1' } }]);
});

describe('before each start the schema makes the value again', () => {
  const plain = z.object({ to: z.string(), n: z.number().default(1) });
  const changes: [what: string, now: Schema][] = [
    ['a required field more', z.object({ to: z.string(), iban: z.string() })],
    ['a lower maximum', z.object({ to: z.string().max(2) })],
    ['a renamed field', z.object({ recipient: z.string() })],
    ['another type', z.object({ to: z.number() })],
    ['a rule of its own', z.object({ to: z.string().refine((to) => to !== 'ada', 'not ada') })],
    [
      'one that is checked elsewhere',
      z.object({ to: z.string().refine(async (to) => to !== 'ada') }),
    ],
    [
      'one that throws',
      z.object({
        to: z.string().transform(() => {
          throw new Error('down');
        }),
      }),
    ],
  ];

  test.each(pickCases(changes, 3))(
    'after %s an approved call fails, and the model reads why',
    async (_what, now) => {
      const world = payWorld({ schema: plain, input: { to: 'ada' } });
      const { thread, response } = await approveElsewhere(world, now);
      expect(response).toMatchObject({ status: 'completed', text: 'Done.' });
      expect(world.ran).toEqual([]);
      const [call] = thread.calls;
      expect(call?.status).toBe('failed');
      expect(JSON.stringify(call?.outcome)).toMatch(
        /Not run: the input schema of tool 'pay' refuses the input/,
      );
      expect(JSON.stringify(thread.messages.at(-2))).toContain('refuses the input');
    },
  );

  test.each(pickCases(changes, 3))(
    'after %s a call that nobody was asked about, and that waited for its turn, fails too',
    async (_what, now) => {
      const world = payWorld({
        schema: plain,
        input: { to: 'ada' },
        options: { toolApproval: {} },
      });
      await world.propose();
      const agent = world.agent(now);
      const thread = await agent.thread('t');
      await agent.run([], thread);
      expect([world.ran, thread.calls[1]?.status]).toEqual([[], 'failed']);
    },
  );

  test('a call that still fits, whose tool has changed, is asked about again and then runs', async () => {
    const world = payWorld({ schema: z.object({ to: z.string() }), input: { to: 'ada' } });
    const { thread, response, agent } = await approveElsewhere(
      world,
      z.object({ to: z.string().max(9) }),
    );
    expect(response.status).toBe('waiting');
    await agent.run(
      thread.activeApprovalRequests.map((request) => request.approve()),
      thread,
    );
    expect(world.ran).toEqual([{ to: 'ada' }]);
  });

  test('another value is asked about once more, in words about that value, and then runs as it was shown', async () => {
    const toolApproval: AgentOptions['toolApproval'] = {
      pay: { type: 'user-approval', text: askForSum },
    };
    const world = payWorld({ schema: times(1), input: { n: 5 }, options: { toolApproval } });
    const { request, thread, agent } = await approveElsewhere(world, times(100));
    expect(request?.text).toBe('Pay 5?');
    expect(world.ran).toEqual([]);
    const [again] = thread.activeApprovalRequests;
    expect(again).toMatchObject({ text: 'Pay 500?', toolCall: { input: { n: 500 } } });
    await agent.run(
      thread.activeApprovalRequests.map((open) => open.approve()),
      thread,
    );
    expect(world.ran).toEqual([{ n: 500 }]);
    expect(thread.calls).toMatchObject([{ input: { n: 500 }, given: { n: 5 } }]);
  });

  test('another value is asked about on the terms that the rule has for it, or denied', async () => {
    const toolApproval: AgentOptions['toolApproval'] = {
      pay: ({ n }: { n: number }) =>
        n > 1_000
          ? { type: 'denied', reason: 'Too much.' }
          : { type: 'user-approval', ...(n > 100 && { requireReason: true }) },
    };
    const options = { toolApproval };
    const dearer = await approveElsewhere(
      payWorld({ schema: times(1), input: { n: 5 }, options }),
      times(100),
    );
    expect(dearer.thread.activeApprovalRequests).toMatchObject([{ requireReason: true }]);
    const world = payWorld({ schema: times(1), input: { n: 5 }, options });
    const { thread } = await approveElsewhere(world, times(1_000));
    expect(thread.calls).toMatchObject([{ outcome: { status: 'denied', reason: 'Too much.' } }]);
    expect(world.ran).toEqual([]);
  });

  test('people are not told what a schema quotes of an input that it refuses, and the model is', async () => {
    const world = payWorld({ schema: plain, input: { to: 'hunter2' } });
    const { thread } = await approveElsewhere(
      world,
      jsonSchema({ type: 'object' }, { validate: quoteInput }),
    );
    expect(JSON.stringify(thread.calls[0]?.outcome)).toContain('hunter2');
    const closed = thread.events.filter(({ type }) => type === 'request-closed');
    expect(closed).toHaveLength(1);
    expect(JSON.stringify(closed)).not.toContain('hunter2');
  });

  test('the same JSON of another type is asked about again', async () => {
    const world = payWorld({ schema: z.object({ at: isoDate }), input: { at: day } });
    const { thread, response } = await approveElsewhere(world, z.object({ at: z.string() }));
    expect([response.status, world.ran]).toEqual(['waiting', []]);
    expect(thread.calls[0]?.inputTypes).toBeUndefined();
  });

  test('a schema that makes another value each time is asked about twice, and never runs', async () => {
    let count = 0;
    const schema = z.object({ id: z.string().default(() => `id ${(count += 1)}`) });
    const world = payWorld({ schema, input: {} });
    const { thread, agent } = await approveElsewhere(world);
    expect(thread.activeApprovalRequests).toHaveLength(1);
    await agent.run(
      thread.activeApprovalRequests.map((open) => open.approve()),
      thread,
    );
    expect(thread.calls).toMatchObject([{ status: 'failed' }]);
    expect(JSON.stringify(thread.calls[0]?.outcome)).toContain('makes another value each time');
    expect(world.ran).toEqual([]);
    expect(world.failures).toMatchObject([{ setting: 'tools.pay.inputSchema', kind: 'invalid' }]);
  });

  test('what the schema was given stays that, also a `null`', async () => {
    const world = payWorld({ schema: makes(1), input: 'null' });
    const { thread, agent } = await approveElsewhere(world, makes(2));
    await agent.run(
      thread.activeApprovalRequests.map((open) => open.approve()),
      thread,
    );
    expect(world.ran).toEqual([{ given: null, n: 2 }]);
  });

  test('a call that a rule let run is decided on again with the value that it would run with', async () => {
    const toolApproval: AgentOptions['toolApproval'] = {
      pay: ({ n }: { n: number }) => (n > 100 ? 'user-approval' : 'approved'),
    };
    const decide = async (factor: number) => {
      const world = payWorld({ schema: times(1), input: { n: 5 }, options: { toolApproval } });
      await world.propose();
      const agent = world.agent(times(factor));
      const { approvalRequests } = await agent.run([], await agent.thread('t'));
      return { ran: world.ran, asked: approvalRequests.map(({ toolCall }) => toolCall?.input) };
    };
    expect(await decide(2)).toEqual({ ran: [{ n: 10 }], asked: [] });
    expect(await decide(100)).toEqual({ ran: [], asked: [{ n: 500 }] });
  });

  test('a standing approval counts for the value that it was given for, and for no other', async () => {
    let made = 0;
    const schema = z.object({
      n: z.number().transform((n) => ((made += 1) === 4 ? n * 100 : n)),
    });
    const calls = ['c1', 'c2'].map((id) => ({ calls: [{ id, name: 'pay', input: { n: 5 } }] }));
    const { model } = scriptedModel([...calls, { text: 'Done.' }]);
    const toolApproval = { pay: { type: 'user-approval', remember: true } } as const;
    const world = payWorld({ schema, input: { n: 5 }, options: { model, toolApproval } });
    const agent = world.agent();
    const thread = await agent.thread('t');
    const { approvalRequests } = await agent.run('Pay.', thread);
    const answers = approvalRequests.map((request) => request.approve({ remember: true }));
    const second = await agent.run(answers, thread);
    expect(world.ran).toEqual([{ n: 5 }]);
    expect(second.approvalRequests).toMatchObject([{ toolCall: { input: { n: 500 } } }]);
  });

  test.each([
    ['exact', true],
    ['some fields', { match: ['at'] }],
  ] as const)(
    'a standing approval of %s counts for a value of its type, and for no other of the same JSON',
    async (_match, remember) => {
      const schema = z
        .object({ at: z.string(), isDate: z.boolean() })
        .transform(({ at, isDate }) => ({ at: isDate ? new Date(at) : at }));
      const call = (id: string, isDate: boolean) => ({
        calls: [{ id, name: 'pay', input: { at: day, isDate } }],
      });
      const steps = [call('c1', true), call('c2', true), call('c3', false), { text: 'Done.' }];
      const { model } = scriptedModel(steps);
      const toolApproval = { pay: { type: 'user-approval', remember } } as const;
      const world = payWorld({ schema, input: {}, options: { model, toolApproval } });
      const agent = world.agent();
      const thread = await agent.thread('t');
      const { approvalRequests } = await agent.run('Pay.', thread);
      const answers = approvalRequests.map((request) => request.approve({ remember: true }));
      const last = await agent.run(answers, thread);
      expect(world.ran).toEqual([{ at: new Date(day) }, { at: new Date(day) }]);
      expect(last.approvalRequests).toMatchObject([{ toolCall: { toolCallId: 'c3' } }]);
    },
  );

  test.each(['approve', 'reject'] as const)(
    'a standing answer (%s) counts where the rule allows edits, and the schema none',
    async (answer) => {
      const calls = ['c1', 'c2'].map((id) => ({
        calls: [{ id, name: 'pay', input: { at: day } }],
      }));
      const { model } = scriptedModel([...calls, { text: 'Done.' }]);
      const toolApproval = {
        pay: { type: 'user-approval', remember: true, editable: true },
      } as const;
      const schema = z.object({ at: isoDate });
      const world = payWorld({ schema, input: {}, options: { model, toolApproval } });
      const agent = world.agent();
      const thread = await agent.thread('t');
      const { approvalRequests } = await agent.run('Pay.', thread);
      const answers = approvalRequests.map((request) => request[answer]({ remember: true }));
      expect(await agent.run(answers, thread)).toMatchObject({ status: 'completed' });
      expect(world.ran).toHaveLength(answer === 'approve' ? 2 : 0);
    },
  );

  test('a value that the app changes after its schema made it does not run', async () => {
    const kept = new Date(day);
    const schema = z.object({ at: z.string().transform(() => kept) });
    const toolApproval: AgentOptions['toolApproval'] = {
      pay: async () => {
        kept.setFullYear(1999);
        return 'approved' as const;
      },
    };
    const world = payWorld({ schema, input: { at: day }, options: { toolApproval } });
    const agent = world.agent();
    const thread = await agent.thread('t');
    await agent.run('Pay.', thread);
    expect([world.ran, thread.calls[0]?.status]).toEqual([[], 'failed']);
  });

  test.each<[string, Schema]>([
    ['whose input no longer fits', z.object({ to: z.number() })],
    ['whose value differs', z.object({ to: z.string().toUpperCase() })],
  ])('a second attempt %s stays of unknown outcome', async (_what, schema) => {
    let now = 0;
    const options = {
      now: () => now,
      toolRecovery: { pay: { idempotent: true } },
      toolApproval: {},
    };
    const world = payWorld({ schema: plain, input: { to: 'ada' }, options });
    const dying = world.agent(plain, {
      tools: { pay: tool({ inputSchema: plain, execute: never }) },
    });
    void dying.run('Pay.', await dying.thread('t')).catch(() => {});
    await expect
      .poll(async () => (await world.agent().thread('t')).calls[0]?.status)
      .toBe('started');
    now = 600_000;
    const agent = world.agent(schema);
    const thread = await agent.thread('t');
    await agent.run([], thread);
    expect([world.ran, thread.calls[0]?.status]).toEqual([[], 'indeterminate']);
  });
});

describe('an edited input', () => {
  const toolApproval = { pay: { type: 'user-approval', editable: true } } as const;

  test('is not offered where the schema changes whatever it is given', async () => {
    const world = payWorld({ schema: times(100), input: { n: 5 }, options: { toolApproval } });
    const { request } = await approveElsewhere(world);
    expect(request?.editable).toBeUndefined();
    expect(world.failures).toMatchObject([{ setting: 'toolApproval.pay', kind: 'invalid' }]);
    expect(world.ran).toEqual([{ n: 500 }]);
  });

  test('replaces what the model wrote, and runs as the person wrote it', async () => {
    const schema = z.object({ to: z.string().trim() });
    const world = payWorld({ schema, input: { to: ' ada ' }, options: { toolApproval } });
    const agent = world.agent();
    const thread = await agent.thread('t');
    const { approvalRequests } = await agent.run('Pay.', thread);
    await agent.run(
      approvalRequests.map((request) => request.approve({ input: { to: 'ben' } })),
      thread,
    );
    expect(world.ran).toEqual([{ to: 'ben' }]);
    expect(thread.calls[0]?.given).toBeUndefined();
  });

  test.each<[string, Schema, object, object]>([
    ['a date', z.object({ at: isoDate }), { at: day }, { at: '2027-01-01T00:00:00.000Z' }],
    ['a BigInt', z.object({ n: z.string().transform(BigInt) }), { n: '5' }, { n: '6' }],
    [
      'an object of a class',
      z.object({ cents: z.number() }).transform((sum) => (sum.cents < 5 ? sum : new Money(400))),
      { cents: 4 },
      { cents: 400 },
    ],
  ])('is refused where the schema makes %s of it', async (_what, schema, input, edited) => {
    const world = payWorld({ schema, input, options: { toolApproval } });
    const agent = world.agent();
    const thread = await agent.thread('t');
    const { approvalRequests } = await agent.run('Pay.', thread);
    const answering = agent.run(
      approvalRequests.map((request) => request.approve({ input: edited })),
      thread,
    );
    await expect(answering).rejects.toMatchObject({ code: 'invalid-answer' });
    expect(world.ran).toEqual([]);
  });

  test('fails like any other if the schema has changed and refuses it', async () => {
    const schema = z.object({ to: z.string() });
    const world = payWorld({ schema, input: { to: 'ada' }, options: { toolApproval } });
    const agent = world.agent();
    const thread = await agent.thread('t');
    const { approvalRequests } = await agent.run('Pay.', thread);
    await agent.respond(
      approvalRequests.map((request) => request.approve({ input: { to: 'ben' } }))[0] ?? [],
      thread,
    );
    const next = world.agent(z.object({ to: z.string().refine((to) => to !== 'ben') }));
    const now = await next.thread('t');
    await next.run([], now);
    expect([world.ran, now.calls[0]?.status]).toEqual([[], 'failed']);
  });
});

describe('the bounds of what people are shown', () => {
  const schema = z.object({ text: z.string() });
  const input = { text: 'x'.repeat(300_000) };

  test('do not hold for a tool that asks nobody', async () => {
    const world = payWorld({ schema, input, options: { toolApproval: {} } });
    const agent = world.agent();
    await agent.run('Pay.', await agent.thread('t'));
    expect(world.ran).toEqual([input]);
  });

  test('are named where a tool asks', async () => {
    const world = payWorld({ schema, input });
    const agent = world.agent();
    const thread = await agent.thread('t');
    await agent.run('Pay.', thread);
    expect(world.ran).toEqual([]);
    expect(JSON.stringify(thread.calls[0]?.outcome)).toContain('at most 262144 are allowed');
  });
});

describe('what an app leaves undefined is absent', () => {
  const schema = z.object({ to: z.string() });

  test('in a principal', async () => {
    const world = payWorld({ schema, input: { to: 'ada' } });
    const agent = world.agent();
    const thread = await agent.thread('t');
    const principal = { id: 'ada', team: undefined, roles: ['a', undefined] };
    await agent.run('Pay.', thread, { principal });
    expect(thread.activeApprovalRequests[0]?.requestedBy).toEqual({
      id: 'ada',
      roles: ['a', null],
    });
    const other = agent.run('Pay.', thread, { principal: { at: new Date(day) } });
    await expect(other).rejects.toMatchObject({ code: 'invalid-input' });
  });

  test("in a rule's metadata", async () => {
    const metadata = { ticket: 7, owner: undefined, steps: ['a', undefined] };
    const toolApproval = { pay: { type: 'user-approval', metadata } } as const;
    const world = payWorld({ schema, input: { to: 'ada' }, options: { toolApproval } });
    const { request, response } = await approveElsewhere(world);
    expect(request?.metadata).toEqual({ ticket: 7, steps: ['a', null] });
    expect([response.status, world.failures]).toEqual(['completed', []]);
  });
});
