import { memoryStore, type StoreNotice, type ThreadStore, type ThreadSummary } from 'holdpoint';
import { runWorker } from 'holdpoint/worker';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { appendPlain } from '../support/plain-entries.ts';
import { scriptedModel } from '../support/scripted-model.ts';
import { travelWorld } from '../support/travel-world.ts';

const pollMs = 1_000;

beforeEach(() => vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** One claim of a thread that a worker was told of. */
interface Claim {
  threadId: string;
  found: boolean;
}

/** Whether a notice reaches one of its subscribers. */
type Reaches = () => boolean;

function addTo<LISTENER>(listeners: Set<LISTENER>, listener: LISTENER) {
  listeners.add(listener);
  return async () => void listeners.delete(listener);
}

/** A store whose workers hear of due threads and of each other's claims, as those of a database do. */
function noticedStore(reaches: Reaches = () => true) {
  const inner = memoryStore();
  const listeners = new Set<(notice?: StoreNotice) => void>();
  const claims: Claim[] = [];
  const started: string[] = [];
  const store: ThreadStore = {
    ...inner,
    subscribe: (listener) => addTo(listeners, listener),
    send: (notice) =>
      queueMicrotask(() => {
        for (const listener of listeners) if (reaches()) listener(notice);
      }),
    async claim(claim) {
      const found = await inner.claim(claim);
      const { threadId } = claim;
      if (threadId !== undefined) claims.push({ threadId, found: found.length > 0 });
      started.push(...found.map((summary) => summary.threadId));
      return found;
    },
  };
  return {
    store,
    claims,
    /** The threads that were given to workers, in order. */
    started,
    /** Makes a thread due, and says so. */
    async makeDue(threadId: string): Promise<void> {
      const summary: Partial<ThreadSummary> = { status: 'due', nextDeadline: 0, agent: 'sales' };
      await appendPlain(inner, threadId, summary);
      for (const listener of listeners) {
        if (reaches()) listener({ type: 'thread', threadId, agent: 'sales', nextDeadline: 0 });
      }
      await vi.advanceTimersByTimeAsync(0);
    },
  };
}

/** Workers on a store. Their threads are no logs, so that a run of them fails at once. */
async function startWorkers(store: ThreadStore, count: number, concurrency = 4) {
  const stopping = new AbortController();
  const { signal } = stopping;
  const working = Array.from({ length: count }, async () => {
    const agent = travelWorld(scriptedModel([]), () => store).agent({ name: 'sales' });
    return runWorker({ agent, store, signal, pollMs, concurrency });
  });
  await vi.advanceTimersByTimeAsync(0);
  return async () => {
    stopping.abort();
    await Promise.all(working);
  };
}

/** The same numbers at every run of the test. */
function* numbersFrom(seed: number): Generator<number, never, void> {
  for (let state = seed; ;) {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    yield state / 2_147_483_648;
  }
}

describe('workers that hear of each other', () => {
  test.each([4, 1])(
    'claim each due thread once, and at once, whoever of them comes first, with room for %i each',
    async (concurrency) => {
      const { store, claims, started, makeDue } = noticedStore();
      const stop = await startWorkers(store, 20, concurrency);
      for (let index = 0; index < 400; index += 1) {
        await makeDue(`t${index}`);
        expect(started).toHaveLength(index + 1);
      }
      await stop();
      expect(new Set(started).size).toBe(400);
      expect(claims.length).toBeLessThanOrEqual(1.5 * 400);
      const whileKnown = claims.filter(({ threadId }) => Number(threadId.slice(1)) >= 300);
      expect(whileKnown.length).toBeLessThanOrEqual(1.1 * 100);
    },
  );

  test('do not wait for one that is gone more than once, and only for a moment for many', async () => {
    const { store, started, makeDue } = noticedStore();
    const stop = await startWorkers(store, 1);
    for (let index = 0; index < 100; index += 1) {
      store.send?.({ type: 'claim', worker: `gone-${index}`, agent: 'sales', isFree: true });
    }
    await vi.advanceTimersByTimeAsync(0);
    let waited = 0;
    for (let index = 0; index < 40; index += 1) {
      await makeDue(`t${index}`);
      if (started.length > index) continue;
      waited += 1;
      await vi.advanceTimersByTimeAsync(200);
      expect(started).toHaveLength(index + 1);
    }
    expect(waited).toBeGreaterThan(0);
    /* Each thread that waits leaves fewer to wait for, by half on the average. */
    expect(waited).toBeLessThanOrEqual(30);
    await stop();
  });

  test('leave out those of other agents, and those that say that they are full or end', async () => {
    const { store, started, makeDue } = noticedStore();
    const stop = await startWorkers(store, 1);
    for (let index = 0; index < 20; index += 1) {
      const worker = `worker-${index}`;
      store.send?.({ type: 'claim', worker: `other-${index}`, agent: 'other', isFree: true });
      store.send?.({ type: 'claim', worker, agent: 'sales', isFree: true });
      store.send?.({ type: 'claim', worker, agent: 'sales', isFree: false });
    }
    await vi.advanceTimersByTimeAsync(0);
    /* One of them may be this worker's turn by chance. */
    const threadIds = Array.from({ length: 10 }, (_, index) => `t${index}`);
    for (const threadId of threadIds) await makeDue(threadId);
    expect(started).toEqual(threadIds);
    await stop();
  });

  /* Each seed is other losses, at other places. */
  test.each(Array.from({ length: 40 }, (_, seed) => seed))(
    'leave no thread behind for longer than a poll, and give none to two, when notices are lost and workers end (%i)',
    async (seed) => {
      const numbers = numbersFrom(seed + 1);
      const draw = (): number => numbers.next().value;
      const lost = draw();
      const { store, started, makeDue } = noticedStore(() => draw() >= lost);
      const stops = [];
      for (let index = 0; index < 5; index += 1) stops.push(await startWorkers(store, 1, 1));
      const due = new Map<string, number>();
      for (let index = 0; index < 30; index += 1) {
        const threadId = `t${index}`;
        due.set(threadId, Date.now());
        await makeDue(threadId);
        await vi.advanceTimersByTimeAsync(Math.floor(draw() * 120));
        if (draw() < 0.1 && stops.length > 1) await stops.pop()?.();
        for (const id of started) due.delete(id);
        const waits = [...due.values()].map((at) => Date.now() - at);
        expect(Math.max(0, ...waits)).toBeLessThanOrEqual(pollMs + 120);
      }
      await vi.advanceTimersByTimeAsync(pollMs);
      for (const stop of stops) await stop();
      expect(started.toSorted()).toEqual(
        Array.from({ length: 30 }, (_, index) => `t${index}`).toSorted(),
      );
    },
  );

  /* Two workers and two threads: which of the first eight notices are lost, and which worker ends before the second thread is due. */
  test('of two, whichever notices are lost and whoever ends, one runs each thread within a poll', async () => {
    const faults: string[] = [];
    for (let lost = 0; lost < 256; lost += 1) {
      for (const ends of ['nobody', 'the first', 'the second']) {
        let sent = 0;
        const { store, started, makeDue } = noticedStore(() => ((lost >> sent++) & 1) === 0);
        const stops = [await startWorkers(store, 1), await startWorkers(store, 1)];
        await makeDue('a');
        if (ends === 'the first') await stops.shift()?.();
        if (ends === 'the second') await stops.pop()?.();
        await makeDue('b');
        await vi.advanceTimersByTimeAsync(pollMs);
        for (const stop of stops) await stop();
        if (started.toSorted().join() !== 'a,b') faults.push(`${lost}, ${ends}: ${started.join()}`);
      }
    }
    expect(faults).toEqual([]);
  });
});
