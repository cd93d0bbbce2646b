import type { AgUiMessage, AgUiToolCall } from './ag-ui-event.ts';
import type { CallResult, StepMessages } from './step-messages.ts';

/**
 * The calls that a client has, by their ids: each once, with one result. A provider repeats a call that it runs itself in the step that
 * has its result.
 */
export class KnownCalls {
  /** The message that made the call. */
  readonly #callers = new Map<string, string>();
  readonly #ended = new Set<string>();

  constructor(messages: readonly AgUiMessage[] = []) {
    for (const message of messages) {
      if (message.role === 'tool') this.#ended.add(message.toolCallId);
      if (message.role !== 'assistant') continue;
      for (const { id } of message.toolCalls ?? []) this.#callers.set(id, message.id);
    }
  }

  /** The message that made a call. */
  callerOf(toolCallId: string): string | undefined {
    return this.#callers.get(toolCallId);
  }

  /** The new calls of a step; adds them to the known ones. */
  newCalls({ messageId, calls }: StepMessages): AgUiToolCall[] {
    return calls.filter(({ id }) => {
      const isNew = !this.#callers.has(id);
      if (isNew) this.#callers.set(id, messageId);
      return isNew;
    });
  }

  /** The results that are the first of their call; adds them to the known ones. */
  newResults(results: readonly CallResult[]): CallResult[] {
    return results.filter(({ toolCallId }) => {
      const isNew = this.#callers.has(toolCallId) && !this.#ended.has(toolCallId);
      if (isNew) this.#ended.add(toolCallId);
      return isNew;
    });
  }
}
