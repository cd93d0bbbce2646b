import { execFileSync } from 'node:child_process';
import { memoryStore, type ThreadStore } from 'holdpoint';
import { z } from 'zod';
import { rawInsertSampler } from '../run-workload.ts';
import { appendPast, pastEntries, pastEvents, pastMessages } from '../past-conversation.ts';
import { milliseconds } from '../table.ts';
import { TemporaryFiles } from '../temporary-files.ts';
import { aiCompetitor } from './ai-competitor.ts';
import { gatedTask, ratios } from './measure-cycles.ts';
import { newAgent, ownCompetitor } from './own-competitor.ts';
import type { SpeedFound } from './speed-targets.ts';
import { takeTurns } from './turns.ts';

/** A cold cycle in a file that each process has opened when it started. */
export async function measureSqliteCycle(budgetMs: number): Promise<SpeedFound[]> {
  using files = new TemporaryFiles();
  const task = gatedTask(1);
  const file = files.sharedFile();
  const raw = rawInsertSampler(files.rawInsert());
  const [[ai = Number.NaN] = [], [own = Number.NaN] = [], [insert = Number.NaN] = []] =
    await takeTurns(
      [
        aiCompetitor({ task }),
        ownCompetitor({ task, stores: () => file }),
        { prepare: async () => async () => [raw.once()] },
      ],
      budgetMs,
    );
  const appends = await countAppends();
  const from = `${milliseconds(own)} over ${milliseconds(ai)} + ${appends} x ${milliseconds(insert)} ms`;
  return [{ key: 'sqliteCycle', figures: [own / (ai + appends * insert)], from }];
}

async function countAppends(): Promise<number> {
  let appends = 0;
  const memory = memoryStore();
  const store: ThreadStore = {
    ...memory,
    async append(...input) {
      await memory.append(...input);
      appends += 1;
    },
  };
  const stores = { asking: store, resuming: store };
  await ownCompetitor({ task: gatedTask(1), stores: () => stores }).prepare();
  return appends;
}

const openedSchema = z.object({ opening: z.number(), parsing: z.number() });

/** Opening long threads in a process that has seen none of them, each of which has been run before. */
export async function measureSqliteOpening(threads: number): Promise<SpeedFound[]> {
  using files = new TemporaryFiles();
  const { path, asking } = files.sharedFile();
  const past = pastEvents(pastMessages(10_000));
  const task = { ...gatedTask(1), asks: false };
  for (let index = 0; index < threads; index += 1) {
    const id = `thread-${index}`;
    await appendPast(asking, id, pastEntries(id, past));
    const agent = newAgent(task, asking);
    await agent.run('Please make the transfers.', await agent.thread(id));
  }
  const program = new URL('./open-threads-process.ts', import.meta.url).pathname;
  const options = ['--conditions=holdpoint-source', '--expose-gc'];
  const said = execFileSync(process.execPath, [...options, program, path, String(threads)]);
  const { opening, parsing } = openedSchema.parse(JSON.parse(said.toString()));
  return [{ key: 'sqliteOpening', ...ratios([[opening, parsing]]) }];
}
