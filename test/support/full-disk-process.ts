/*
 * A process of its own whose shell does not let its files grow beyond a size. It fills several databases, each up to another
 * size, and leads a thread in each until two requests in a row came to nothing. Of each it says, in a line of JSON, what became of its
 * requests. Arguments: a folder, and how many bytes of each database are filled first.
 */
import { mock } from 'node:test';
import type { AgentOptions, ThreadEvent } from 'holdpoint';
import {
  ledgeredAgent,
  type LedgeredThread,
  ledgeredThread,
  sendNext,
} from '../faults/ledgered-agent.ts';
import { chained, endOf } from './chained.ts';

const [folder = '', ...sizes] = process.argv.slice(2);

/* A result that can't be written is tried again for seconds, and these shall pass at once. */
mock.timers.enable({ apis: ['setTimeout'] });
setInterval(() => mock.timers.tick(1_000), 1);

async function fill({ store }: LedgeredThread, size: number): Promise<void> {
  const event: ThreadEvent = {
    type: 'run-renewed',
    at: 0,
    leaseUntil: 0,
    runId: 'x'.repeat(size),
  };
  const entries = [chained([event])];
  await store.append('filler', endOf([]), entries, {
    threadId: 'filler',
    status: 'idle',
    ...endOf(entries),
    openRequests: 0,
    failures: 0,
    updatedAt: 0,
  });
}

async function leadUntilFull(threadId: string, size: number) {
  using thread = ledgeredThread(folder, threadId);
  await fill(thread, size);
  const unrecorded: Parameters<NonNullable<AgentOptions['onUnrecorded']>>[0][] = [];
  const agent = ledgeredAgent(thread, { onUnrecorded: (outcome) => unrecorded.push(outcome) });
  const replies: string[] = [];
  const failures: string[] = [];
  while (failures.length < 2 && replies.at(-1) !== 'completed') {
    const failed = (error: unknown): string => {
      failures.push(String(error));
      return 'failed';
    };
    const reply = await sendNext(agent, thread).catch(failed);
    replies.push(reply);
    if (reply === 'running') break;
  }
  return { threadId, replies, failures, unrecorded: unrecorded.map(({ call }) => call.toolCallId) };
}

for (const [index, size] of sizes.entries()) {
  console.log(JSON.stringify(await leadUntilFull(`disk-${index}`, Number(size))));
}
process.exit();
