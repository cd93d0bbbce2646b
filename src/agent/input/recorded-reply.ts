import { turnOfMessage } from '../../thread/message-turn.ts';
import type { ThreadEventOf } from '../../thread/thread-event.ts';
import type { ThreadState } from '../../thread/thread-state.ts';

/** The part of a thread's messages that replies to one of them. */
export interface RecordedReply {
  begin: number;
  end: number;
  /** The last step that the model took for it. */
  step: ThreadEventOf<'step-finished'> | undefined;
  /** Whether another message from the app has come since, so that no run adds to the reply any more. */
  isOver: boolean;
}

/** The reply to the message of an id; `undefined` for a message that the thread does not have. */
export function recordedReply(
  { events, messages, head }: Readonly<ThreadState>,
  messageId: string,
): RecordedReply | undefined {
  const turn = turnOfMessage(events, messageId);
  if (turn === undefined) return undefined;
  const { message, next } = turn;
  const isOver = next !== undefined && !head.queuedMessages.includes(next);
  return {
    begin: messages.indexOf(message) + 1,
    end: isOver ? messages.indexOf(next) : messages.length,
    step: turn.events.findLast((event) => event.type === 'step-finished'),
    isOver,
  };
}
