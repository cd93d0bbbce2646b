import {
  type ApprovalRequestContent,
  HoldpointError,
  type HoldpointErrorCode,
  type ThreadEvent,
} from 'holdpoint';
import type { ScheduledWorld } from './scheduled-world.ts';
import type { MadeMove, Move } from './thread-moves.ts';

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
  if (!HoldpointError.isInstance(error)) return [`The move '${move.type}' threw ${String(error)}.`];
  const { code } = error;
  const written = process.appended.slice(appendsBefore).filter(({ type }) => !belated.has(type));
  const faults = written.map(
    ({ type }) => `The move '${move.type}' was refused (${code}), after ${type}.`,
  );
  if (!legalCodes(move).has(code)) faults.push(`The move '${move.type}' was refused with ${code}.`);
  else if (!isExplained(code, made, await world.events(), world.latest)) {
    faults.push(`The move '${move.type}' was refused with ${code}, and nothing explains it.`);
  }
  return faults;
}

function legalCodes(move: Move): ReadonlySet<HoldpointErrorCode> {
  switch (move.type) {
    case 'answer':
      return new Set([
        'already-answered',
        'request-closed',
        ...(move.edited ? (['answer-mismatch'] as const) : []),
      ]);
    case 'message':
      return new Set([
        'thread-busy',
        'thread-indeterminate',
        ...(move.whilePending === 'refuse' ? (['requests-open'] as const) : []),
      ]);
    case 'settle':
      return new Set(['already-answered', 'not-allowed']);
    case 'cancel':
    case 'resume':
      return new Set();
  }
}

/** Whether the log has what a refused answer was too late for. */
function isExplained(
  code: HoldpointErrorCode,
  { move, request }: MadeMove,
  events: readonly ThreadEvent[],
  latest: number,
): boolean {
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
