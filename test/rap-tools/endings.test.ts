import { once } from 'node:events';
import { describe, expect, test } from 'vitest';
import type { ServedTool } from 'holdpoint/rap';
import { type World, worldOf } from './world.ts';
import { triesAll } from '../support/sampling.ts';

const choice = { prompt: 'May I?', choices: ['Yes', 'No'], default: 1 };
const cancel = { thread_id: 'thread_xyz', tool_call_id: 'call_abc123' };

async function status(tells: World['tells'], body: object | string): Promise<unknown> {
  const response = await tells('/tool_call_status', body);
  expect(response.status).toBe(200);
  return response.json();
}

function revokedProxy(): object {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
}

const tooLong: [string, () => unknown, object] = [
  'a text that is too long for JSON',
  () => Array(2).fill('x'.repeat(2 ** 28)),
  { text: "The tool succeeded. Its result can't be sent as JSON." },
];

describe('S0-47 every call ends in exactly one result', () => {
  test.each<[string, () => unknown, object]>([
    ['a text', () => 'Done.', { text: 'Done.' }],
    ['an empty text', () => '', { text: '' }],
    ['an object, as JSON', () => ({ id: 7, list: [1] }), { text: '{"id":7,"list":[1]}' }],
    ['nothing', () => undefined, { text: 'The tool succeeded.' }],
    [
      'content',
      () => ({
        content: [
          { type: 'text', text: 'a' },
          { type: 'image', data: 'AA==', mediaType: 'image/png' },
        ],
      }),
      {
        content: [
          { type: 'text', text: 'a' },
          { type: 'image', data: 'AA==', mediaType: 'image/png' },
        ],
      },
    ],
    ['content that is none, as JSON', () => ({ content: 'x' }), { text: '{"content":"x"}' }],
    [
      'what JSON has not',
      () => 10n,
      { text: "The tool succeeded. Its result can't be sent as JSON." },
    ],
    ...(triesAll ? [tooLong] : []),
    [
      'what can not be looked at',
      () => ({
        get content() {
          throw new Error('No such column.');
        },
      }),
      { text: "The tool succeeded. Its result can't be sent as JSON." },
    ],
    [
      'too much',
      () => 'x'.repeat(2_000),
      { text: 'The tool succeeded. Its result has 2075 bytes, which is too many to send.' },
    ],
  ])('O0-04 a tool that returns %s', async (_, work, result) => {
    const { invoke, runtime, server } = await worldOf(work, { maximumBodyBytes: 1_000 });
    await invoke();
    expect((await runtime.next()).json).toStrictEqual({
      type: 'tool_result',
      group_id: 'thread_xyz',
      id: 'call_abc123',
      ...result,
    });
    await server.close();
    expect(runtime.types).toEqual(['tool_result']);
  });

  test.each<[string, unknown, string]>([
    ['an error', new Error('No disk.'), 'Error: No disk.'],
    ['an error that says so itself', new Error('Error: No disk.'), 'Error: No disk.'],
    ['an error of no words', new Error(), 'Error: The tool failed.'],
    ['a text', 'no', 'Error: no'],
    ['nothing', undefined, 'Error: The tool failed.'],
    ['an object that can not be printed', Object.create(null), 'Error: The tool failed.'],
    ['what can not be looked at', revokedProxy(), 'Error: The tool failed.'],
    ['too many words', new Error('x'.repeat(20_000)), `Error: ${'x'.repeat(10_000)}`],
    [
      'words that can only be cut in half a character',
      new Error(`${'x'.repeat(9_999)}😀`),
      `Error: ${'x'.repeat(9_999)}\ufffd`,
    ],
  ])('O0-05 a tool that throws %s, later or at once', async (_, thrown, text) => {
    const { invoke, runtime, server } = await worldOf(({ id }) => {
      if (id === 'at once') throw thrown;
      return Promise.reject(thrown);
    });
    for (const id of ['later', 'at once']) {
      await invoke({ id });
      expect((await runtime.next()).json).toMatchObject({ id, text });
    }
    await server.close();
    expect(runtime.callbacks).toHaveLength(2);
  });

  test.each<[string, object, string]>([
    ['an unknown tool', { operation: 'rm' }, 'Error: There is no tool "rm".'],
    [
      'a name every object has',
      { operation: 'constructor' },
      'Error: There is no tool "constructor".',
    ],
    [
      'no tool',
      { operation: 7 },
      'Error: Not a valid invocation: ✖ Invalid input: expected string, received number\n  → at operation',
    ],
    [
      'arguments that are wrong',
      { operation: 'strict', arguments: { target: 'moon' } },
      'Error: Invalid arguments for strict: ',
    ],
    [
      'arguments too many',
      { operation: 'strict', arguments: { target: 'staging', force: true } },
      'Error: Invalid arguments for strict: ',
    ],
    [
      'no arguments',
      { operation: 'strict', arguments: undefined },
      'Error: Invalid arguments for strict: ',
    ],
  ])(
    'O0-03 an invocation of %s is 200, runs nothing, and its error is the result',
    async (_, more, text) => {
      const ran: unknown[] = [];
      const { invoke, runtime } = await worldOf((call) => ran.push(call));
      expect((await invoke(more)).status).toBe(200);
      const { json } = await runtime.next();
      expect(json).toMatchObject({ type: 'tool_result', id: 'call_abc123' });
      expect(json.text.slice(0, text.length)).toBe(text);
      expect(ran).toEqual([]);
    },
  );

  test('S0-46 a tool that hangs is told to stop at the deadline, and ends as unknown after the grace time', async () => {
    const reasons: unknown[] = [];
    const { clock, invoke, runtime } = await worldOf(
      async ({ signal }) => {
        await once(signal, 'abort');
        reasons.push(signal.reason.name);
        await new Promise(() => {});
      },
      { deadlineMs: 777_000, graceMs: 5_555 },
    );
    await invoke();
    await clock.pass(777_000);
    await clock.pass(5_555);
    expect((await runtime.next()).json.text).toBe(
      'Error: The call did not end within its deadline. It is unknown whether it took effect.',
    );
    expect(reasons).toEqual(['TimeoutError']);
  });

  test('an end leaves no timer, and no prompt that was not waited for', async () => {
    const { clock, invoke, runtime, selects, server } = await worldOf(({ askUser }) => {
      void askUser(choice).catch(() => {});
      return 'I did not wait.';
    });
    await invoke();
    const came = [await runtime.next()];
    await server.close();
    if (runtime.callbacks.length > 1) came.push(await runtime.next());
    expect(runtime.types.filter((type) => type === 'tool_result')).toHaveLength(1);
    expect(runtime.types.at(-1)).toBe('tool_result');
    expect(clock.waits).toEqual([]);
    for (const asked of came.filter(({ json }) => json.response_url !== undefined)) {
      expect((await selects(asked, { selected: 0 })).status).toBe(404);
    }
  });

  test.each<[string, (call: Parameters<ServedTool<unknown>['execute']>[1]) => unknown]>([
    ['askUser', ({ askUser }) => askUser(choice)],
    ['askForSession', ({ askForSession }) => askForSession({ prompt: 'May I?', key: 'k' })],
  ])(
    'a tool that asks by %s and fails before it looks at the answer costs its own call alone: the process goes on',
    async (_, asks) => {
      const { invoke, runtime, server } = await worldOf((call) => {
        void asks(call);
        throw new Error('No disk.');
      });
      await invoke();
      while ((await runtime.next()).json.type === 'user_choice');
      await server.close();
      /* A rejection that nobody takes would fail this run by now. */
      await new Promise(setImmediate);
      expect(runtime.callbacks.at(-1)?.json.text).toBe('Error: No disk.');
    },
  );

  test('the signal of a call that has ended well does not abort', async () => {
    const signals: AbortSignal[] = [];
    const { invoke, runtime } = await worldOf(({ signal }) => {
      signals.push(signal);
      return 'Done.';
    });
    await invoke();
    await runtime.next();
    expect(signals.map(({ aborted }) => aborted)).toEqual([false]);
  });

  test('a tool that asks when its call has ended is refused', async () => {
    const kept: (() => Promise<unknown>)[] = [];
    const { invoke, runtime, server } = await worldOf(({ askUser }) => {
      kept.push(() => askUser(choice));
      return 'Done.';
    });
    await invoke();
    await runtime.next();
    await server.close();
    await expect(kept[0]?.()).rejects.toThrow('The call has ended.');
    expect(runtime.types).toEqual(['tool_result']);
  });
});

