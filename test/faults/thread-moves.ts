import * as fc from 'fast-check';
import {
  type ApprovalRequestContent,
  type ApprovalResponseContent,
  HoldpointError,
  type SettledOutcome,
} from 'holdpoint';
import { messageIdsIn } from './audit-fleet.ts';
import { type FleetMove, fleetMoves, makeFleetMove } from './fleet-moves.ts';
import { acceptedFaults, refusedFaults, retakeFaults } from './move-oracle.ts';
import type { ScheduledProcess, ScheduledWorld } from './scheduled-world.ts';

/** Something a person or a worker does to a thread. `nth` counts, round and round, what there is to choose from. */
export type Move =
  | { type: 'answer'; nth: number; approved: boolean; edited: boolean; way: AnswerWay }
  | { type: 'message'; whilePending: 'refuse' | 'cancel' }
  | { type: 'settle'; givesUp: boolean }
  | { type: 'cancel' }
  | { type: 'resume' }
  | FleetMove;

type AnswerWay = 'run' | 'respond' | 'respond and resume';

/** A move that was made: what was answered, and how much its process had appended before its last step. */
export interface MadeMove {
  move: Move;
  process: ScheduledProcess;
  request?: ApprovalRequestContent | undefined;
  appendsBefore: number;
  /** How much it had appended before its first step. */
  appendsAtFirst: number;
  /** The messages that the log had before, and how many threads of this id had been deleted. */
  knownIds: readonly string[];
  deletions: number;
}

/** Moves; most are answers. */
export const moves: fc.Arbitrary<Move> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      type: fc.constant('answer'),
      nth: fc.nat(5),
      approved: fc.oneof({ weight: 3, arbitrary: fc.constant(true) }, fc.boolean()),
      edited: fc.oneof({ weight: 3, arbitrary: fc.constant(false) }, fc.boolean()),
      way: fc.constantFrom('run', 'respond', 'respond and resume'),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      type: fc.constant('message'),
      whilePending: fc.constantFrom('refuse', 'cancel'),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ type: fc.constant('settle'), givesUp: fc.boolean() }),
  },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('cancel') }) },
  { weight: 2, arbitrary: fc.record({ type: fc.constant('resume') }) },
  { weight: 6, arbitrary: fleetMoves },
);

/** Makes a move. Gives what it came to, a status or a code, and what was wrong with that. */
export async function makeMove(
  world: ScheduledWorld,
  process: ScheduledProcess,
  move: Move,
): Promise<{ end: string; faults: string[] }> {
  const request =
    move.type === 'answer' ? nthOf([...world.requests.values()], move.nth) : undefined;
  const made: MadeMove = {
    move,
    process,
    request,
    appendsBefore: process.appended.length,
    appendsAtFirst: process.appended.length,
    knownIds: messageIdsIn(await world.events()),
    deletions: world.records.deletions,
  };
  try {
    const { end, faults } = await perform(world, made);
    const all = [...faults, ...acceptedFaults(made), ...(await retakeFaults(world, made))];
    return { end, faults: end === 'nothing' ? [] : all };
  } catch (error) {
    const end = HoldpointError.isInstance(error) ? error.code : String(error);
    const faults = [
      ...(await refusedFaults(world, made, error)),
      ...(await retakeFaults(world, made)),
    ];
    if (end === 'thread-deleted') await world.open(process);
    return { end, faults };
  } finally {
    world.show(process.thread);
  }
}

async function perform(
  world: ScheduledWorld,
  made: MadeMove,
): Promise<{ end: string; faults: string[] }> {
  switch (made.move.type) {
    case 'look':
    case 'adopt':
    case 'resend':
    case 'due':
    case 'stop':
    case 'retract':
    case 'note':
    case 'delete':
    case 'clear':
      return makeFleetMove(world, made.process, made.move);
    default:
      return { end: await performOwn(world, made), faults: [] };
  }
}

/* What people have approved is taken back by a person. */
const somebody = { principal: 'ann' };

async function performOwn(world: ScheduledWorld, made: MadeMove): Promise<string> {
  const { agent, thread } = made.process;
  switch (made.move.type) {
    case 'answer':
      return made.request === undefined ? 'nothing' : makeAnswer(world, made, made.request);
    case 'message': {
      const { whilePending } = made.move;
      return (await agent.run('And more', thread, { whilePending, ...somebody })).status;
    }
    case 'settle': {
      const { status } = await agent.run([], thread);
      made.appendsBefore = made.process.appended.length;
      return status === 'indeterminate' ? settle(world, made.process, made.move.givesUp) : status;
    }
    case 'cancel':
      return (await agent.cancel(thread, undefined, somebody)).status;
    default:
      return (await agent.run([], thread)).status;
  }
}

async function makeAnswer(
  world: ScheduledWorld,
  { move, process }: MadeMove,
  request: ApprovalRequestContent,
): Promise<string> {
  if (move.type !== 'answer') return 'nothing';
  const end = await sendAnswer(process, request, move);
  if (!move.edited) world.acknowledged.push({ ...request, approved: move.approved });
  if (move.way !== 'respond and resume') return end;
  return (await process.agent.run([], process.thread)).status;
}

/** Answers a request, perhaps with a call that is not the one shown. Gives the status of the run, if it runs. */
export async function sendAnswer(
  { agent, thread }: ScheduledProcess,
  request: ApprovalRequestContent,
  answer: { approved: boolean; edited: boolean; way: AnswerWay },
): Promise<string> {
  const response = responseOf(request, answer);
  if (answer.way === 'run') return (await agent.run(response, thread)).status;
  await agent.respond(response, thread);
  return 'answered';
}

function responseOf(
  request: ApprovalRequestContent,
  { approved, edited }: { approved: boolean; edited: boolean },
): ApprovalResponseContent {
  const response = approved ? request.approve() : request.reject('too dear');
  const { toolCall } = response;
  if (!edited) return response;
  if (toolCall === undefined) return { ...response, digest: 'of something else' };
  return { ...response, toolCall: { ...toolCall, input: { city: 'Elsewhere' } } };
}

/** A word on a call of unknown outcome, after a look at what really happened. */
export async function settle(
  { effects }: ScheduledWorld,
  { agent, thread }: ScheduledProcess,
  givesUp: boolean,
): Promise<string> {
  const call = thread.calls.find(({ status }) => status === 'indeterminate');
  if (call === undefined) return 'nothing';
  const happened = effects.some(({ idempotencyKey }) => idempotencyKey === call.idempotencyKey);
  const otherwise: SettledOutcome = givesUp
    ? { status: 'failed', error: 'Nobody knows.' }
    : { status: 'retry' };
  await agent.settle(
    thread,
    call.toolCallId,
    happened ? { status: 'succeeded', output: 'It happened.' } : otherwise,
  );
  return 'settled';
}

function nthOf<ITEM>(items: readonly ITEM[], nth: number): ITEM | undefined {
  return items[nth % items.length];
}
