import type { ModelMessage } from 'ai';
import { mendText } from '../../json/well-formed.ts';

/* Of the messages of a thread, which are frozen. An app may change its own between two steps. */
const sendable = new WeakMap<ModelMessage, ModelMessage>();

/**
 * Messages as every provider takes them: without halves of surrogate pairs, which strict parsers of JSON refuse, and with an object where a
 * model wrote arguments that are no JSON. The log keeps what was.
 */
export function makeSendable(messages: readonly ModelMessage[]): ModelMessage[] {
  const made: ModelMessage[] = [];
  for (const message of messages) {
    const known = sendable.get(message) ?? mendText(replaceArguments(message));
    if (Object.isFrozen(message)) sendable.set(message, known);
    made.push(known);
  }
  return made;
}

/** As the AI SDK writes a call whose arguments it could not parse. */
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
