import type { ThreadStore } from 'holdpoint';
import { describe, expect, test } from 'vitest';
import { everyStore } from '../support/every-store.ts';
import { recorded, resume, resumeTwice, say } from './desk-stories.ts';
import { dyingStore } from './dying-store.ts';
import { childOf, desk, only, quorum, requestIn, votersOf } from './payment-desk.ts';

const mayAnswer = only(new Set(['Ada', 'Ben', 'Cem']));
const people = { clerk: { mayAnswer }, payer: { mayAnswer } };
const ways = ['before', 'after'] as const;

/** Plays a story for each append with which Ada's process may end while she answers, until it outlives her answer. */
async function playDeaths(
  open: () => ThreadStore,
  story: (at: Awaited<ReturnType<typeof desk>>, code: unknown) => Promise<void>,
): Promise<number> {
  let deaths = 0;
  for (const when of ways) {
    for (let point = 1; ; point += 1) {
      const at = await desk({ ...people, open, threadId: `${when} ${point}` }, quorum);
      let process: ReturnType<typeof dyingStore> | undefined;
      const ada = await at.startProcess({
        see: (store) => (process = dyingStore(store, point, when)).store,
      });
      const code = await say(ada, 'Ada');
      if (process?.isDead !== true) break;
      deaths += 1;
      await story(at, code);
    }
  }
  return deaths;
}

describe.each(everyStore())("$name: Ada's process ends while she votes", ({ start }) => {
  test('wherever that is, her vote counts in the next process as it is recorded, and no call waits for ever', async () => {
    using kept = await start();
    const counted: number[] = [];
    const deaths = await playDeaths(kept.open, async (at) => {
      const ben = await at.startProcess();
      const below = votersOf(requestIn(await childOf(ben)));
      counted.push(below.length);
      expect(await say(ben, 'Ben')).toBe('no error');
      expect((await recorded(at)).map((event) => Object(event)[1])).toEqual([...below, 'Ben']);
      await resume(at);
      expect(at.paid).toHaveLength(below.length);
      const again = below.length === 0 ? await say(await at.startProcess(), 'Ada') : 'no error';
      expect(again).toBe('no error');
      await resumeTwice(at);
      expect(at.paid).toEqual([{ euros: 900 }]);
    });
    expect(deaths).toBe(4);
    expect(new Set(counted)).toEqual(new Set([0, 1]));
  });

  test('a process that starts next shows what the sub-agent has, and Ada takes it back there', async () => {
    using kept = await start();
    await playDeaths(kept.open, async (at) => {
      await resume(at);
      const { clerk, payer, thread } = await at.startProcess();
      const shown = votersOf(requestIn(thread));
      expect(votersOf(requestIn(await childOf({ payer, thread })))).toEqual(shown);
      if (shown.length > 0) {
        await clerk.withdraw(thread, requestIn(thread).requestId, { principal: 'Ada' });
      }
      expect(await say(await at.startProcess(), 'Ben')).toBe('no error');
      await resume(at);
      expect(at.paid).toEqual([]);
      expect(await say(await at.startProcess(), 'Cem')).toBe('no error');
      await resumeTwice(at);
      expect(at.paid).toHaveLength(1);
    });
  });
});
