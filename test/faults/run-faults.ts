import type { ThreadEvent } from 'holdpoint';
import { z } from 'zod';
import type { ScheduledProcess } from './scheduled-world.ts';
import type { ThreadEventOf } from '../../src/thread/thread-event.ts';

/** The output of a tool in a scheduled world. */
const outputSchema = z.object({ by: z.string() });

/** A run as the log shows it. */
interface Holder {
  runId: string;
  leaseUntil: number;
}

/** What was wrong with who ran a thread: two runs at once, or a result that is not of the attempt it stands for. */
export function runFaults(
  events: readonly ThreadEvent[],
  processes: readonly ScheduledProcess[],
): string[] {
  const faults: string[] = [];
  /** By place, the run that started its call last. */
  const starters = new Map<string, string>();
  let holder: Holder | undefined;
  for (const event of events) {
    if (event.type === 'run-started' || event.type === 'run-renewed') {
      faults.push(...holdFaults(event, holder));
      holder = event;
    } else if (event.type === 'run-ended') {
      holder = undefined;
    } else if (event.type === 'call-started' && holder !== undefined) {
      starters.set(`${event.step}.${event.index}`, holder.runId);
    } else if (event.type === 'call-ended') {
      const runId = starters.get(`${event.step}.${event.index}`);
      faults.push(...resultFaults(event, processOf(runId, processes)));
    }
  }
  return faults;
}

function holdFaults(
  { type, at, runId }: ThreadEventOf<'run-started' | 'run-renewed'>,
  holder: Holder | undefined,
): string[] {
  if (type === 'run-renewed') {
    return holder?.runId === runId ? [] : [`Run ${runId} renewed a lease that it had lost.`];
  }
  if (holder === undefined || holder.leaseUntil <= at) return [];
  return [`Run ${runId} began while run ${holder.runId} held the thread.`];
}

function processOf(
  runId: string | undefined,
  processes: readonly ScheduledProcess[],
): ScheduledProcess | undefined {
  return processes.find(({ appended }) =>
    appended.some((event) => event.type === 'run-started' && event.runId === runId),
  );
}

function resultFaults(
  { step, index, outcome, source }: ThreadEventOf<'call-ended'>,
  starter: ScheduledProcess | undefined,
): string[] {
  if (outcome.status !== 'succeeded' || source !== undefined) return [];
  const { by } = outputSchema.parse(outcome.output);
  if (by === starter?.name) return [];
  return [`Call ${step}.${index} has the result of another attempt than its last.`];
}
