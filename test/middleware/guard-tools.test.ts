import {
  generateText,
  type ModelMessage,
  streamText,
  tool,
  type ToolExecutionOptions,
  type ToolSet,
} from 'ai';
import { createAgent, later, memoryStore, type ThreadStore } from 'holdpoint';
import { eventsOf } from 'holdpoint/schemas';
import { guardTools } from 'holdpoint/middleware';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { errorCode } from '../support/error-code.ts';
import { scriptedModel } from '../support/scripted-model.ts';
import { book, cityInput, type Ran, travelTools } from '../support/travel-world.ts';
import { requestsIn } from './held-world.ts';

type GuardOptions = Parameters<typeof guardTools>[1];

const toolApproval = { book: 'user-approval' } as const;
const options = { toolCallId: 'c1', messages: [], context: {} };

/** A body that approves a call of `book`, as an app would send it to the AI SDK's own loop. */
async function approvedBody(tools: ToolSet): Promise<ModelMessage[]> {
  const { model } = scriptedModel([{ calls: [book('c1', 'Paris')] }]);
  const asked: ModelMessage[] = [{ role: 'user', content: 'Book' }];
  const { content, responseMessages } = await generateText({
    model,
    tools,
    toolApproval,
    messages: asked,
  });
  const answers = requestsIn(content).map((approvalId) => ({
    type: 'tool-approval-response' as const,
    approvalId,
    approved: true,
  }));
  return [...asked, ...responseMessages, { role: 'tool', content: answers }];
}

/** The results that the model received after a resume. */
async function resume(
  how: 'generateText' | 'streamText',
  tools: ToolSet,
  messages: ModelMessage[],
): Promise<unknown[]> {
  const { model } = scriptedModel([{ text: 'Done.' }]);
  const call = { model, tools, toolApproval, messages };
  const result = how === 'generateText' ? await generateText(call) : streamText(call);
  const said = await result.responseMessages;
  return said.flatMap(({ role, content }) =>
    role === 'tool'
      ? content.map((part) => (part.type === 'tool-result' ? part.output : part))
      : [],
  );
}

async function aMoment(): Promise<void> {
  await new Promise(setImmediate);
}

function guardedWorld(more: Partial<GuardOptions> = {}) {
  const ran: Ran[] = [];
  const store = memoryStore();
  const plain = travelTools(ran);
  return {
    ran,
    store,
    plain,
    tools: guardTools(plain, { store, threadId: 't', wait: aMoment, ...more }),
  };
}

/** Runs a tool as the AI SDK does. */
async function execute(
  { execute: run }: ToolSet[string],
  input: unknown,
  more: Partial<ToolExecutionOptions<unknown>> = {},
): Promise<unknown> {
  const returned: unknown = run?.(input, { ...options, ...more });
  return isOutputs(returned) ? lastOf(returned) : returned;
}

function isOutputs(returned: unknown): returned is AsyncIterable<unknown> {
  return returned instanceof Object && Symbol.asyncIterator in returned;
}

async function lastOf(outputs: AsyncIterable<unknown>): Promise<unknown> {
  let last: unknown;
  for await (const output of outputs) last = output;
  return last;
}

/** A store on which nothing is recorded after a call's start. */
function dying(store: ThreadStore): ThreadStore {
  let isDead = false;
  return {
    ...store,
    async append(...input) {
      if (isDead) throw new Error('The process is dead.');
      await store.append(...input);
      isDead = input[2].flatMap(eventsOf).some(({ type }) => type === 'call-started');
    },
  };
}

