import type { ModelMessage } from 'ai';
import { HoldpointError } from '../errors.ts';
import { partsOf } from '../thread/proposed-calls.ts';

type Messages = readonly ModelMessage[] | undefined;

/**
 * How many calls with this id have a result in the history. Some providers restart their ids in every response: a later call with the
 * same id is a different call and has a higher count; the same history sent again has the same count.
 */
export function endedCalls(messages: Messages, toolCallId: string): number {
  return (messages ?? [])
    .filter((message) => message.role === 'tool')
    .flatMap(({ content }) => content)
    .filter((part) => part.type === 'tool-result' && part.toolCallId === toolCallId).length;
}

function proposedCalls(messages: Messages, toolCallId: string): number {
  return (messages ?? [])
    .filter((message) => message.role === 'assistant')
    .flatMap((message) => partsOf(message))
    .filter((part) => part.type === 'tool-call' && part.toolCallId === toolCallId).length;
}

/** The ids of the calls that each step of the AI SDK has run. */
export class StepCalls {
  readonly #idsOf = new WeakMap<readonly ModelMessage[], Set<string>>();

  /** Throws `not-allowed` for the second call with the same id in one response: the two can't be distinguished. */
  refuseRepeated(messages: Messages, toolCallId: string): void {
    /* Every step of the AI SDK has messages: here `execute` was called directly. */
    if (messages === undefined || messages.length === 0) return;
    /* The history contains the call itself: it is resumed, which may happen more than once. */
    if (proposedCalls(messages, toolCallId) > endedCalls(messages, toolCallId)) return;
    /* The AI SDK passes the same array to all calls of a step, and a new array to each step. */
    const ids = this.#idsOf.get(messages) ?? new Set();
    if (ids.has(toolCallId)) {
      throw new HoldpointError(
        'not-allowed',
        `Call ${toolCallId} was not run: the model's response has another call with the same id.`,
      );
    }
    this.#idsOf.set(messages, ids.add(toolCallId));
  }
}
