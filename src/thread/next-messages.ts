import type { ModelMessage } from 'ai';
import type { EventSearch } from './thread-state.ts';
import type { SentPart } from './prepared-record.ts';
import type { ThreadEventOf } from './thread-event.ts';

/** A message that a step sent, and where it is recorded. */
export interface SentMessage {
  message: ModelMessage;
  part: SentPart;
}

/** The part of a thread that is needed to derive what was sent. */
interface Log {
  readonly events: EventSearch;
  readonly messages: readonly ModelMessage[];
}

/** The messages that the next step sends by default: those that the previous step sent, and what was added to the thread since. */
export function listNextMessages(log: Log): SentMessage[] {
  const last = log.events.findLast((event) => event.type === 'step-finished');
  const kept = last && listPreparedMessages(log, last);
  const history = listHistory(log);
  return kept ? [...kept, ...history.slice(last?.prepared?.messageCount)] : history;
}

/** The messages that a step sent, if they were prepared. */
export function listPreparedMessages(
  log: Log,
  { step, prepared }: ThreadEventOf<'step-finished'>,
): SentMessage[] | undefined {
  const history = listHistory(log);
  return prepared?.messages?.flatMap((part, index) => {
    if ('from' in part) return history.slice(part.from, part.to);
    if ('message' in part) return [{ message: part.message, part: { step, index } }];
    const origin = findStep(log, part.step)?.prepared?.messages?.[part.index];
    return origin && 'message' in origin ? [{ message: origin.message, part }] : [];
  });
}

/** The messages of the thread. */
export function listHistory({ messages }: Pick<Log, 'messages'>): SentMessage[] {
  return messages.map((message, from) => ({ message, part: { from, to: from + 1 } }));
}

/** The event of a step. */
export function findStep(
  { events }: Log,
  step: number,
): ThreadEventOf<'step-finished'> | undefined {
  return events.findLast(
    (event): event is ThreadEventOf<'step-finished'> =>
      event.type === 'step-finished' && event.step === step,
  );
}
