import type { AgUiMessage, AgUiToolCall } from './ag-ui-event.ts';
import type { CallResult, StepMessages } from './step-messages.ts';

/**
 * The calls that a client knows, by their ids: each is one call there, with one result. Providers name the calls that they run
 * themselves, and say one again in the step that brings its result.
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

  /** The calls of a step that are new; they are known from now on. */
  newCalls({ messageId, calls }: StepMessages): AgUiToolCall[] {
    return calls.filter(({ id }) => {
      const isNew = !this.#callers.has(id);
      if (isNew) this.#callers.set(id, messageId);
      return isNew;
    });
  }

  /** The results that are the first of a known call. */
  newResults(results: readonly CallResult[]): CallResult[] {
    return results.filter(({ toolCallId }) => {
      const isNew = this.#callers.has(toolCallId) && !this.#ended.has(toolCallId);
      if (isNew) this.#ended.add(toolCallId);
      return isNew;
    });
  }
}
