import { pieceCount, readOnce, streamedContenders } from '../run-streams.ts';
import { ratios } from './measure-cycles.ts';
import type { SpeedFound } from './speed-targets.ts';
import { takeTurns } from './turns.ts';

/** A streamed answer that asks at its end; agent, model and tools are kept, each stream is a thread of its own. */
export async function measureStream(budgetMs: number): Promise<SpeedFound[]> {
  const streamed = streamedContenders(() => pieceCount).slice(0, 2);
  const competitors = streamed.map((contender) => ({
    countsEach: true,
    prepare: async () => async () => {
      const { total, first } = await readOnce(contender, pieceCount);
      return [total, first];
    },
  }));
  const [[aiTotal, aiFirst] = [], [total, first] = []] = await takeTurns(competitors, budgetMs);
  return [
    {
      key: 'stream',
      ...ratios([
        [total, aiTotal],
        [first, aiFirst],
      ]),
    },
  ];
}
