import type { ModelMessage } from 'ai';
import { omitOwnOptions } from '../../thread/app-messages.ts';
import { mendText } from '../../json/well-formed.ts';

/* Cached for the messages of a thread, which are frozen. An app may change its own between two steps. */
const sendable = new WeakMap<ModelMessage, ModelMessage>();

/**
 * Converts messages to a form that every provider accepts: without halves of surrogate pairs, which strict parsers of JSON refuse, without
 * the data that clients keep beside the content, and with an object for arguments of a model that are not JSON. The log keeps the
 * originals.
 */
export function makeSendable(messages: readonly ModelMessage[]): ModelMessage[] {
  const made: ModelMessage[] = [];
  for (const message of messages) {
    let known = sendable.get(message);
    if (known === undefined) {
      const hasMore = message.providerOptions?.['holdpoint'] !== undefined;
      known = mendText(replaceArguments(hasMore ? omitOwnOptions(message) : message));
      if (Object.isFrozen(message)) sendable.set(message, known);
    }
    made.push(known);
  }
  return made;
}

/** Replaces the arguments that the AI SDK could not parse, in the form in which it writes such a call. */
function replaceArguments(message: ModelMessage): ModelMessage {
  if (message.role !== 'assistant' || typeof message.content === 'string') return message;
  const content: typeof message.content = [];
  let isWrong = false;
  for (const part of message.content) {
    const isCall = part.type === 'tool-call' && typeof part.input !== 'object';
    isWrong ||= isCall;
    content.push(isCall ? { ...part, input: {} } : part);
  }
  return isWrong ? { ...message, content } : message;
}
