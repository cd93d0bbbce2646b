import * as fc from 'fast-check';
import type { ThreadEvent } from 'holdpoint';
import { deleteThreads } from 'holdpoint/worker';
import { noteCaller } from '../../src/agent/agent-door.ts';
import type { ScheduledProcess, ScheduledWorld } from './scheduled-world.ts';

/** What whoever shares a store with others does to a thread: a bystander, another agent, a queue, a scheduler, an operator, a gate. */
export type FleetMove =
  | { type: 'look' }
  | { type: 'adopt' }
  | { type: 'resend'; messageId: string }
  | { type: 'due' }
  | { type: 'stop' }
  | { type: 'retract' }
  | { type: 'note'; state: CallerState }
  | { type: 'delete' }
  | { type: 'clear'; status: 'idle' | 'waiting' | 'due' | 'indeterminate' | 'stuck' };

type CallerState = 'waiting' | 'pending' | 'left' | 'informed';

/** Moves of a fleet; few delete. */
export const fleetMoves: fc.Arbitrary<FleetMove> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ type: fc.constant('look') }) },
  { weight: 2, arbitrary: fc.record({ type: fc.constant('adopt') }) },
  { weight: 4, arbitrary: fc.record({ type: fc.constant('due') }) },
  {
    weight: 3,
    arbitrary: fc.record({
      type: fc.constant('resend'),
      messageId: fc.constantFrom('m0', 'm1'),
    }),
  },
  { weight: 2, arbitrary: fc.record({ type: fc.constant('stop') }) },
  { weight: 2, arbitrary: fc.record({ type: fc.constant('retract') }) },
  {
    weight: 2,
    arbitrary: fc.record({
      type: fc.constant('note'),
      state: fc.constantFrom('waiting', 'pending', 'left', 'informed'),
    }),
  },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('delete') }) },
  {
    weight: 1,
    arbitrary: fc.record({
      type: fc.constant('clear'),
      status: fc.constantFrom('idle', 'waiting', 'due', 'indeterminate', 'stuck'),
    }),
  },
);

/** Makes a move; gives what it came to, and what was wrong with that. */
export async function makeFleetMove(
  world: ScheduledWorld,
  process: ScheduledProcess,
  move: FleetMove,
): Promise<{ end: string; faults: string[] }> {
  const { agent, thread } = process;
  switch (move.type) {
    case 'look':
      return look(world, process);
    case 'adopt':
      await agent.adopt(thread);
      return { end: 'adopted', faults: [] };
    case 'resend': {
      const { messageId } = move;
      const { status } = await agent.run('Book it', thread, { messageId });
      return { end: status, faults: [] };
    }
    case 'due':
      return runWhenDue(world, process);
    case 'stop':
      return { end: await stop(process), faults: [] };
    case 'retract':
      await agent.retract(thread);
      return { end: 'retracted', faults: [] };
    case 'note': {
      const { state } = move;
      const until = state === 'waiting' ? { until: world.latest + 1_000 } : {};
      await noteCaller(agent, thread, () => ({ callerId: 'client', state, ...until }));
      return { end: thread.caller?.state ?? 'nobody', faults: [] };
    }
    case 'delete':
      await agent.delete(thread);
      await world.open(process);
      return { end: 'deleted', faults: [] };
    case 'clear': {
      const { status } = move;
      const updatedBefore = Number.MAX_SAFE_INTEGER;
      const options = { agent: process.owner, status, updatedBefore };
      const { deleted } = await deleteThreads(process.store, options);
      if (deleted > 0) await world.open(process);
      return { end: deleted > 0 ? 'cleared' : 'kept', faults: [] };
    }
  }
}

/** Asks the run to end; whether it does, and when, is up to the others. */
async function stop({ agent, thread }: ScheduledProcess): Promise<string> {
  const recorded = Promise.withResolvers<void>();
  const stopListening = agent.on('stop-requested', () => recorded.resolve());
  await Promise.race([agent.stop(thread), recorded.promise]);
  stopListening();
  return 'stopped';
}

/** Whoever opens a thread of theirs whose run is gone leaves no call in it that is neither running nor lost. */
async function look(
  world: ScheduledWorld,
  process: ScheduledProcess,
): Promise<{ end: string; faults: string[] }> {
  const now = world.time + process.skewMs;
  const { setbacks } = world;
  const { deletions } = world.records;
  await world.open(process);
  const { events, agent, status } = process.thread;
  const { leaseUntil, started } = lastRun(events);
  const isSilent = started.size > 0 && leaseUntil <= now && agent === process.owner;
  /* Of a thread that is gone, or a clock that went back meanwhile, nothing is known. */
  const isKnown = setbacks === world.setbacks && deletions === world.records.deletions;
  const faults = isSilent && isKnown ? ['A lost call is not in the log.'] : [];
  return { end: status, faults };
}

/** Until when the last run holds the thread, and the calls that it has started and not ended. */
function lastRun(events: readonly ThreadEvent[]): { leaseUntil: number; started: Set<string> } {
  const started = new Set<string>();
  let leaseUntil = Infinity;
  for (const event of events) {
    if (event.type === 'run-started' || event.type === 'run-renewed') ({ leaseUntil } = event);
    else if (event.type === 'call-started') started.add(`${event.step}.${event.index}`);
    else if (
      event.type === 'call-ended' ||
      event.type === 'call-lost' ||
      event.type === 'call-deferred' ||
      event.type === 'call-abandoned'
    )
      started.delete(`${event.step}.${event.index}`);
  }
  return { leaseUntil, started };
}

/** A scheduler's run begins at the time in the log, and not before, whoever else was woken. */
async function runWhenDue(
  world: ScheduledWorld,
  { agent, thread, appended }: ScheduledProcess,
): Promise<{ end: string; faults: string[] }> {
  const before = appended.length;
  const early = async (): Promise<string[]> => {
    const begun = appended.slice(before).find(({ type }) => type === 'run-started');
    const events = await world.events();
    const at = events.findIndex(
      (event) =>
        event.type === 'run-started' && begun?.type === event.type && event.runId === begun.runId,
    );
    const last = events.slice(0, Math.max(0, at)).findLast(({ type }) => type !== 'call-lost');
    if (last?.type !== 'run-ended' || last.error === undefined || last.aborted === true) return [];
    const isEarly = (last.retryAt ?? Infinity) > world.latest;
    return isEarly ? ['A run began before the time in the log.'] : [];
  };
  try {
    const { status } = await agent.run([], thread, { onlyWhenDue: true });
    return { end: status, faults: await early() };
  } catch (error) {
    const faults = await early();
    if (faults.length > 0) return { end: 'early', faults };
    throw error;
  }
}
