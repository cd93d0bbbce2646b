import { Ledger } from '../transfer-tool.ts';
import { pastEntries, pastEvents, pastMessages } from '../past-conversation.ts';
import { milliseconds } from '../table.ts';
import { aiCompetitor } from './ai-competitor.ts';
import { ownCompetitor } from './own-competitor.ts';
import type { SpeedFound } from './speed-targets.ts';
import type { SpeedTask } from './speed-task.ts';
import { type Competitor, takeTurns } from './turns.ts';

const secret = 'a secret of thirty-two characters';

/** A cycle with one call, in conversations that begin with it. */
export async function measureCycles(budgetMs: number): Promise<SpeedFound[]> {
  const task = gatedTask(1);
  const [aiCold, aiWarm, aiSigned, ownCold, ownWarm] = await times(
    [
      aiCompetitor({ task }),
      aiCompetitor({ task, warm: true }),
      aiCompetitor({ task, secret }),
      ownCompetitor({ task }),
      ownCompetitor({ task, keeps: 'agent' }),
    ],
    budgetMs,
  );
  return [
    { key: 'cold', ...ratios([[ownCold, aiCold]]) },
    { key: 'warm', ...ratios([[ownWarm, aiWarm]]) },
    { key: 'signed', ...ratios([[ownCold, aiSigned]]) },
  ];
}

/** A cycle at the end of a long conversation. */
export async function measureHistory(
  key: 'thousand' | 'tenThousand',
  messages: number,
  budgetMs: number,
): Promise<SpeedFound[]> {
  const task = gatedTask(1);
  const past = pastMessages(messages);
  const entries = pastEntries('thread', pastEvents(past));
  const [ai, kept, anew] = await times(
    [
      aiCompetitor({ task, past }),
      ownCompetitor({ task, past: entries, keeps: 'thread' }),
      ownCompetitor({ task, past: entries }),
    ],
    budgetMs,
  );
  return [
    {
      key,
      ...ratios([
        [kept, ai],
        [anew, ai],
      ]),
    },
  ];
}

/** A cycle in which one step makes many calls, and all of them ask. */
export async function measureCalls(budgetMs: number): Promise<SpeedFound[]> {
  const pairs: [number | undefined, number | undefined][] = [];
  for (const calls of [10, 100]) {
    const task = gatedTask(calls);
    const [ai, own] = await times([aiCompetitor({ task }), ownCompetitor({ task })], budgetMs / 2);
    pairs.push([own, ai]);
  }
  return [{ key: 'calls', ...ratios(pairs) }];
}

/** A turn whose call needs nobody. */
export async function measureTurn(budgetMs: number): Promise<SpeedFound[]> {
  const task = { calls: 1, asks: false, ledger: new Ledger() };
  const [ai, own] = await times([aiCompetitor({ task }), ownCompetitor({ task })], budgetMs);
  return [{ key: 'turn', ...ratios([[own, ai]]) }];
}

/** A task that asks about each of its calls. */
export function gatedTask(calls: number): SpeedTask {
  return { calls, asks: true, ledger: new Ledger() };
}

async function times(
  competitors: readonly Competitor[],
  budgetMs: number,
): Promise<(number | undefined)[]> {
  const found = await takeTurns(competitors, budgetMs);
  return found.map(([time]) => time);
}

/** Ratios of times in milliseconds, and the times for the reader. */
export function ratios(
  pairs: readonly (readonly [own: number | undefined, ai: number | undefined])[],
): Pick<SpeedFound, 'figures' | 'from'> {
  const known = pairs.map(([own = Number.NaN, ai = Number.NaN]) => ({ own, ai }));
  return {
    figures: known.map(({ own, ai }) => own / ai),
    from: `${known.map(({ own, ai }) => `${milliseconds(own)} over ${milliseconds(ai)}`).join(', ')} ms`,
  };
}
