import { describe, expect, test } from 'vitest';
import { type World, worldOf } from './world.ts';

const choice = { prompt: 'May I?', choices: ['Yes', 'No'], default: 1 };

/** A call has ended a little after the runtime took its result. */
async function invokeUntilTaken(invoke: World['invoke'], more: object): Promise<void> {
  while ((await invoke(more)).status === 429) await new Promise(setImmediate);
}

describe('O0-07 a callback is tried again', () => {
  test.each(['cut', 500, 503] as const)(
    'after %s, each time twice as late, until it is taken',
    async (fault) => {
      const { clock, errors, invoke, runtime, server } = await worldOf(() => 'Done.');
      runtime.replies(fault, fault, fault);
      await invoke();
      for (const pause of [1_000, 2_000, 4_000]) {
        expect((await runtime.next()).json.text).toBe('Done.');
        await clock.pass(pause);
      }
      await runtime.next();
      await server.close();
      expect(new Set(runtime.callbacks.map(({ text }) => text)).size).toBe(1);
      expect(runtime.callbacks).toHaveLength(4);
      expect(errors).toEqual([]);
    },
  );

  test('a question too, and its answer counts although no 200 came for it', async () => {
    const { clock, invoke, runtime, selects, server } = await worldOf(async ({ askUser }) => {
      const { label } = await askUser(choice);
      return label;
    });
    runtime.replies('hang');
    await invoke();
    await selects(await runtime.next(), { selected: 0 });
    expect((await runtime.next()).json.text).toBe('Yes');
    await server.close();
    expect(runtime.types).toEqual(['user_choice', 'tool_result']);
    expect(clock.waits).toEqual([]);
  });

  test('a question that was answered is not sent again, though the tool goes on', async () => {
    const picked = Promise.withResolvers<void>();
    const { clock, invoke, runtime, selects } = await worldOf(async ({ askUser }) => {
      await askUser(choice);
      picked.resolve();
      return new Promise(() => {});
    });
    runtime.replies('hang');
    await invoke();
    await selects(await runtime.next(), { selected: 0 });
    await picked.promise;
    while (clock.waits.length > 1) await new Promise(setImmediate);
    expect(clock.waits).toEqual([86_400_000]);
  });

  test('no later than a minute after, and not for ever: then the app is told', async () => {
    const { clock, errors, invoke, runtime, server } = await worldOf(() => 'Done.');
    runtime.replies(...Array.from({ length: 11 }, () => 500));
    await invoke();
    const pauses = [1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000, 60_000, 60_000];
    for (const pause of pauses) {
      await runtime.next();
      await clock.pass(pause);
    }
    await runtime.next();
    await server.close();
    expect(runtime.callbacks).toHaveLength(11);
    expect(errors).toEqual([
      expect.objectContaining({
        message: 'The result of call call_abc123 of thread thread_xyz was not delivered.',
        cause: expect.objectContaining({
          message: 'The runtime did not accept the message (HTTP 500).',
        }),
      }),
    ]);
  });

  test.each([400, 401, 404, 409, 410, 413, 429] as const)('but never after %i', async (status) => {
    const { clock, errors, invoke, runtime, server } = await worldOf(() => 'Done.');
    runtime.replies(status);
    await invoke();
    await runtime.next();
    await server.close();
    expect(runtime.callbacks).toHaveLength(1);
    expect(clock.waits).toEqual([]);
    expect(errors).toEqual([
      expect.objectContaining({
        cause: expect.objectContaining({
          message: `The runtime did not accept the message (HTTP ${status}).`,
        }),
      }),
    ]);
  });

  test('nor where a redirect leads', async () => {
    const { errors, invoke, runtime, server } = await worldOf(() => 'Done.');
    runtime.replies('redirect');
    await invoke();
    await runtime.next();
    await server.close();
    expect(runtime.callbacks.map(({ path }) => path)).toEqual(['/callback?capability=s3cret']);
    expect(errors).toHaveLength(1);
  });

  test('a runtime that does not answer is given up after callbackMs, and tried again', async () => {
    const { clock, invoke, runtime, server } = await worldOf(() => 'Done.', { callbackMs: 9_999 });
    runtime.replies('hang');
    await invoke();
    await runtime.next();
    await clock.pass(9_999);
    await clock.pass(1_000);
    await runtime.next();
    await server.close();
    expect(runtime.callbacks).toHaveLength(2);
  });

  test('a runtime that is down is reached when it is up', async () => {
    let tries = 0;
    const { clock, invoke, runtime } = await worldOf(() => 'Done.', {
      fetch: async (url, init) => {
        tries += 1;
        if (tries <= 3) throw new TypeError('Something that no list of network errors knows.');
        return fetch(url, init);
      },
    });
    await invoke();
    for (const pause of [1_000, 2_000, 4_000]) await clock.pass(pause);
    expect((await runtime.next()).json.text).toBe('Done.');
  });

  test('a question to a runtime that is down fails the choice, and its error is delivered when it is up', async () => {
    const { clock, invoke, runtime } = await worldOf(({ askUser }) => askUser(choice), {
      retries: 1,
    });
    runtime.replies(500, 500, 500);
    await invoke();
    await runtime.next();
    await clock.pass(1_000);
    expect((await runtime.next()).json.type).toBe('user_choice');
    expect((await runtime.next()).json.type).toBe('tool_result');
    await clock.pass(1_000);
    expect((await runtime.next()).json.text).toBe(
      'Error: User choice flow failed. Please try again.',
    );
  });

  test('at the deadline a question is not tried again', async () => {
    const { clock, invoke, runtime, server } = await worldOf(({ askUser }) => askUser(choice), {
      deadlineMs: 777_000,
    });
    runtime.replies(500);
    await invoke();
    await runtime.next();
    await clock.pass(777_000);
    await runtime.next();
    await server.close();
    expect(runtime.types).toEqual(['user_choice', 'tool_result']);
    expect(clock.waits).toEqual([]);
  });
});

