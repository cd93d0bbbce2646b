import { execFileSync } from 'node:child_process';
import { memoryStore } from 'holdpoint';
import { z } from 'zod';
import { appendPast, pastEntries, pastEvents, pastMessages } from '../past-conversation.ts';
import { TemporaryFiles } from '../temporary-files.ts';
import { newAgent } from './own-competitor.ts';
import { makeRatioRow, type SpeedRow } from './speed-row.ts';
import { callUnasked } from './speed-task.ts';

const openedSchema = z.object({ opening: z.number(), parsing: z.number() });

/** Opening long threads from SQLite in a process that has seen none of them: restored ones, and ones that were run and have a snapshot. */
export async function measureOpening(threads: number): Promise<SpeedRow[]> {
  const restored = await measureOpened(threads, 'restored');
  const run = await measureOpened(threads, 'run');
  return [
    makeRatioRow(
      'opening 10,000 messages from SQLite, over `JSON.parse` of the text: restored / with snapshot',
      {
        steady: [
          [restored.opening, restored.parsing],
          [run.opening, run.parsing],
        ],
      },
    ),
  ];
}

async function measureOpened(
  threads: number,
  how: 'restored' | 'run',
): Promise<z.infer<typeof openedSchema>> {
  using files = new TemporaryFiles();
  const { path, asking } = files.sharedFile();
  const past = pastEvents(pastMessages(10_000));
  const task = callUnasked();
  const agent = newAgent(task, asking);
  for (let index = 0; index < threads; index += 1) {
    const id = `thread-${index}`;
    const entries = pastEntries(id, past);
    if (how === 'run') {
      await appendPast(asking, id, entries);
      await agent.run('Please make the transfers.', await agent.thread(id));
    } else {
      const memory = memoryStore();
      await appendPast(memory, id, entries);
      await agent.restore(JSON.stringify(await newAgent(task, memory).thread(id)));
    }
  }
  const program = new URL('./open-threads-process.ts', import.meta.url).pathname;
  const options = ['--conditions=holdpoint-source', '--expose-gc'];
  const said = execFileSync(process.execPath, [...options, program, path, String(threads)]);
  return openedSchema.parse(JSON.parse(said.toString()));
}
