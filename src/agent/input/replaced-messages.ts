import { HoldpointError } from '../../errors.ts';
import { isAppMessage, findRetractedMessages } from '../../thread/app-messages.ts';
import type { ThreadEvent, ThreadEventOf } from '../../thread/thread-event.ts';
import type { ThreadState } from '../../thread/thread-state.ts';
import type { ParsedInput } from './parse-input.ts';

type Edit = Pick<ParsedInput, 'replaces' | 'isSender'>;

/**
 * The messages that an edit takes back, oldest first: the one recorded at its `replaces`, and those after it. None if the message was
 * withdrawn before: then it is only said again.
 */
export function listReplacedMessages(
  { events }: Pick<ThreadState, 'events'>,
  { replaces }: Edit,
): readonly ThreadEventOf<'message-added'>[] {
  if (replaces === undefined) return [];
  const all = events.slice();
  const retracted = findRetractedMessages(all);
  const isKept = (event: ThreadEvent): event is ThreadEventOf<'message-added'> =>
    isAppMessage(event) && !retracted.has(event);
  const [first, ...later] = all.slice(replaces - 1);
  if (first === undefined || !isKept(first)) return [];
  return [first, ...later.filter(isKept)];
}

/** Throws `not-allowed` unless the sender of an edit wrote the message and all that the edit takes back, and none of it has a reply. */
export function refuseEdit(
  { threadId, head, events }: Readonly<ThreadState>,
  { replaces, isSender }: Edit,
  replaced: ReturnType<typeof listReplacedMessages>,
): void {
  if (replaces === undefined) return;
  const which = `Message ${replaces} of thread ${threadId} can't be edited`;
  const [edited, ...later] = events.slice(replaces - 1);
  const isOpen =
    replaced.length <= head.unanswered.length &&
    (replaced.length === 0 || later.every(({ type }) => type !== 'step-finished'));
  if (edited === undefined || !isAppMessage(edited) || !isOpen) {
    throw new HoldpointError(
      'not-allowed',
      `${which}: only a message without a reply can be. Send a new message instead.`,
    );
  }
  if ([edited, ...replaced].every(({ principal }) => isSender?.(principal) === true)) return;
  throw new HoldpointError(
    'not-allowed',
    `${which}: it, or a message after it, was sent by somebody else. Send a new message instead.`,
  );
}
