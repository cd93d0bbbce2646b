import type { GrantStore } from 'holdpoint/rap';
import { describe, expect, test } from 'vitest';
import { worldOf } from './world.ts';

/** A tool that writes when it may; the key is what the call says. */
async function writingWorld(options: { grants?: GrantStore } = {}) {
  const written: unknown[] = [];
  const world = await worldOf(async ({ askForSession }, { folder = 'docs' }) => {
    const prompt = `Allow writing to ${String(folder)}?`;
    if (!(await askForSession({ prompt, key: `write:${String(folder)}` }))) {
      return 'Error: The user said no.';
    }
    written.push(folder);
    return 'Written.';
  }, options);
  return {
    ...world,
    written,
    /** Invokes, answers the question if there is one, and gives the types of what came. */
    async goes(selected: number, more: object): Promise<string> {
      await world.invoke(more);
      const first = await world.runtime.next();
      if (first.json.type === 'tool_result') return first.json.text;
      await world.selects(first, { selected });
      return `asked, then ${(await world.runtime.next()).json.text}`;
    },
  };
}

describe('the preset for a session', () => {
  test('S0-58 it asks for no more than a session, or once, and no is what stands', async () => {
    const { invoke, runtime } = await writingWorld();
    await invoke();
    expect((await runtime.next()).json).toMatchObject({
      prompt: 'Allow writing to docs?',
      choices: ['Yes for session', 'Yes once', 'No'],
      default: 2,
    });
  });

  test('S0-48 S0-49 after "Yes for session" the same session is not asked again, and another is', async () => {
    const { goes } = await writingWorld();
    expect(await goes(0, { id: '1' })).toBe('asked, then Written.');
    expect(await goes(2, { id: '2' })).toBe('Written.');
    expect(await goes(2, { id: '3', group_id: 'other' })).toBe(
      'asked, then Error: The user said no.',
    );
    expect(await goes(2, { id: '4' })).toBe('Written.');
  });

  test('S0-49 "Yes once" is for one call, and "No" for one too', async () => {
    const { goes, written } = await writingWorld();
    expect(await goes(1, { id: '1' })).toBe('asked, then Written.');
    expect(await goes(2, { id: '2' })).toBe('asked, then Error: The user said no.');
    expect(await goes(1, { id: '3' })).toBe('asked, then Written.');
    expect(written).toHaveLength(2);
  });

  test('S0-58 what is permitted is the key, and nothing else', async () => {
    const { goes } = await writingWorld();
    expect(await goes(0, { id: '1', arguments: { folder: 'docs' } })).toBe('asked, then Written.');
    expect(await goes(2, { id: '2', arguments: { folder: '/etc' } })).toContain('said no');
  });

  test('the dismissal of a person, which sends the default, permits nothing', async () => {
    const { goes, written } = await writingWorld();
    expect(await goes(2, { id: '1' })).toContain('said no');
    expect(written).toEqual([]);
  });

  test('a choice that failed permits nothing, now or later', async () => {
    const { goes, written } = await writingWorld();
    expect(await goes(7, { id: '1' })).toContain('User choice flow failed');
    expect(await goes(2, { id: '2' })).toContain('asked, then');
    expect(written).toEqual([]);
  });

  test('a conversation that was closed has to permit anew', async () => {
    const { goes, tells } = await writingWorld();
    await goes(0, { id: '1' });
    await goes(0, { id: '2', group_id: 'other' });
    await tells('/close_thread', { thread_id: 'thread_xyz' });
    expect(await goes(2, { id: '3' })).toContain('said no');
    expect(await goes(2, { id: '4', group_id: 'other' })).toBe('Written.');
  });
});

describe('where grants are kept', () => {
  test('S0-48 a store of the app is asked by session and key, and told of what is permitted', async () => {
    const log: unknown[] = [];
    const grants: GrantStore = {
      async get(groupId, key) {
        log.push(['get', groupId, key]);
        return log.length > 3;
      },
      async set(groupId, key) {
        log.push(['set', groupId, key]);
      },
    };
    const { goes, runtime } = await writingWorld({ grants });
    expect(await goes(0, { id: '1' })).toContain('asked');
    expect(await goes(2, { id: '2' })).toContain('asked');
    expect(await goes(2, { id: '3' })).toBe('Written.');
    const session = JSON.stringify([['origin', runtime.origin], 'thread_xyz']);
    const key = JSON.stringify([[null, null], 'write:docs']);
    expect(log[0]).toEqual(['get', session, key]);
    expect(log[1]).toEqual(['set', session, key]);
  });

  test.each(['yes', 1, {}])('only true permits; %j does not', async (value) => {
    const { goes } = await writingWorld({
      grants: { get: async () => JSON.parse(JSON.stringify(value)), set: async () => {} },
    });
    expect(await goes(2, {})).toBe('asked, then Error: The user said no.');
  });

  test('a store that throws permits nothing', async () => {
    const { goes, written } = await writingWorld({
      grants: {
        get: async () => {
          throw new Error('The disk is gone.');
        },
        set: async () => {},
      },
    });
    expect(await goes(0, {})).toBe('Error: The disk is gone.');
    expect(written).toEqual([]);
  });

  test('a store that can not forget is told of, and the runtime is not', async () => {
    const { errors, tells } = await writingWorld({
      grants: {
        get: () => false,
        set: () => {},
        clear: async () => {
          throw new Error('The disk is gone.');
        },
      },
    });
    expect((await tells('/close_thread', { thread_id: 'thread_xyz' })).status).toBe(200);
    expect(errors).toEqual([new Error('The disk is gone.')]);
  });

  test('in memory, the latest 10,000 are kept: what was forgotten is asked for again', async () => {
    const { invoke, runtime } = await worldOf(async ({ grants }, { fill }) => {
      if (fill !== undefined) {
        for (let index = 0; index < Number(fill); index += 1) await grants.set(`key ${index}`);
      }
      return `${await grants.get('key 0')} ${await grants.get('key 9999')}`;
    });
    await invoke({ id: '1', arguments: { fill: 10_000 } });
    expect((await runtime.next()).json.text).toBe('true true');
    await invoke({ id: '2', arguments: { fill: 10_001 } });
    expect((await runtime.next()).json.text).toBe('false true');
  });
});
