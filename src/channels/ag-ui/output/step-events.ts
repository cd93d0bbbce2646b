import type { ModelDelta } from '../../../agent/model/streaming-model.ts';
import { addDelta, type StreamedText } from '../../../thread/streamed-text.ts';
import type { AgUiEvent } from './ag-ui-event.ts';
import { reasoningId, type StepMessages, type StepText } from './step-messages.ts';

/** A text that is streamed before its step is recorded. */
interface OpenText extends StepText, StreamedText {
  isOpen: boolean;
}

/**
 * The events of one step: its texts while the model streams them, and its calls once they are recorded, with the stored input. Calls are
 * not streamed, because AG-UI can't take a call back and clients act on it.
 */
export class StepEvents {
  readonly #messageId: string;
  readonly #sendReasoning: boolean;
  /** By the id that the provider gave the block; all text is one message. */
  readonly #blocks = new Map<string, OpenText>();
  readonly #streamed: OpenText[] = [];

  constructor(messageId: string, sendReasoning: boolean) {
    this.#messageId = messageId;
    this.#sendReasoning = sendReasoning;
  }

  /** The events for a delta of the model. */
  ofDelta(delta: ModelDelta): AgUiEvent[] {
    switch (delta.type) {
      case 'text-delta':
        return this.#add('text', 'text', delta.text);
      case 'reasoning-delta':
        return this.#sendReasoning
          ? this.#add('reasoning', `reasoning ${delta.id}`, delta.text)
          : [];
      case 'reasoning-end':
        return this.#end(`reasoning ${delta.id}`);
      case 'text-start':
      case 'text-end':
      case 'reasoning-start':
      case 'source':
      case 'tool-input-start':
      case 'tool-input-delta':
      case 'tool-input-end':
        return [];
    }
  }

  /** The step is recorded: emits what is missing of it. `isConfirmed: false`: the streamed texts differ from the recorded ones. */
  finish({ texts, calls, messageId: parentMessageId }: StepMessages): {
    events: AgUiEvent[];
    isConfirmed: boolean;
  } {
    const streamed = new Map(this.#streamed.map((text) => [text.messageId, text]));
    const isConfirmed =
      this.#streamed.every(({ messageId }) => texts.some((text) => text.messageId === messageId)) &&
      texts.every(({ messageId, text }) => text.startsWith(streamed.get(messageId)?.text ?? ''));
    const rest = isConfirmed
      ? texts.flatMap((text) => missing(text, streamed.get(text.messageId)))
      : [];
    const called = calls.flatMap(
      ({ id: toolCallId, function: { name, arguments: delta } }): AgUiEvent[] => [
        { type: 'TOOL_CALL_START', toolCallId, toolCallName: name, parentMessageId },
        { type: 'TOOL_CALL_ARGS', toolCallId, delta },
        { type: 'TOOL_CALL_END', toolCallId },
      ],
    );
    return { events: [...rest, ...this.close(), ...called], isConfirmed };
  }

  /** Ends the texts that are open. */
  close(): AgUiEvent[] {
    return this.#streamed.flatMap(closing);
  }

  #add(type: StepText['type'], key: string, text: string): AgUiEvent[] {
    const block = this.#blocks.get(key) ?? newText(type);
    this.#blocks.set(key, block);
    const delta = addDelta(block, text);
    if (delta === undefined) return [];
    if (block.isOpen) return [content(block, delta)];
    block.messageId = this.#idOf(type);
    this.#streamed.push(block);
    return [...opening(block), content(block, delta)];
  }

  #end(key: string): AgUiEvent[] {
    const block = this.#blocks.get(key);
    this.#blocks.delete(key);
    return block === undefined ? [] : closing(block);
  }

  #idOf(type: StepText['type']): string {
    if (type === 'text') return this.#messageId;
    const thoughts = this.#streamed.filter((text) => text.type === 'reasoning');
    return reasoningId(this.#messageId, thoughts.length);
  }
}

/** The events of a complete text. */
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

function newText(type: StepText['type']): OpenText {
  return { type, messageId: '', text: '', isShown: false, isOpen: false };
}

function missing(recorded: StepText, streamed: OpenText | undefined): AgUiEvent[] {
  if (streamed?.isOpen === true) {
    const rest = recorded.text.slice(streamed.text.length);
    return [...(rest === '' ? [] : [content(streamed, rest)]), ...closing(streamed)];
  }
  if (streamed !== undefined && streamed.text === recorded.text) return [];
  const text = recorded.text.slice(streamed?.text.length ?? 0);
  const rest = { ...recorded, text, isShown: true, isOpen: false };
  return [...opening(rest), content(rest, text), ...closing(rest)];
}

function opening(text: OpenText): AgUiEvent[] {
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

function closing(text: OpenText): AgUiEvent[] {
  if (!text.isOpen) return [];
  text.isOpen = false;
  const { messageId } = text;
  if (text.type === 'text') return [{ type: 'TEXT_MESSAGE_END', messageId }];
  return [
    { type: 'REASONING_MESSAGE_END', messageId },
    { type: 'REASONING_END', messageId },
  ];
}
