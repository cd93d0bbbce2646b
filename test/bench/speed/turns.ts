import { inOrder, quantile } from '../measure.ts';

/** One piece of work; gives its figures in milliseconds. */
export type Work = () => Promise<readonly number[]>;

/** Somebody who takes turns. */
export interface Competitor {
  /** Called before each turn, and not timed. */
  prepare(): Promise<Work>;
  /** Whether each piece of work counts, instead of the mean of a turn: for work before which garbage is collected, not timed. */
  countsEach?: boolean;
}

const turnMs = 30;

/**
 * Lets everyone work in turns of about 30 milliseconds, in an order that rotates, for as long as the budget lasts; its first third is
 * not kept. Gives the figures of each: the mean of a turn, with the garbage that was collected in it, and of these the lower
 * quintile over the turns.
 */
export async function takeTurns(
  competitors: readonly Competitor[],
  budgetMs: number,
): Promise<(readonly number[])[]> {
  const kept = competitors.map(() => new Array<readonly number[]>());
  const play = async (round: number): Promise<void> => {
    for (const [index, competitor] of inOrder([...competitors.entries()], round)) {
      const worked = await takeTurn(competitor);
      kept[index]?.push(...(competitor.countsEach === true ? worked : [meanOf(worked)]));
    }
  };
  const begin = performance.now();
  let round = 0;
  while (round < 3 || performance.now() < begin + budgetMs / 3) await play(round++);
  for (const figures of kept) figures.length = 0;
  const end = begin + budgetMs;
  for (let measured = 0; measured < 5 || performance.now() < end; measured += 1) {
    await play(round + measured);
  }
  return kept.map(lowerQuintiles);
}

async function takeTurn(competitor: Competitor): Promise<(readonly number[])[]> {
  const work = await competitor.prepare();
  globalThis.gc?.({ type: 'minor' });
  const worked = [];
  const end = performance.now() + turnMs;
  while (worked.length === 0 || performance.now() < end) worked.push(await work());
  return worked;
}

function meanOf(worked: readonly (readonly number[])[]): readonly number[] {
  const [first = []] = worked;
  return first.map((_, index) => valuesAt(worked, index).reduce((a, b) => a + b) / worked.length);
}

function lowerQuintiles(kept: readonly (readonly number[])[]): readonly number[] {
  const [first = []] = kept;
  return first.map((_, index) => quantile(valuesAt(kept, index), 0.2));
}

function valuesAt(all: readonly (readonly number[])[], index: number): number[] {
  return all.map((figures) => figures[index] ?? Number.NaN);
}

/** Work of which nothing but its time is of interest. */
export function timed(work: () => Promise<unknown>): Work {
  return async () => {
    const begin = performance.now();
    await work();
    return [performance.now() - begin];
  };
}
