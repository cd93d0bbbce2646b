import type { ThreadEvent } from './thread-event.ts';

/**
 * Whether the message at an index is what an answer says to the model, which no user wrote: it comes right after the end of the call
 * that asked.
 */
export function saysAnswer(events: readonly ThreadEvent[], index: number): boolean {
  const answered = events[index - 2];
  return (
    events[index]?.type === 'message-added' &&
    events[index - 1]?.type === 'call-ended' &&
    answered?.type === 'request-answered' &&
    answered.response.type === 'question-response'
  );
}
