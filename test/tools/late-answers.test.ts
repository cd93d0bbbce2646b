import type { ThreadStore } from 'holdpoint';
import { runWorker } from 'holdpoint/worker';
import { describe, expect, test } from 'vitest';
import { everyStore } from '../support/every-store.ts';
import { Pause } from '../support/pause.ts';
import { type Desk, type Process, recorded, resume, say } from './desk-stories.ts';
import { childOf, desk, quorum } from './payment-desk.ts';
import { waitFor } from '../support/waiting.ts';

const minute = 60_000;
const mayAnswer = (): boolean => true;

/** A desk whose payer has a minute. */
async function hurried(open: () => ThreadStore, rule: Parameters<typeof desk>[1]): Promise<Desk> {
  const options = { clerk: { mayAnswer }, payer: { mayAnswer }, expiresAfterMs: minute };
  return desk({ ...options, open }, rule);
}

/** A process that waits before it records an answer in the sub-agent's thread, or above. */
async function startSlow(at: Desk, where: 'below' | 'above', pause: Pause): Promise<Process> {
  const isHere = (threadId: string): boolean => (threadId === at.thread.id) === (where === 'above');
  return at.startProcess({ see: (store) => pausing(store, isHere, pause) });
}

/** A store that waits before an append to some thread. */
function pausing(
  store: ThreadStore,
  isHere: (threadId: string) => boolean,
  pause: Pause,
): ThreadStore {
  return {
    ...store,
    append: async (...input) => {
      if (isHere(input[0])) await pause.wait();
      return store.append(...input);
    },
  };
}

/** Two workers see that the time is over. */
async function workTwice(at: Desk): Promise<void> {
  const stopping = new AbortController();
  const { signal } = stopping;
  const working = [await at.startProcess(), await at.startProcess()].map(async ({ clerk }) =>
    runWorker({ agent: clerk, signal, pollMs: 5 }),
  );
  await waitFor(async () => {
    const { payer, thread } = await at.startProcess();
    expect(thread.status).toBe('idle');
    expect((await childOf({ payer, thread })).activeRequests).toEqual([]);
  });
  stopping.abort();
  await Promise.all(working);
}

describe.each(everyStore())('$name: after the deadline of an agent tool', ({ start }) => {
  test('Ada approves while two workers end the call: nothing is recorded of it, and nothing runs', async () => {
    using kept = await start();
    const at = await hurried(kept.open, 'user-approval');
    const late = await at.startProcess();
    at.clock.now += minute + 10_000;
    const [code] = await Promise.all([say(late, 'Ada'), workTwice(at)]);
    expect(code).toBe('request-closed');
    const { thread } = await at.startProcess();
    expect(['expired', 'cancelled']).toContain(thread.decisions[0]?.status);
    expect(thread.calls).toMatchObject([{ status: 'failed' }]);
    expect(await recorded(at)).toEqual([]);
    expect(at.paid).toEqual([]);
  });

  test('Ada, who answered in time in a slow process, finds the request closed where two workers were faster', async () => {
    using kept = await start();
    const at = await hurried(kept.open, 'user-approval');
    const pause = new Pause();
    const code = await pause.during(say(await startSlow(at, 'below', pause), 'Ada'), async () => {
      at.clock.now += minute;
      await workTwice(at);
    });
    expect(code).toBe('request-closed');
    expect(await recorded(at)).toEqual([]);
    expect(at.paid).toEqual([]);
  });

  test('her approval is not the second of two that counts, although she sent it in time', async () => {
    using kept = await start();
    const at = await hurried(kept.open, quorum);
    const pause = new Pause();
    const code = await pause.during(say(await startSlow(at, 'below', pause), 'Ada'), async () => {
      expect(await say(await at.startProcess(), 'Ben')).toBe('no error');
      at.clock.now += minute + 10_000;
    });
    expect(code).toBe('request-closed');
    expect(await recorded(at)).toEqual([['request-voted', 'Ben', true]]);
    await workTwice(at);
    await resume(at);
    const { thread } = await at.startProcess();
    expect(thread.decisions).toMatchObject([{ status: 'expired' }]);
    expect(at.paid).toEqual([]);
  });

  test('nor is it through three levels, where only the outermost call has the deadline', async () => {
    using kept = await start();
    const at = await desk({ open: kept.open }, quorum);
    const startBoss = (store: ThreadStore, hasAsked: boolean) => {
      const shared = { store, hasAsked };
      const clerk = at.delegating('clerk', at.newPayer({ ...shared, mayAnswer }), shared);
      return at.delegating('boss', clerk, { ...shared, within: minute });
    };
    const boss = startBoss(kept.open(), false);
    const thread = await boss.thread('boss');
    await boss.run('Pay.', thread, { principal: 'Eve' });
    const pause = new Pause();
    const slow = startBoss(
      pausing(kept.open(), (threadId) => threadId !== 'boss', pause),
      true,
    );
    const answering = say({ clerk: slow, thread: await slow.thread('boss') }, 'Ada');
    const code = await pause.during(answering, async () => {
      expect(await say({ clerk: boss, thread }, 'Ben')).toBe('no error');
      at.clock.now += minute;
    });
    expect(code).toBe('request-closed');
    await boss.run([], thread);
    expect(thread.decisions).toMatchObject([{ status: 'expired' }]);
    expect(at.paid).toEqual([]);
  });

  test('what the sub-agent recorded in time is shown as it was, and the call has ended', async () => {
    using kept = await start();
    const at = await hurried(kept.open, 'user-approval');
    const pause = new Pause();
    await pause.during(say(await startSlow(at, 'above', pause), 'Ada'), async () => {
      at.clock.now += minute;
      await workTwice(at);
    });
    expect(await recorded(at)).toEqual([['request-answered', 'Ada', true]]);
    const { thread } = await at.startProcess();
    expect(thread.calls).toMatchObject([{ status: 'failed' }]);
    expect(at.paid).toEqual([]);
  });
});