describe('an invocation that comes again', () => {
  test('while it runs, and after it: it runs once, and ends once', async () => {
    const ran: string[] = [];
    const { invoke, runtime, selects, server } = await worldOf(async ({ askUser, id }) => {
      ran.push(id);
      return askUser(choice);
    });
    const responses = await Promise.all([invoke(), invoke(), invoke()]);
    expect(responses.map(({ status }) => status)).toEqual([200, 200, 200]);
    const asked = await runtime.next();
    await invoke();
    await selects(asked, { selected: 0 });
    await runtime.next();
    expect((await invoke({ arguments: { other: true } })).status).toBe(200);
    await server.close();
    expect(ran).toEqual(['call_abc123']);
    expect(runtime.types).toEqual(['user_choice', 'tool_result']);
  });

  test('with an id of another conversation, or another id: it is another call', async () => {
    const { invoke, runtime } = await worldOf(({ groupId, id }) => `${groupId} ${id}`);
    const names = [
      ['a', 'b'],
      ['a', 'c'],
      ['b', 'b'],
      ['a","b', 'c'],
      ['a', 'b","c'],
    ];
    for (const [group_id, id] of names) await invoke({ group_id, id });
    const texts = await Promise.all(names.map(async () => (await runtime.next()).json.text));
    expect(texts.toSorted()).toEqual(names.map((name) => name.join(' ')).toSorted());
  });

  test('of those that ended the latest are known; one that was forgotten runs again', async () => {
    const { invoke, runtime, server } = await worldOf(({ id }) => id, {
      maximumRemembered: 2,
      maximumRunning: 1,
    });
    for (const id of ['1', '2', '3', '4', '3', '1']) await invokeUntilTaken(invoke, { id });
    for (let count = 0; count < 5; count += 1) await runtime.next();
    await server.close();
    expect(runtime.callbacks.map(({ json }) => json.id)).toEqual(['1', '2', '3', '4', '1']);
  });
});

describe('many calls', () => {
  test('200 at once, each asking, each twice, half of them over a bad line: each runs once and ends once', async () => {
    const ran: string[] = [];
    const { clock, invoke, runtime, selects, server } = await worldOf(async ({ askUser, id }) => {
      const { label } = await askUser(choice);
      ran.push(id);
      return `${id} ${label}`;
    });
    runtime.replies(...Array.from({ length: 100 }, () => 500));
    const ids = Array.from({ length: 200 }, (_, index) => `call ${index}`);
    await Promise.all(ids.flatMap((id) => [invoke({ id }), invoke({ id })]));
    for (let count = 0; count < 200; count += 1) {
      const asked = await runtime.next();
      await Promise.all([selects(asked, { selected: 0 }), selects(asked, { selected: 1 })]);
    }
    await server.close();
    const results = runtime.callbacks.filter(({ json }) => json.type === 'tool_result');
    expect(results.map(({ json }) => json.text).toSorted()).toEqual(
      ids.map((id) => `${id} Yes`).toSorted(),
    );
    expect(ran.toSorted()).toEqual(ids.toSorted());
    expect(clock.waits).toEqual([]);
  });

  test('more than there is room for are 429, and run when they come again later', async () => {
    const gate = Promise.withResolvers<string>();
    const { invoke, runtime } = await worldOf(() => gate.promise, { maximumRunning: 2 });
    const statuses = [];
    for (const id of ['1', '2', '3', '1']) statuses.push((await invoke({ id })).status);
    expect(statuses).toEqual([200, 200, 429, 200]);
    gate.resolve('Done.');
    await Promise.all([runtime.next(), runtime.next()]);
    await invokeUntilTaken(invoke, { id: '3' });
    expect((await runtime.next()).json.id).toBe('3');
  });
});
