import type { Agent, ThreadStore } from 'holdpoint';
import { vi } from 'vitest';
import { pause } from './claim-agents.ts';
import { type ClaimDraws, worldTime } from './claim-draws.ts';
import type { ClaimGround } from './claim-grounds.ts';
import type { ClaimWaits } from './claim-waits.ts';
import type { MortalProcess } from './mortal-process.ts';
import type { WorkerRoom } from './worker-room.ts';
import type { ThreadClaim } from '../../src/thread/thread-store.ts';

/** What those know who look on. */
interface Onlookers {
  onlooker: ThreadStore;
  draws: ClaimDraws;
  waits: ClaimWaits;
}

/** The store as a process has it: what it asks takes its time, and it may die before and after. */
export function portsOf(
  process: MortalProcess,
  store: ThreadStore,
  { onlooker, draws, waits }: Onlookers,
): ThreadStore {
  const reach = async <RESULT>(work: () => Promise<RESULT>): Promise<RESULT> =>
    process.reach(async () => {
      await pause(draws.delay());
      return work();
    });
  /* Their clock is that of the world. */
  const { now: _now, subscribe, ...rest } = store;
  return {
    ...rest,
    ...(subscribe && {
      subscribe: (listener) =>
        subscribe((notice) => {
          if (!process.isDead) listener(notice);
        }),
    }),
    read: async (...input) => reach(async () => store.read(...input)),
    head: async (...input) => reach(async () => store.head(...input)),
    claim: async (claim) =>
      reach(async () => {
        const claimed = await store.claim(claim);
        for (const each of claimed) waits.setDeadline(each.threadId, each.nextDeadline);
        return claimed;
      }),
    append: async (...input) =>
      reach(async () => {
        const [threadId] = input;
        try {
          await store.append(...input);
        } finally {
          /* It may have died after the commit. */
          const head = await onlooker.head(threadId);
          waits.setDeadline(threadId, head?.nextDeadline);
        }
      }),
  };
}

/** The store of a worker, whose claims may fail. What it hears and claims is noted; `onNamedClaim` is called when it claims one thread. */
export function watchWorker(
  store: ThreadStore,
  room: WorkerRoom,
  { draws, waits, onNamedClaim }: Onlookers & { onNamedClaim: () => void },
): ThreadStore {
  const { subscribe } = store;
  const { name } = room;
  return {
    ...store,
    ...(subscribe && {
      subscribe: (listener) =>
        subscribe((notice) => {
          if (notice?.type === 'thread') waits.addNotice(name, notice);
          else if (notice?.threadId !== undefined) waits.addClaim(name, notice.threadId);
          listener(notice);
        }),
    }),
    async claim(claim) {
      const { threadId } = claim;
      const failure = draws.failure();
      if (threadId !== undefined) waits.addClaim(name, threadId);
      const found = failure === 'before' ? [] : await store.claim(claim);
      if (threadId !== undefined && isGivenBack(claim, room)) room.end(threadId);
      else {
        if (threadId !== undefined) onNamedClaim();
        if (failure === undefined) room.take(found);
      }
      if (failure === undefined) return found;
      waits.addFailure(name);
      room.open();
      throw new Error('The store is not there.');
    },
  };
}

/** Whether a claim is over at once. */
function isGivenBack({ until }: ThreadClaim, { skewMs }: WorkerRoom): boolean {
  return until <= Date.now() + skewMs;
}

/** The agent of a worker, by thread, whose runs are noted in its room. */
export function watchRuns(
  name: string,
  room: WorkerRoom,
  agentOf: (threadId: string) => Agent,
): Pick<Agent, 'name' | 'now' | 'thread' | 'run'> {
  return {
    name,
    now: () => Date.now() + room.skewMs,
    thread: async (...given) => agentOf(given[0] ?? '').thread(...given),
    run: async (input, thread, options) => {
      try {
        const ended = await agentOf(thread.id).run(input, thread, options);
        room.end(thread.id);
        return ended;
      } finally {
        room.release();
      }
    },
  };
}

/** Lets all happen on a ground that happens until then by itself. */
export async function passTime(ground: ClaimGround, until: number): Promise<void> {
  const end = new AbortController();
  setTimeout(() => end.abort(), until - worldTime());
  await ground.settle();
  while (!end.signal.aborted) {
    vi.advanceTimersToNextTimer();
    await ground.settle();
  }
}
