import { execFileSync } from 'node:child_process';
import { memoryStore } from 'holdpoint';
import { z } from 'zod';
import { appendPast, pastEntries, pastEvents, pastMessages } from '../past-conversation.ts';
import { TemporaryFiles } from '../temporary-files.ts';
import { newAgent } from './own-competitor.ts';
import { makeRatioRow, type SpeedRow } from './speed-row.ts';
import { callUnasked } from './speed-task.ts';

const openedSchema = z.object({ opening: z.number(), parsing: z.number() });

/** How a thread came into the store: restored from one without snapshots, restored from one with them, or run there. */
type Origin = 'restored' | 'moved' | 'run';

/** Opening long threads from SQLite in a process that has seen none of them. */
export async function measureOpening(threads: number): Promise<SpeedRow[]> {
  const steady: [number, number][] = [];
  for (const origin of ['restored', 'moved', 'run'] as const) {
    const { opening, parsing } = await measureOpened(threads, origin);
    steady.push([opening, parsing]);
  }
  return [
    makeRatioRow(
      'opening 10,000 messages from SQLite, over `JSON.parse` of the text: restored from memory / restored from SQLite / run there',
      { steady },
    ),
  ];
}

async function measureOpened(
  threads: number,
  origin: Origin,
): Promise<z.infer<typeof openedSchema>> {
  using files = new TemporaryFiles();
  using elsewhere = new TemporaryFiles();
  const { path, asking } = files.sharedFile();
  const other = elsewhere.sharedFile().asking;
  const past = pastEvents(pastMessages(10_000));
  const task = callUnasked();
  const agent = newAgent(task, asking);
  for (let index = 0; index < threads; index += 1) {
    const id = `thread-${index}`;
    const first = origin === 'restored' ? memoryStore() : origin === 'moved' ? other : asking;
    await appendPast(first, id, pastEntries(id, past));
    const before = newAgent(task, first);
    const thread = await before.thread(id);
    if (origin !== 'restored') await before.run('Please make the transfers.', thread);
    if (origin !== 'run') await agent.restore(JSON.stringify(thread));
  }
  const program = new URL('./open-threads-process.ts', import.meta.url).pathname;
  const options = ['--conditions=holdpoint-source', '--expose-gc'];
  const said = execFileSync(process.execPath, [...options, program, path, String(threads)]);
  return openedSchema.parse(JSON.parse(said.toString()));
}