describe('a call that is not wanted any more', () => {
  test.each([
    ['/cancel_tool_call', cancel, 'Error: The call was cancelled.'],
    ['/close_thread', { thread_id: 'thread_xyz' }, 'Error: The conversation was closed.'],
  ])('O0-09 %s is 200, stops it, and it ends with one error', async (path, body, text) => {
    const { invoke, tells, runtime, selects, server } = await worldOf(({ askUser }) =>
      askUser(choice),
    );
    await invoke();
    const asked = await runtime.next();
    expect((await tells(path, body)).status).toBe(200);
    expect((await runtime.next()).json).toMatchObject({ id: 'call_abc123', text });
    expect((await selects(asked, { selected: 0 })).status).toBe(404);
    expect((await tells(path, body)).status).toBe(200);
    await server.close();
    expect(runtime.types).toEqual(['user_choice', 'tool_result']);
  });

  test.each([
    ['/cancel_tool_call', { thread_id: 'other', tool_call_id: 'call_abc123' }],
    ['/cancel_tool_call', { thread_id: 'thread_xyz', tool_call_id: 'other' }],
    ['/cancel_tool_call', { thread_id: 'thread_xyz' }],
    ['/cancel_tool_call', 'no JSON'],
    ['/close_thread', { thread_id: 'other' }],
    ['/close_thread', cancel],
    ['/close_thread', { thread_id: ['thread_xyz'] }],
  ])('O0-09 %s of %j is 200, and this call goes on', async (path, body) => {
    const { invoke, tells, runtime, selects } = await worldOf(async ({ askUser, signal }) => {
      await askUser(choice);
      return String(signal.aborted);
    });
    await invoke();
    const asked = await runtime.next();
    expect((await tells(path, body)).status).toBe(200);
    await selects(asked, { selected: 0 });
    expect((await runtime.next()).json.text).toBe('false');
  });

  test('O0-09 what a tool comes to in the grace time is its result, and says what is true', async () => {
    const { invoke, tells, runtime } = await worldOf(async ({ askUser, signal }) => {
      void askUser(choice).catch(() => {});
      await once(signal, 'abort');
      return 'It was done already.';
    });
    await invoke();
    await runtime.next();
    await tells('/cancel_tool_call', cancel);
    expect((await runtime.next()).json.text).toBe('It was done already.');
  });

  test('O0-09 the late result of a tool that did not stop is not sent', async () => {
    const late = Promise.withResolvers<string>();
    const { clock, invoke, tells, runtime, server } = await worldOf(
      async ({ askUser }) => {
        void askUser(choice).catch(() => {});
        return late.promise;
      },
      { graceMs: 5_555 },
    );
    await invoke();
    await runtime.next();
    await tells('/cancel_tool_call', cancel);
    await clock.pass(5_555);
    expect((await runtime.next()).json.text).toBe(
      'Error: The call was cancelled. It is unknown whether it took effect.',
    );
    late.resolve('Deleted everything.');
    await server.close();
    expect(runtime.types).toEqual(['user_choice', 'tool_result']);
  });
});

