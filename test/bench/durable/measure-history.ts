import { pastEvents, pastMessages, seed } from '../past-conversation.ts';
import { aiStep } from './ai-step.ts';
import { checkSaid, timed, type TimedCycle, timedCycle } from './timed-cycle.ts';
import type { TimedWorker } from './timed-worker.ts';

/** One cycle on a thread with a history, and what was measured right after it; in milliseconds. */
export interface HistorySample extends TimedCycle {
  /** As many raw inserts as the cycle has appends. */
  raw: number;
  /** A model step by the AI SDK alone, over the same history. */
  step: number;
}

/** What was found at one length of the history. */
export interface HistoryResult {
  /** Messages in the thread when the cycle begins. */
  history: number;
  samples: HistorySample[];
}

/* The first rounds of all are not kept. */
const warmUp = 2;
const minimumRounds = 5;

/** Measures cycles at several lengths of the history within the same rounds, for about `budgetMs`. */
export async function measureHistory(
  worker: TimedWorker,
  histories: readonly number[],
  budgetMs: number,
): Promise<HistoryResult[]> {
  const points = histories.map((history) => {
    const samples: HistorySample[] = [];
    return { history, samples, sample: samplerAt(worker, history) };
  });
  const end = performance.now() + budgetMs;
  for (let round = 0; round < warmUp + minimumRounds || performance.now() < end; round += 1) {
    for (const { samples, sample } of points) {
      const found = await sample(round);
      if (round >= warmUp) samples.push(found);
    }
  }
  return points.map(({ history, samples }) => ({ history, samples }));
}

/**
 * One cycle after the other on a thread that has `history` messages, and four more after each. It is left for a new one when it
 * has grown by a twentieth; seeding one for each cycle would keep the disk busy with that.
 */
function samplerAt(
  { agent, times, store, raw }: TimedWorker,
  history: number,
): (round: number) => Promise<HistorySample> {
  const messages = pastMessages(history);
  const past = pastEvents(messages);
  const cyclesOnThread = Math.max(1, Math.floor(history / 80));
  const begin = Date.now();
  return async (round) => {
    const threadId = `history-${begin}-${history}-${Math.floor(round / cyclesOnThread)}`;
    if (round % cyclesOnThread === 0) await seed(store, threadId, past);
    const cycle = await timedCycle(agent, threadId, times);
    const inserts = await timed(raw);
    const step = await timed(async () => aiStep(messages));
    checkSaid(step.result);
    return { ...cycle, raw: inserts.elapsed, step: step.elapsed };
  };
}