/** A call that ran, and of which nothing but its start was recorded; its lease is over. */
async function lost(more: Partial<GuardOptions> = {}) {
  const { plain, store, ran } = guardedWorld();
  const clock = { now: 1_000 };
  const guarded = (over: ThreadStore) =>
    guardTools(plain, {
      store: over,
      threadId: 't',
      now: () => clock.now,
      leaseMs: 1_000,
      onUnrecorded: () => {},
      ...more,
    }).book;
  const hung = tool({
    inputSchema: cityInput,
    execute: async (input, call) => {
      await execute(plain.book, input, call);
      leaving.abort(new Error('dead'));
      return new Promise(() => {});
    },
  });
  const leaving = new AbortController();
  const dead = guardTools(
    { book: hung },
    { store: dying(store), threadId: 't', now: () => clock.now, leaseMs: 1_000, abortGraceMs: 1 },
  );
  const abortSignal = leaving.signal;
  await expect(execute(dead.book, { city: 'Paris' }, { abortSignal })).rejects.toThrow('dead');
  expect(ran).toHaveLength(1);
  clock.now += 1_001;
  return { store, ran, plain, again: async () => execute(guarded(store), { city: 'Paris' }) };
}

describe.each(['generateText', 'streamText'] as const)("the AI SDK's own resume, %s", (how) => {
  test('without a guard the same body runs the tool twice, with it once, and the result is the same', async () => {
    const { plain, tools, ran } = guardedWorld();
    const body = await approvedBody(plain);
    await resume(how, plain, body);
    await resume(how, plain, body);
    expect(ran.splice(0)).toHaveLength(2);
    const first = await resume(how, tools, body);
    expect(first).toEqual([{ type: 'json', value: { booked: 'Paris' } }]);
    expect(await resume(how, tools, body)).toEqual(first);
    expect(ran).toMatchObject([{ name: 'book', input: { city: 'Paris' } }]);
  });

  test('twenty resumes at once run it once, and each has the result', async () => {
    const { tools, ran } = guardedWorld();
    const body = await approvedBody(tools);
    const results = await Promise.all(
      Array.from({ length: 20 }, async () => resume(how, tools, body)),
    );
    expect(new Set(results.map((result) => JSON.stringify(result)))).toEqual(
      new Set(['[{"type":"json","value":{"booked":"Paris"}}]']),
    );
    expect(ran).toHaveLength(1);
  });

  test('a history whose input was edited after the call ran, runs nothing', async () => {
    const { tools, ran } = guardedWorld();
    const body = await approvedBody(tools);
    await resume(how, tools, body);
    const edited = JSON.parse(JSON.stringify(body).replaceAll('Paris', 'Edited'));
    expect(await resume(how, tools, edited)).toMatchObject([
      {
        type: 'error-text',
        value: expect.stringContaining('has already recorded a call with this id'),
      },
    ]);
    expect(ran).toHaveLength(1);
  });
});

/** What a generator yields, as it is when a reader that takes its time has it; `count` outputs at most. */
async function readSlowly(outputs: unknown, count = Infinity): Promise<unknown[]> {
  const read: unknown[] = [];
  if (!isOutputs(outputs)) throw new Error('It has one output.');
  for await (const output of outputs) {
    read.push(structuredClone(output));
    if (read.length === count) break;
    await new Promise(setImmediate);
  }
  return read;
}

