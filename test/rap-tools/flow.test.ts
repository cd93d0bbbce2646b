import { describe, expect, test } from 'vitest';
import { worldOf } from './world.ts';

const choice = { prompt: 'Delete 3 files?', choices: ['Delete 3 files', 'Keep them'], default: 1 };
const failed =
  '{"type":"tool_result","group_id":"thread_xyz","id":"call_abc123",' +
  '"text":"Error: User choice flow failed. Please try again."}';

/** A tool that deletes when it may. */
async function deletingWorld(options = {}) {
  const deleted: string[] = [];
  const world = await worldOf(async ({ askUser }) => {
    const { selected } = await askUser(choice);
    if (selected !== 0) return 'Error: The user said no.';
    deleted.push('3 files');
    return 'Deleted 3 files.';
  }, options);
  return { ...world, deleted };
}

describe('a call that asks', () => {
  test('S0-29 O0-03 it is acknowledged before the tool begins', async () => {
    const began: string[] = [];
    const { invoke, runtime } = await worldOf(() => {
      began.push('began');
      return 'Done.';
    });
    const response = await invoke();
    expect([response.status, began]).toEqual([200, []]);
    await runtime.next();
    expect(began).toEqual(['began']);
  });

  test('S0-29 S0-42 it is acknowledged while the person has not answered, and nothing is done until then', async () => {
    const { deleted, invoke, runtime, selects } = await deletingWorld();
    expect((await invoke()).status).toBe(200);
    const asked = await runtime.next();
    expect(deleted).toEqual([]);
    await selects(asked, { selected: 0 });
    await runtime.next();
    expect(deleted).toEqual(['3 files']);
  });

  test.each([
    [0, 'Deleted 3 files.', ['3 files']],
    [1, 'Error: The user said no.', []],
  ])(
    'S0-25 S0-27 S0-32 S0-41 S0-44 S0-45 the selection %i, in two keys, makes the tool act or decline, and a normal result ends the call',
    async (selected, text, done) => {
      const { deleted, invoke, runtime, selects } = await deletingWorld();
      await invoke({ call_id: 'second' });
      const response = await selects(await runtime.next(), { selected });
      expect(response.status).toBe(200);
      const { json, method, path, headers } = await runtime.next();
      expect(json).toStrictEqual({
        type: 'tool_result',
        group_id: 'thread_xyz',
        id: 'call_abc123',
        call_id: 'second',
        text,
      });
      expect([method, path]).toEqual(['POST', '/callback?capability=s3cret']);
      expect(headers['content-type']).toBe('application/json');
      expect(deleted).toEqual(done);
    },
  );

  test('S0-26 a selection is an index of the choices as they were asked', async () => {
    const choices = ['first', 'second', 'third'];
    const { invoke, runtime, selects } = await worldOf(async ({ askUser }) => {
      const { label } = await askUser({ prompt: 'Which?', choices, default: 0 });
      return label;
    });
    await invoke();
    await selects(await runtime.next(), { selected: 2 });
    expect((await runtime.next()).json.text).toBe('third');
  });

  test('a tool that asks two things at once has them asked one after the other', async () => {
    let sent = 0;
    const { invoke, runtime, selects } = await worldOf(
      async ({ askUser }) => {
        const ask = (prompt: string) => askUser({ ...choice, prompt });
        const [one, other] = await Promise.all([ask('One?'), ask('Other?')]);
        return `${one.selected} ${other.selected}`;
      },
      {
        fetch: (...sending) => {
          sent += 1;
          return fetch(...sending);
        },
      },
    );
    await invoke();
    const one = await runtime.next();
    expect(one.json.prompt).toBe('One?');
    expect(sent).toBe(1);
    await selects(one, { selected: 1 });
    const other = await runtime.next();
    expect(other.json.prompt).toBe('Other?');
    await selects(one, { selected: 1 });
    await selects(other, { selected: 0 });
    expect((await runtime.next()).json.text).toBe('1 0');
  });
});

