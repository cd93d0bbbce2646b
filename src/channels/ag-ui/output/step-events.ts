import type { ModelDelta } from '../../../agent/model/streaming-model.ts';
import type { AgUiEvent } from './ag-ui-event.ts';
import { reasoningId, type StepMessages, type StepText } from './step-messages.ts';

interface StreamedText extends StepText {
  isOpen: boolean;
}

/**
 * Tells one model step: its texts while the model says them, and its calls once they are recorded, with the input that is stored. A
 * call that is told can't be taken back in AG-UI, and clients act on it.
 */
export class StepEvents {
  readonly #messageId: string;
  readonly #sendReasoning: boolean;
  /** By the id that the model's provider gave the block; all text is one message. */
  readonly #blocks = new Map<string, StreamedText>();
  readonly #streamed: StreamedText[] = [];

  constructor(messageId: string, sendReasoning: boolean) {
    this.#messageId = messageId;
    this.#sendReasoning = sendReasoning;
  }

  /** What a piece of the model's answer shows. */
  hear(delta: ModelDelta): AgUiEvent[] {
    switch (delta.type) {
      case 'text-delta':
        return this.#add('text', 'text', delta.text);
      case 'reasoning-delta':
        return this.#sendReasoning
          ? this.#add('reasoning', `reasoning ${delta.id}`, delta.text)
          : [];
      case 'reasoning-end':
        return this.#end(`reasoning ${delta.id}`);
      default:
        return [];
    }
  }

  /** The step is recorded: what is missing of it. With `isSo: false`, other texts were told than were recorded. */
  finish({ texts, calls, messageId: parentMessageId }: StepMessages): {
    events: AgUiEvent[];
    isConfirmed: boolean;
  } {
    const told = new Map(this.#streamed.map((text) => [text.messageId, text]));
    const isConfirmed =
      this.#streamed.every(({ messageId }) => texts.some((text) => text.messageId === messageId)) &&
      texts.every(({ messageId, text }) => text.startsWith(told.get(messageId)?.text ?? ''));
    const rest = isConfirmed
      ? texts.flatMap((text) => missing(text, told.get(text.messageId)))
      : [];
    const called = calls.flatMap(
      ({ id: toolCallId, function: { name, arguments: delta } }): AgUiEvent[] => [
        { type: 'TOOL_CALL_START', toolCallId, toolCallName: name, parentMessageId },
        { type: 'TOOL_CALL_ARGS', toolCallId, delta },
        { type: 'TOOL_CALL_END', toolCallId },
      ],
    );
    return { events: [...rest, ...this.halt(), ...called], isConfirmed };
  }

  /** Ends what was begun. */
  halt(): AgUiEvent[] {
    return this.#streamed.flatMap(close);
  }

  /* A message is begun when it says something: what stays blank is not recorded, or shows nothing. */
  #add(type: StepText['type'], key: string, delta: string): AgUiEvent[] {
    const block = this.#blocks.get(key) ?? { type, messageId: '', text: '', isOpen: false };
    this.#blocks.set(key, block);
    block.text += delta;
    if (block.isOpen) return [content(block, delta)];
    if (block.text.trim() === '') return [];
    block.messageId = this.#idOf(type);
    this.#streamed.push(block);
    return [...open(block), content(block, block.text)];
  }

  #end(key: string): AgUiEvent[] {
    const block = this.#blocks.get(key);
    this.#blocks.delete(key);
    return block === undefined ? [] : close(block);
  }

  #idOf(type: StepText['type']): string {
    if (type === 'text') return this.#messageId;
    const thoughts = this.#streamed.filter((text) => text.type === 'reasoning');
    return reasoningId(this.#messageId, thoughts.length);
  }
}

/** A whole text. */
export function textEvents(
  messageId: string,
  role: 'assistant' | 'user',
  text: string,
): AgUiEvent[] {
  return [
    { type: 'TEXT_MESSAGE_START', messageId, role },
    { type: 'TEXT_MESSAGE_CONTENT', messageId, delta: text },
    { type: 'TEXT_MESSAGE_END', messageId },
  ];
}

function missing(recorded: StepText, told: StreamedText | undefined): AgUiEvent[] {
  if (told?.isOpen === true) {
    const rest = recorded.text.slice(told.text.length);
    return [...(rest === '' ? [] : [content(told, rest)]), ...close(told)];
  }
  if (told !== undefined && told.text === recorded.text) return [];
  const rest = { ...recorded, isOpen: false, text: recorded.text.slice(told?.text.length ?? 0) };
  return [...open(rest), content(rest, rest.text), ...close(rest)];
}

function open(text: StreamedText): AgUiEvent[] {
  text.isOpen = true;
  const { messageId } = text;
  if (text.type === 'text') return [{ type: 'TEXT_MESSAGE_START', messageId, role: 'assistant' }];
  return [
    { type: 'REASONING_START', messageId },
    { type: 'REASONING_MESSAGE_START', messageId, role: 'reasoning' },
  ];
}

function content({ type, messageId }: StepText, delta: string): AgUiEvent {
  return type === 'text'
    ? { type: 'TEXT_MESSAGE_CONTENT', messageId, delta }
    : { type: 'REASONING_MESSAGE_CONTENT', messageId, delta };
}

function close(text: StreamedText): AgUiEvent[] {
  if (!text.isOpen) return [];
  text.isOpen = false;
  const { messageId } = text;
  if (text.type === 'text') return [{ type: 'TEXT_MESSAGE_END', messageId }];
  return [
    { type: 'REASONING_MESSAGE_END', messageId },
    { type: 'REASONING_END', messageId },
  ];
}
