import type { ModelMessage } from 'ai';
import { HoldpointError } from '../errors.ts';
import type { AgentThread } from './agent-thread.ts';
import { replayEvents } from './apply-events.ts';
import { listPreparedMessages, findStep } from './next-messages.ts';

/**
 * The messages that the model was sent for a step of a thread, derived from its log: the history as it was before the step, or those that
 * `prepareStep` chose. `step` is the number in the step's `step-finished`. Instructions are not among them. Throws `invalid-input` if the
 * thread has no such step.
 *
 * @example
 * const [lastStep] = thread.events.filter((event) => event.type === 'step-finished').toReversed();
 * console.log(sentMessages(thread, lastStep.step));
 */
export function sentMessages(
  thread: Pick<AgentThread, 'events' | 'messages'>,
  step: number,
): readonly ModelMessage[] {
  const { events, messages } = thread;
  const event = findStep({ events, messages }, step);
  if (event === undefined) {
    throw new HoldpointError('invalid-input', `The thread has no step ${step}; the first is 0.`);
  }
  const prepared = listPreparedMessages({ events, messages }, event);
  if (prepared !== undefined) return prepared.map(({ message }) => message);
  return replayEvents(events.slice(0, events.indexOf(event))).newlyPast.messages;
}