describe('a choice that fails', () => {
  test.each([
    ['-1', { selected: -1 }],
    ['n', { selected: 2 }],
    ['1.5', { selected: 1.5 }],
    ['"0"', { selected: '0' }],
    ['true', { selected: true }],
    ['an array', { selected: [0] }],
    ['missing', {}],
    ['that of another call (S0-25)', { id: 'call_other', selected: 0 }],
  ])(
    'S0-51 S0-52 Z0-9 a selection that is %s ends the call with the exact error',
    async (_, body) => {
      const { deleted, invoke, runtime, selects } = await deletingWorld();
      await invoke();
      const response = await selects(await runtime.next(), body);
      expect(response.status).toBe(200);
      expect((await runtime.next()).text).toBe(failed);
      expect(deleted).toEqual([]);
    },
  );

  test.each([
    ['no JSON', 400, '{"selected":', 'application/json'],
    ['empty', 400, '', 'application/json'],
    ['no application/json', 415, '{"id":"call_abc123","selected":0}', 'text/plain'],
    ['too long', 413, `{"id":"call_abc123","selected":0${' '.repeat(3_000)}}`, 'application/json'],
  ])(
    'S0-51 a selection that is %s is %i, and ends the call with the exact error',
    async (_, status, body, type) => {
      const { deleted, invoke, posts, runtime } = await deletingWorld({ maximumBodyBytes: 2_000 });
      await invoke();
      const { pathname } = new URL((await runtime.next()).json.response_url);
      const path = pathname.replace('/tools', '');
      expect((await posts(path, body, { 'content-type': type })).status).toBe(status);
      expect((await runtime.next()).text).toBe(failed);
      expect(deleted).toEqual([]);
    },
  );

  test('S0-46 S0-50 S0-52 Z0-1 a selection that never comes ends the call at the deadline with the exact error', async () => {
    const { clock, deleted, invoke, runtime, selects } = await deletingWorld({
      deadlineMs: 777_000,
    });
    await invoke();
    const asked = await runtime.next();
    await clock.pass(777_000);
    expect((await runtime.next()).text).toBe(failed);
    expect((await selects(asked, { selected: 0 })).status).toBe(404);
    expect(deleted).toEqual([]);
  });

  test('S0-46 there is a deadline without being told of one', async () => {
    const { clock, invoke, runtime } = await deletingWorld();
    await invoke();
    await runtime.next();
    await clock.pass(24 * 3_600_000);
    expect((await runtime.next()).text).toBe(failed);
  });

  test('S0-50 S0-52 a runtime that takes no question gets the exact error as the result', async () => {
    const { invoke, runtime } = await deletingWorld();
    runtime.replies(404);
    await invoke();
    expect((await runtime.next()).json.type).toBe('user_choice');
    expect((await runtime.next()).text).toBe(failed);
  });

  test('a tool may go on in another way when its choice failed', async () => {
    const { invoke, runtime, selects } = await worldOf(async ({ askUser }) =>
      askUser(choice).catch(({ code }) => `Kept, because of ${code}.`),
    );
    await invoke();
    await selects(await runtime.next(), { selected: 9 });
    expect((await runtime.next()).json.text).toBe('Kept, because of invalid-answer.');
  });

  test('O0-12 of two selections the first counts, and both are 200 and tell the same', async () => {
    const { deleted, invoke, runtime, selects, server } = await deletingWorld();
    await invoke();
    const asked = await runtime.next();
    const [first, second] = await Promise.all([
      selects(asked, { selected: 1 }),
      selects(asked, { selected: 0 }),
    ]);
    expect([first.status, second.status]).toEqual([200, 200]);
    expect(await first.text()).toBe(await second.text());
    expect((await runtime.next()).json.text).toBe('Error: The user said no.');
    await server.close();
    expect(deleted).toEqual([]);
    expect(runtime.types).toEqual(['user_choice', 'tool_result']);
  });

  test.each(['nobody-knows-this-one', '', '__proto__', 'constructor', '%00'])(
    'Z0-2 a selection for the prompt "%s", which there is not, is not acknowledged, and changes nothing',
    async (secret) => {
      const { deleted, invoke, posts, runtime, selects } = await deletingWorld();
      await invoke();
      const asked = await runtime.next();
      const body = { id: 'call_abc123', selected: 0 };
      expect((await posts(`/user_choice_response/${secret}`, body)).status).toBe(404);
      expect((await posts('/user_choice_response', body)).status).toBe(400);
      await selects(asked, { selected: 1 });
      expect((await runtime.next()).json.text).toBe('Error: The user said no.');
      expect(deleted).toEqual([]);
    },
  );
});
