import type { ModelMessage } from 'ai';

/* Messages of a thread are frozen, and most need no copy. */
const sendable = new WeakMap<ModelMessage, ModelMessage>();

/**
 * Messages as every provider takes them: without halves of surrogate pairs, which strict parsers of JSON refuse, and with an object where a
 * model wrote arguments that are no JSON. The log keeps what was.
 */
export function makeSendable(messages: readonly ModelMessage[]): ModelMessage[] {
  const made: ModelMessage[] = [];
  for (const message of messages) {
    const known = sendable.get(message) ?? mendText(replaceArguments(message));
    sendable.set(message, known);
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

/** The value with well-formed text, also in its keys; the value itself if all its text is. */
export function mendText<VALUE>(value: VALUE): VALUE;
export function mendText(value: unknown): unknown {
  if (typeof value === 'string') return value.toWellFormed();
  if (typeof value !== 'object' || value === null) return value;
  const isList = Array.isArray(value);
  /* Bytes, URLs and the like have no text of their own. */
  if (!isList && Object.getPrototypeOf(value) !== Object.prototype) return value;
  const mended: [string, unknown][] = [];
  let isSame = true;
  for (const [key, item] of Object.entries<unknown>({ ...value })) {
    const newKey = key.toWellFormed();
    const newItem = mendText(item);
    isSame &&= newKey === key && newItem === item;
    mended.push([newKey, newItem]);
  }
  if (isSame) return value;
  return isList ? mended.map(([, item]) => item) : Object.fromEntries(mended);
}
