import {
  type ApprovalRequestContent,
  HoldpointError,
  type HoldpointErrorCode,
  type ThreadEvent,
} from 'holdpoint';
import { ProviderDown } from './mortal-world.ts';
import type { ScheduledWorld } from './scheduled-world.ts';
import type { MadeMove } from './thread-moves.ts';

/*
 * What may be recorded when a move is refused: results, leases, and that a run is gone with the calls that it had started; never
 * input.
 */
const belated: ReadonlySet<ThreadEvent['type']> = new Set([
  'call-ended',
  'call-lost',
  'late-result',
  'run-renewed',
  'run-ended',
]);

/** What was wrong with a move that was taken. */
export function acceptedFaults({ move, request }: MadeMove): string[] {
  if (move.type !== 'answer' || !move.edited || request === undefined) return [];
  return ['An answer that changes the call was taken.'];
}

/** What was wrong with a move that was refused: its code, that nothing explains it, or that it changed something. */
export async function refusedFaults(
  world: ScheduledWorld,
  made: MadeMove,
  error: unknown,
): Promise<string[]> {
  const { move, process, appendsBefore } = made;
  if (error instanceof ProviderDown) return [];
  if (!HoldpointError.isInstance(error)) return [`The move '${move.type}' threw ${String(error)}.`];
  const { code } = error;
  /* Of a run whose thread was adopted or deleted under it, the input was taken, and the rest was not. */
  const isEvicted = code === 'wrong-agent' || code === 'thread-deleted';
  const written = process.appended.slice(appendsBefore).filter((event) => !belated.has(event.type));
  const faults = (isEvicted ? [] : written).map(
    ({ type }) => `The move '${move.type}' was refused (${code}), after ${type}.`,
  );
  const log = [...process.thread.events, ...(await world.events())];
  if (!legalCodes(world, made).has(code))
    faults.push(`The move '${move.type}' was refused with ${code}.`);
  else if (!isExplained(code, made, log, world.latest) && made.deletions === deletionsOf(world)) {
    faults.push(`The move '${move.type}' was refused with ${code}, and nothing explains it.`);
  }
  return faults;
}

/** A move is one run at most. One that has stalled takes the thread again, unless another run has begun since. */
export async function retakeFaults(
  world: ScheduledWorld,
  { process, appendsAtFirst }: MadeMove,
): Promise<string[]> {
  const own = process.appended
    .slice(appendsAtFirst)
    .flatMap((event) => (event.type === 'run-started' ? event.runId : []));
  const all = (await world.events()).flatMap((event) =>
    event.type === 'run-started' ? event.runId : [],
  );
  const places = own.map((runId) => all.indexOf(runId)).filter((place) => place >= 0);
  const [first = 0] = places;
  const isInTurn = places.every((place, nth) => place === first + nth);
  return isInTurn ? [] : ['The thread was taken over by another, and a run took it again.'];
}

function deletionsOf({ records }: ScheduledWorld): number {
  return records.deletions;
}

function legalCodes(world: ScheduledWorld, made: MadeMove): ReadonlySet<HoldpointErrorCode> {
  const codes = new Set([...ownCodes(made), 'wrong-agent' as const]);
  if (deletionsOf(world) === 0) return codes;
  const { type } = made.move;
  return new Set([
    ...codes,
    'thread-deleted' as const,
    ...(type === 'answer' || type === 'settle' ? (['not-found'] as const) : []),
  ]);
}

/** The codes that a move may be refused with by the agent whose thread it is, while there is a thread. */
function ownCodes({ move, knownIds }: MadeMove): readonly HoldpointErrorCode[] {
  switch (move.type) {
    case 'answer':
      return [
        'already-answered',
        'request-closed',
        ...(move.edited ? (['answer-mismatch'] as const) : []),
      ];
    case 'resend':
      /* A message that is in the log is no news, and never refused. */
      return knownIds.includes(move.messageId)
        ? []
        : ['thread-busy', 'thread-indeterminate', 'requests-open'];
    case 'message':
      return [
        'thread-busy',
        'thread-indeterminate',
        ...(move.whilePending === 'refuse' ? (['requests-open'] as const) : []),
      ];
    case 'settle':
      return ['already-answered', 'not-allowed'];
    case 'adopt':
    case 'delete':
      return ['thread-busy'];
    case 'retract':
      return ['thread-busy', 'not-allowed'];
    case 'cancel':
    case 'stop':
    case 'due':
    case 'look':
    case 'clear':
    case 'note':
    case 'resume':
      return [];
  }
}

/** Whether the log has what a move came too late for. */
function isExplained(
  code: HoldpointErrorCode,
  { move, request, process }: MadeMove,
  events: readonly ThreadEvent[],
  latest: number,
): boolean {
  if (code === 'wrong-agent') return events.some((event) => isForeign(event, process.owner));
  if (move.type !== 'answer' || request === undefined) return true;
  const { requestId, expiresAt = Infinity } = request;
  switch (code) {
    case 'request-closed':
      return expiresAt <= latest || events.some((event) => isClosing(event, requestId));
    case 'already-answered':
      return events.some((event) => isAnswer(event, request, !move.approved));
    default:
      return true;
  }
}

function isForeign(event: ThreadEvent, owner: string): boolean {
  const isNaming = event.type === 'thread-created' || event.type === 'agent-changed';
  return isNaming && event.agent !== owner;
}

function isClosing(event: ThreadEvent, requestId: string): boolean {
  return event.type === 'request-closed' && event.requestId === requestId;
}

function isAnswer(
  event: ThreadEvent,
  { requestId }: ApprovalRequestContent,
  approved?: boolean,
): boolean {
  if (event.type !== 'request-answered') return false;
  const { response } = event;
  if (response.type !== 'approval-response' || response.requestId !== requestId) return false;
  return approved === undefined || response.approved === approved;
}
