import type { Contender, ContenderKey } from './contender.ts';

/** Times of one contender in milliseconds, a number for each round. */
export interface Samples {
  key: ContenderKey;
  /** Building tools and agent, loading the conversation. */
  opening: number[];
  /** From the user's message to the final text. */
  cycle: number[];
}

/** How long to measure, and what to look at. */
export interface MeasureOptions {
  /** For the warm-up and the rounds together, in milliseconds; what is not timed counts too. */
  budgetMs: number;
  minimumRounds: number;
  maximumRounds: number;
  /** Whether to empty the young generation before each cycle, so that nobody pays for another's garbage. */
  collect: boolean;
  /** Called after every cycle; throws when the work was not done. */
  check: (key: ContenderKey, said: string) => void;
  /** Called once a round, for what is measured beside the contenders. */
  eachRound: () => void;
}

/**
 * Runs every contender once a round, in an order that rotates and turns round every other time, so that nobody
 * always follows the same neighbour. The first third of the time is warm-up and is not kept.
 */
export async function measure(
  contenders: readonly Contender[],
  { budgetMs, minimumRounds, maximumRounds, collect, check, eachRound }: MeasureOptions,
): Promise<Samples[]> {
  const all = new Map(contenders.map(({ key }) => [key, emptySamples(key)]));
  const run = async (round: number, keep: boolean): Promise<void> => {
    for (const contender of inOrder(contenders, round)) {
      const { opening, cycle, said } = await once(contender, collect);
      check(contender.key, said);
      if (!keep) continue;
      all.get(contender.key)?.opening.push(opening);
      all.get(contender.key)?.cycle.push(cycle);
    }
    eachRound();
  };
  const warm = performance.now() + budgetMs / 3;
  for (let round = 0; round < 3 || performance.now() < warm; round += 1) await run(round, false);
  const end = performance.now() + (budgetMs * 2) / 3;
  for (let round = 0; round < maximumRounds; round += 1) {
    if (round >= minimumRounds && performance.now() > end) break;
    await run(round, true);
  }
  return [...all.values()];
}

function emptySamples(key: ContenderKey): Samples {
  return { key, opening: [], cycle: [] };
}

/** The contenders in a round's order: it rotates, and turns round every other time. */
export function inOrder<CONTENDER>(contenders: readonly CONTENDER[], round: number): CONTENDER[] {
  const first = round % contenders.length;
  const rotated = [...contenders.slice(first), ...contenders.slice(0, first)];
  return round % 2 === 0 ? rotated : rotated.toReversed();
}

async function once(
  contender: Contender,
  collect: boolean,
): Promise<{ opening: number; cycle: number; said: string }> {
  const conversation = await contender.prepare();
  if (collect) globalThis.gc?.({ type: 'minor' });
  const begin = performance.now();
  const cycle = await conversation.open();
  const opened = performance.now();
  const said = await cycle();
  return { opening: opened - begin, cycle: performance.now() - opened, said };
}

/** The value that `share` of the samples do not exceed. */
export function quantile(samples: readonly number[], share: number): number {
  const sorted = samples.toSorted((one, other) => one - other);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

/** The middle one of the samples. */
export function median(samples: readonly number[]): number {
  return quantile(samples, 0.5);
}

/** The median of each figure, of samples that have several. */
export function mediansOf(samples: readonly (readonly number[])[]): number[] {
  const [figures = []] = samples;
  return figures.map((_, index) => median(samples.map((each) => each[index] ?? Number.NaN)));
}
