import type { ModelMessage } from 'ai';

/* Messages of a thread are frozen, and most need no copy. */
const sendable = new WeakMap<ModelMessage, ModelMessage>();

/**
 * Messages as every provider takes them: without halves of surrogate pairs, which strict parsers of JSON refuse, and with an object where a
 * model wrote arguments that are no JSON. The log keeps what was.
 */
export function makeSendable(messages: readonly ModelMessage[]): ModelMessage[] {
  return messages.map((message) => {
    const known = sendable.get(message) ?? mendText(replaceArguments(message));
    sendable.set(message, known);
    return known;
  });
}

/** As the AI SDK writes a call whose arguments it could not parse. */
function replaceArguments(message: ModelMessage): ModelMessage {
  if (message.role !== 'assistant' || typeof message.content === 'string') return message;
  const isWrong = (part: (typeof message.content)[number]): boolean =>
    part.type === 'tool-call' && typeof part.input !== 'object';
  if (!message.content.some(isWrong)) return message;
  const content = message.content.map((part) =>
    part.type === 'tool-call' && isWrong(part) ? { ...part, input: {} } : part,
  );
  return { ...message, content };
}

/** The value with well-formed text, also in its keys; the value itself if all its text is. */
export function mendText<VALUE>(value: VALUE): VALUE;
export function mendText(value: unknown): unknown {
  if (typeof value === 'string') return value.toWellFormed();
  if (Array.isArray(value)) {
    const items = value.map((item: unknown) => mendText(item));
    return items.every((item, index) => item === value[index]) ? value : items;
  }
  if (!isPlainObject(value)) return value;
  const entries = Object.entries(value);
  const mended = entries.map(([key, item]) => [key.toWellFormed(), mendText(item)] as const);
  const isSame = mended.every(([key, item], index) => {
    const [oldKey, oldItem] = entries[index] ?? [];
    return key === oldKey && item === oldItem;
  });
  return isSame ? value : Object.fromEntries(mended);
}

/* Bytes, URLs and the like have no text of their own. */
function isPlainObject(value: unknown): value is object {
  return (
    typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype
  );
}
