import type { Agent, AgentThread } from 'holdpoint';
import { finalText } from '../bench-model.ts';
import { approveAll, userText } from '../contender.ts';
import { noTimes, type StoreTimes } from './timed-store.ts';

/** Where the time of one cycle went, in milliseconds. */
export interface TimedCycle {
  /** Both halves, each with its opening of the thread. */
  cycle: number;
  /** In the store, in both halves. */
  store: StoreTimes;
  /** The second half: from opening the thread to the final text. */
  resume: number;
  /** In the store, in the second half. */
  resumeStore: StoreTimes;
  /** Opening the thread in the second half, but for the store's reads: checking and folding what was read. */
  fold: number;
}

/** One cycle of an agent whose store notes its times in `times`. */
export async function timedCycle(
  agent: Agent,
  threadId: string,
  times: StoreTimes,
): Promise<TimedCycle> {
  Object.assign(times, noTimes());
  const open = async (): Promise<AgentThread> => agent.thread(threadId);
  const asking = await timed(open);
  const ask = await timed(async () => agent.run(userText, asking.result));
  const asked = { ...times };
  Object.assign(times, noTimes());
  const opening = await timed(open);
  const fold = opening.elapsed - times.read;
  const run = await timed(async () => approveAll(agent, opening.result));
  checkSaid(run.result);
  const resume = opening.elapsed + run.elapsed;
  return {
    cycle: asking.elapsed + ask.elapsed + resume,
    store: sum(asked, times),
    resume,
    resumeStore: { ...times },
    fold,
  };
}

/** Work and the time it took. What is young is collected first, untimed, or the work would pay for what went before. */
export async function timed<RESULT>(
  work: () => Promise<RESULT>,
): Promise<{ result: RESULT; elapsed: number }> {
  globalThis.gc?.({ type: 'minor' });
  const begin = performance.now();
  const result = await work();
  return { result, elapsed: performance.now() - begin };
}

/** Throws where a cycle did not end in the final text. */
export function checkSaid(said: string): void {
  if (said !== finalText) throw new Error(`The model said '${said}'.`);
}

function sum(one: StoreTimes, other: StoreTimes): StoreTimes {
  return {
    append: one.append + other.append,
    appends: one.appends + other.appends,
    read: one.read + other.read,
    reads: one.reads + other.reads,
  };
}
