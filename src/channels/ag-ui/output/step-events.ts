import type { ModelDelta } from '../../../agent/model.ts';
import { StreamedStep, type StreamedText } from '../../../view/streamed-step.ts';
import type { AgUiEvent } from './ag-ui-event.ts';
import { reasoningId, type StepMessages, type StepText } from './step-messages.ts';

/**
 * The events of one step: its texts while the model streams them, and its calls once they are recorded, with the stored input. Calls are
 * not streamed, because AG-UI can't take a call back and clients act on it.
 */
export class StepEvents {
  readonly #sendReasoning: boolean;
  readonly #streamed: StreamedStep;

  constructor(messageId: string, sendReasoning: boolean) {
    this.#sendReasoning = sendReasoning;
    this.#streamed = new StreamedStep((type, before) =>
      type === 'text'
        ? messageId
        : reasoningId(messageId, before.filter((part) => part.type === 'reasoning').length),
    );
  }

  /** The events for a delta of the model. */
  ofDelta(delta: ModelDelta): AgUiEvent[] {
    switch (delta.type) {
      case 'text-delta':
        /* All text of a step is one message. */
        return this.#addText('text', '', delta.text);
      case 'reasoning-delta':
        return this.#sendReasoning ? this.#addText('reasoning', delta.id, delta.text) : [];
      case 'reasoning-end': {
        const ended = this.#streamed.endText('reasoning', delta.id);
        return ended === undefined ? [] : closing(ended);
      }
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
    const streamed = new Map(this.#streamed.texts.map((text) => [text.id, text]));
    const isConfirmed =
      this.#streamed.texts.every(({ id }) => texts.some((text) => text.id === id)) &&
      texts.every(({ id, text }) => text.startsWith(streamed.get(id)?.text ?? ''));
    const rest = isConfirmed ? texts.flatMap((text) => missing(text, streamed.get(text.id))) : [];
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
    return this.#streamed.texts.filter(({ isEnded }) => !isEnded).flatMap(end);
  }

  #addText(type: StepText['type'], block: string, text: string): AgUiEvent[] {
    const added = this.#streamed.addText(type, block, text);
    if (added === undefined) return [];
    const { streamed, delta, isFirst } = added;
    return [...(isFirst ? opening(streamed) : []), content(streamed, delta)];
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

function end(streamed: StreamedText): AgUiEvent[] {
  streamed.isEnded = true;
  return closing(streamed);
}

function missing(recorded: StepText, streamed: StreamedText | undefined): AgUiEvent[] {
  const rest = recorded.text.slice(streamed?.text.length ?? 0);
  const added = rest === '' ? [] : [content(recorded, rest)];
  if (streamed?.isEnded === false) return [...added, ...end(streamed)];
  return rest === '' ? [] : [...opening(recorded), ...added, ...closing(recorded)];
}

function opening({ type, id: messageId }: StepText): AgUiEvent[] {
  if (type === 'text') return [{ type: 'TEXT_MESSAGE_START', messageId, role: 'assistant' }];
  return [
    { type: 'REASONING_START', messageId },
    { type: 'REASONING_MESSAGE_START', messageId, role: 'reasoning' },
  ];
}

function content({ type, id: messageId }: StepText, delta: string): AgUiEvent {
  return type === 'text'
    ? { type: 'TEXT_MESSAGE_CONTENT', messageId, delta }
    : { type: 'REASONING_MESSAGE_CONTENT', messageId, delta };
}

function closing({ type, id: messageId }: StepText): AgUiEvent[] {
  if (type === 'text') return [{ type: 'TEXT_MESSAGE_END', messageId }];
  return [
    { type: 'REASONING_MESSAGE_END', messageId },
    { type: 'REASONING_END', messageId },
  ];
}
