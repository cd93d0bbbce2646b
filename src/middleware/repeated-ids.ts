import type { ModelMessage } from 'ai';
import { HoldpointError } from '../errors.ts';
import { partsOf } from '../thread/proposed-calls.ts';

type Messages = readonly ModelMessage[] | undefined;

/**
 * How many calls of an id a history shows as ended. Some providers begin their ids anew in every answer: a later call of an id
 * is a call of its own, while a history that is sent again shows the same number.
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

/** The calls that the steps of the AI SDK have run. */
export class StepCalls {
  readonly #idsOf = new WeakMap<readonly ModelMessage[], Set<string>>();

  /** Throws `not-allowed` for the second call of an id in one answer of the model: nobody could tell the two apart. */
  refuseRepeated(messages: Messages, toolCallId: string): void {
    /* No step of the AI SDK's is without messages: `execute` was called by hand. */
    if (messages === undefined || messages.length === 0) return;
    /* A history that shows the call itself is resumed, and that may be done again. */
    if (proposedCalls(messages, toolCallId) > endedCalls(messages, toolCallId)) return;
    /* The AI SDK makes one array for the calls of a step, and another one for each step. */
    const ids = this.#idsOf.get(messages) ?? new Set();
    if (ids.has(toolCallId)) {
      throw new HoldpointError(
        'not-allowed',
        `Call ${toolCallId} was not run: the model's answer has another call with the same id.`,
      );
    }
    this.#idsOf.set(messages, ids.add(toolCallId));
  }
}
