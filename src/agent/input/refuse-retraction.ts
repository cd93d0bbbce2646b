import { HoldpointError } from '../../errors.ts';
import { messageIdOf } from '../../thread/message-id.ts';
import type { ThreadState } from '../../thread/thread-state.ts';

/** Throws `not-allowed` unless the last message is one from the app that has no reply, and, where an id is given, has that id. */
export function refuseRetraction(
  { threadId, head, messages }: Readonly<ThreadState>,
  messageId: string | undefined,
): void {
  const last = messages.at(-1);
  const isMeant = messageId === undefined || (last && messageIdOf(last)) === messageId;
  if (head.unanswered.length > 0 && isMeant) return;
  const which = messageId === undefined ? 'The last message' : `Message ${messageId}`;
  throw new HoldpointError(
    'not-allowed',
    `${which} of thread ${threadId} can't be withdrawn: only the last message can be, while it has no reply. Send a new message instead.`,
  );
}
