import { messageIdOf } from '../thread/message-id.ts';
import type { ThreadEvent, ThreadEventOf } from '../thread/thread-event.ts';
import type { ThreadState } from '../thread/thread-state.ts';

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
  const first = events.findIndex(
    (event) => isSaid(event) && messageIdOf(event.message) === messageId,
  );
  const said = events[first];
  if (said === undefined || !isSaid(said)) return undefined;
  const later = events.slice(first + 1);
  const last = later.findIndex(isSaid);
  const next = later[last];
  const isOver = next !== undefined && isSaid(next) && !head.queuedMessages.includes(next.message);
  const turn = isOver ? later.slice(0, last) : later;
  return {
    begin: messages.indexOf(said.message) + 1,
    end: isOver ? messages.indexOf(next.message) : messages.length,
    step: turn.findLast((event) => event.type === 'step-finished'),
    isOver,
  };
}

/** Whether an event is a message from the app, and not what an answer to a question says. */
function isSaid(event: ThreadEvent): event is ThreadEventOf<'message-added'> {
  return event.type === 'message-added' && event.place === undefined;
}