describe('a guarded tool', () => {
  test('fails as it failed, without being run again', async () => {
    const { tools, ran } = guardedWorld();
    for (const _ of [1, 2]) {
      await expect(execute(tools.fail, { city: 'Nice' })).rejects.toThrow('no flight to Nice');
    }
    expect(ran).toHaveLength(1);
  });

  test('refuses an id that is recorded for another tool or another input', async () => {
    const { tools, ran } = guardedWorld();
    await execute(tools.book, { city: 'Paris', price: 1 });
    expect(await errorCode(execute(tools.book, { city: 'Rome' }))).toBe('not-allowed');
    expect(await errorCode(execute(tools.look, { city: 'Paris', price: 1 }))).toBe('not-allowed');
    /* The same input, its keys in another order, is the same call. */
    expect(await execute(tools.book, { price: 1, city: 'Paris' })).toEqual({ booked: 'Paris' });
    expect(ran).toHaveLength(1);
  });

  test.each([
    ['half a character', { city: '\ud800' }],
    ['an integer that readers round', { city: 'Paris', price: 2 ** 53 }],
    ['a key __proto__', JSON.parse('{"city":"Paris","__proto__":{}}')],
  ])('is not run with %s in its input, and says why', async (_, input) => {
    const { tools, ran, store } = guardedWorld();
    await expect(execute(tools.book, input)).rejects.toMatchObject({
      code: 'not-allowed',
      message: expect.stringContaining("can't be recorded exactly"),
    });
    expect(ran).toEqual([]);
    expect(await store.list({})).toEqual([]);
  });

  test('runs with a longer input than people are asked about, as in the AI SDK alone', async () => {
    const { tools, ran } = guardedWorld();
    const input = { city: 'x'.repeat(300_000) };
    await execute(tools.book, input);
    expect(ran).toMatchObject([{ input }]);
  });

  test('is run for each id, and for each conversation', async () => {
    const { plain, store, ran } = guardedWorld();
    const ids: [string, string][] = [
      ['a', 'b/c'],
      ['a/b', 'c'],
      ['a"', 'c'],
      ['a', '","c'],
      ['x'.repeat(1_000), 'y'.repeat(1_000)],
    ];
    for (const [threadId, toolCallId] of ids) {
      const { book: guarded } = guardTools(plain, { store, threadId });
      await execute(guarded, { city: 'Paris' }, { toolCallId });
    }
    expect(ran).toHaveLength(ids.length);
    expect(new Set(ran.map(({ idempotencyKey }) => idempotencyKey)).size).toBe(ids.length);
  });

  test("gets the AI SDK's options and the call's key, and its input as the schema made it", async () => {
    const given: unknown[] = [];
    const when = tool({
      inputSchema: z.object({ day: z.string().transform((day) => new Date(day)) }),
      execute: async (input, call) => {
        given.push(input, call);
        return input.day;
      },
    });
    const guarded = guardTools({ when }, { store: memoryStore(), threadId: 't' });
    const day = new Date(0);
    const { signal: abortSignal } = new AbortController();
    const messages: ModelMessage[] = [{ role: 'user', content: 'When?' }];
    const more = { messages, abortSignal, context: { user: 'ada' } };
    expect(await execute(guarded.when, { day }, more)).toBe(day);
    /* The AI SDK makes another array for another step. */
    more.messages = [...messages];
    expect(given).toEqual([
      { day },
      { ...options, ...more, idempotencyKey: expect.stringMatching(/.{20}/) },
    ]);
    expect(await execute(guarded.when, { day }, more)).toBe(day.toJSON());
    expect(given).toHaveLength(2);
  });

  test('is the tool itself in all else', () => {
    const kept = {
      description: 'pays',
      inputSchema: cityInput,
      needsApproval: true,
      toModelOutput: () => ({ type: 'text' as const, value: 'paid' }),
      execute: async () => 'paid',
    };
    const client = tool({ inputSchema: cityInput });
    const tools = { pay: kept, client };
    const guarded = guardTools(tools, { store: memoryStore(), threadId: 't' });
    expect(guarded.client).toBe(client);
    expect({ ...guarded.pay, execute: kept.execute }).toEqual(kept);
    expect(guarded.pay.execute).not.toBe(kept.execute);
    expect(tools.pay).toBe(kept);
  });

  test('gives the last of several outputs', async () => {
    const steps = tool({
      inputSchema: z.object({}),
      async *execute() {
        yield 'half';
        yield 'whole';
      },
    });
    const guarded = guardTools({ steps }, { store: memoryStore(), threadId: 't' });
    expect(await execute(guarded.steps, {})).toBe('whole');
    expect(await execute(guarded.steps, {})).toBe('whole');
  });

  test('yields one object that it changes as it stands each time, at the pace of its reader', async () => {
    const count = tool({
      inputSchema: z.object({}),
      async *execute() {
        const progress = { done: 0 };
        for (const done of [1, 2, 3]) {
          progress.done = done;
          yield progress;
        }
      },
    });
    const guarded = guardTools({ count }, { store: memoryStore(), threadId: 't' });
    const outputs: unknown = guarded.count.execute?.({}, options);
    expect(await readSlowly(outputs)).toEqual([{ done: 1 }, { done: 2 }, { done: 3 }]);
  });

  test('is brought to its end though its reader has left', async () => {
    const ended = Promise.withResolvers<void>();
    const count = tool({
      inputSchema: z.object({}),
      async *execute() {
        for (const done of [1, 2, 3]) yield done;
        ended.resolve();
      },
    });
    const guarded = guardTools({ count }, { store: memoryStore(), threadId: 't' });
    const outputs: unknown = guarded.count.execute?.({}, options);
    expect(await readSlowly(outputs, 1)).toEqual([1]);
    await ended.promise;
  });

  test('is not run by one who began to claim it before another had run it', async () => {
    const { plain, store, tools, ran } = guardedWorld();
    let reads = 0;
    const late: ThreadStore = {
      ...store,
      async read(...input) {
        const entries = await store.read(...input);
        reads += 1;
        /* The log was empty when it was opened; now it is not. */
        if (reads === 1) await execute(tools.book, { city: 'Paris' });
        return entries;
      },
    };
    const second = guardTools(plain, { store: late, threadId: 't' });
    expect(await execute(second.book, { city: 'Paris' })).toEqual({ booked: 'Paris' });
    expect(ran).toHaveLength(1);
  });

  test('leaves nothing that is due', async () => {
    const { tools, store } = guardedWorld();
    await execute(tools.book, { city: 'Paris' });
    expect(await store.list({ dueBefore: Infinity })).toEqual([]);
    expect(await store.list({})).toMatchObject([{ status: 'idle' }]);
  });

  test('of another process that is at it is waited for, until the signal aborts', async () => {
    const finishing = Promise.withResolvers<void>();
    const beginning = Promise.withResolvers<void>();
    let runs = 0;
    const slow = tool({
      inputSchema: z.object({}),
      execute: async () => {
        runs += 1;
        beginning.resolve();
        await finishing.promise;
        return 'done';
      },
    });
    const store = memoryStore();
    let waits = 0;
    const wait = async (signal: AbortSignal | undefined): Promise<void> => {
      waits += 1;
      if (waits === 3) leaving.abort(new Error('The caller left.'));
      signal?.throwIfAborted();
      if (waits === 6) finishing.resolve();
      await new Promise(setImmediate);
    };
    const guarded = () => guardTools({ slow }, { store, threadId: 't', wait }).slow;
    const leaving = new AbortController();
    const first = execute(guarded(), {});
    await beginning.promise;
    const left = execute(guarded(), {}, { abortSignal: leaving.signal });
    await expect(left).rejects.toThrow('The caller left.');
    expect(await execute(guarded(), {})).toBe('done');
    expect(await first).toBe('done');
    expect(runs).toBe(1);
  });

  test('does not begin when the signal has aborted', async () => {
    const { tools, ran, store } = guardedWorld();
    const abortSignal = AbortSignal.abort(new Error('Too late.'));
    await expect(execute(tools.book, { city: 'Paris' }, { abortSignal })).rejects.toThrow(
      'Too late',
    );
    expect(ran).toEqual([]);
    expect(await execute(tools.book, { city: 'Paris' })).toEqual({ booked: 'Paris' });
    expect(await store.list({})).toHaveLength(1);
  });

  test('that continues outside the process is rejected, and returns the result once it was delivered', async () => {
    const post = tool({ inputSchema: z.object({}), execute: async () => later });
    const store = memoryStore();
    const guarded = guardTools({ post }, { store, threadId: 't' });
    expect(await errorCode(execute(guarded.post, {}))).toBe('requests-open');
    const agent = createAgent({ model: 'none', tools: { post }, store });
    const threadId = (await store.list({}))[0]?.threadId;
    await agent.deliver(await agent.thread(threadId ?? ''), 'c1', {
      status: 'succeeded',
      output: 7,
    });
    expect(await execute(guarded.post, {})).toBe(7);
  });

  test.each([later, 'another', new Error('It failed.')])(
    'gives what is recorded, where its result was delivered before it came to %s',
    async (end) => {
      const store = memoryStore();
      const deliver = async (): Promise<void> => {
        const agent = createAgent({ model: 'none', tools: { quick }, store });
        const threadId = (await store.list({}))[0]?.threadId;
        await agent.deliver(await agent.thread(threadId ?? ''), 'c1', {
          status: 'succeeded',
          output: 7,
        });
      };
      const quick: ToolSet[string] = tool({
        inputSchema: z.object({}),
        execute: async () => {
          await deliver();
          if (end instanceof Error) throw end;
          return end;
        },
      });
      const guarded = guardTools({ quick }, { store, threadId: 't' });
      expect(await execute(guarded.quick, {})).toBe(7);
      expect(await execute(guarded.quick, {})).toBe(7);
    },
  );

  test('needs the id of a conversation', () => {
    const store = memoryStore();
    for (const threadId of ['', undefined, null, Number.NaN]) {
      const given: GuardOptions = { store, threadId: '' };
      Reflect.set(given, 'threadId', threadId);
      expect(() => guardTools({}, given)).toThrow('conversation');
    }
  });

  test.each([
    { toolRecovery: { bok: { idempotent: true } } },
    { leaseMs: Number.NaN },
    { abortGraceMs: Infinity },
  ])('with options that can not hold (%o) is a TypeError at once', (more) => {
    const given: GuardOptions = { store: memoryStore(), threadId: 't', ...more };
    expect(() => guardTools<ToolSet>(travelTools([]), given)).toThrow(TypeError);
  });
});