describe('a runtime that asks whether a call goes on', () => {
  test('hears so while the result is to come, and not when it was taken', async () => {
    const { invoke, tells, runtime, selects, server } = await worldOf(({ askUser }) =>
      askUser(choice),
    );
    await invoke();
    const asked = await runtime.next();
    expect(await status(tells, cancel)).toEqual({ alive: true });
    await selects(asked, { selected: 0 });
    await runtime.next();
    await server.close();
    expect(await status(tells, cancel)).toEqual({ alive: false });
  });

  test.each([
    { thread_id: 'other', tool_call_id: 'call_abc123' },
    { thread_id: 'thread_xyz', tool_call_id: 'other' },
    { thread_id: 'thread_xyz' },
    'no JSON',
  ])('hears no for %j, and changes nothing', async (body) => {
    const { invoke, tells, runtime, server } = await worldOf(({ askUser }) => askUser(choice));
    await invoke();
    await runtime.next();
    expect(await status(tells, body)).toEqual({ alive: false });
    expect(await status(tells, cancel)).toEqual({ alive: true });
    await server.close();
  });
});

describe('a server that closes', () => {
  test('ends every call with one result, and says so when all are delivered', async () => {
    const { invoke, runtime, server } = await worldOf(({ askUser }) => askUser(choice));
    for (const id of ['1', '2', '3']) await invoke({ id });
    for (let count = 0; count < 3; count += 1) await runtime.next();
    await server.close();
    const results = runtime.callbacks.slice(3).map(({ json }) => `${json.id} ${json.text}`);
    expect(results.toSorted()).toEqual(
      ['1', '2', '3'].map((id) => `${id} Error: The tool server was closed.`),
    );
  });

  test('does not begin what was acknowledged just before', async () => {
    const ran: unknown[] = [];
    const { invoke, runtime, server } = await worldOf((call) => ran.push(call));
    await invoke();
    await server.close();
    expect(runtime.callbacks.map(({ json }) => json.text)).toEqual([
      'Error: The tool server was closed.',
    ]);
    expect(ran).toEqual([]);
  });

  test('takes no more calls, and says that it did not', async () => {
    const { invoke, tells, runtime, server } = await worldOf(() => 'Done.');
    await server.close();
    expect((await invoke()).status).toBe(429);
    expect((await tells('/cancel_tool_call', cancel)).status).toBe(200);
    await server.close();
    expect(runtime.callbacks).toEqual([]);
  });
});