describe('a guarded call whose process died', () => {
  test('is not run again, and the error says how to settle it', async () => {
    const { again, ran, store, plain } = await lost();
    expect(await errorCode(again())).toBe('thread-indeterminate');
    expect(ran).toHaveLength(1);
    const message = String(await again().catch((error: unknown) => error));
    const threadId = /agent\.thread\('(.*?)'\), 'c1'/.exec(message)?.[1] ?? '';
    const agent = createAgent({ model: 'none', tools: plain, store });
    const outcome = { status: 'succeeded', output: { booked: 'settled' } } as const;
    await agent.settle(await agent.thread(threadId), 'c1', outcome);
    expect(await again()).toEqual({ booked: 'settled' });
    expect(ran).toHaveLength(1);
  });

  test('is run again, once, if a person decides so', async () => {
    const { again, ran, store, plain } = await lost();
    const agent = createAgent({ model: 'none', tools: plain, store });
    const thread = await agent.thread((await store.list({}))[0]?.threadId ?? '');
    await agent.settle(thread, 'c1', { status: 'retry' });
    expect(await again()).toEqual({ booked: 'Paris' });
    expect(await again()).toEqual({ booked: 'Paris' });
    expect(ran).toHaveLength(2);
  });

  test('is what its tool can say of it', async () => {
    const asked: unknown[] = [];
    const { again, ran } = await lost({
      toolRecovery: {
        book: {
          reconcile: async (call) => {
            asked.push(call.idempotencyKey);
            return { status: 'succeeded', output: 'found' };
          },
        },
      },
    });
    expect(await again()).toBe('found');
    expect(asked).toEqual([ran[0]?.idempotencyKey]);
  });

  test('is run again under its key where the tool is idempotent', async () => {
    const { again, ran } = await lost({ toolRecovery: { book: { idempotent: true } } });
    expect(await again()).toEqual({ booked: 'Paris' });
    expect(await again()).toEqual({ booked: 'Paris' });
    expect(ran).toHaveLength(2);
    expect(ran[1]?.idempotencyKey).toBe(ran[0]?.idempotencyKey);
  });
});
