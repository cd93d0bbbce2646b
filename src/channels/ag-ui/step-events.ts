import type { ModelDelta } from '../../agent.ts';
import { type AssistantPart, listAssistantParts } from '../../thread/proposed-calls.ts';
import type { FinishedStepEvent } from '../../view/thread-items.ts';
import {
  endText,
  isBlank,
  StreamedStep,
  type StreamedText,
  type TextChange,
} from '../../view/streamed-step.ts';
import type { AgUiViewOptions } from './ag-ui-handler-options.ts';
import type { AgUiEvent, AgUiToolCall } from './ag-ui-event.ts';
import { type CallResult, readPartResults } from './call-results.ts';

/** A text of a step that a client shows as a message, or in one. */
interface StepText {
  type: 'text' | 'reasoning';
  id: string;
  text: string;
}

/** A recorded step, as a client shows it. AG-UI 1.0 can't carry files that a model made. */
export interface StepMessages {
  messageId: string;
  texts: StepText[];
  calls: AgUiToolCall[];
  /** The results of calls that the provider ran itself, in this step or an earlier one. */
  results: CallResult[];
}

/** The id of a step's message: the same live, in every client, and after a reload. */
export function makeStepMessageId(threadId: string, step: number): string {
  return `${threadId}:${step}`;
}

/** The id of a thought of a step. */
function makeReasoningId(messageId: string, index: number): string {
  return `${messageId}:reasoning:${index}`;
}

/** A recorded step, as a client shows it. */
export function makeStepMessages(
  threadId: string,
  { step, message }: Pick<FinishedStepEvent, 'step' | 'message'>,
  options: AgUiViewOptions,
  messageId = makeStepMessageId(threadId, step),
): StepMessages {
  const { sendReasoning = true } = options;
  const parts = listAssistantParts(message);
  const thoughts = sendReasoning ? parts.filter((part) => part.type === 'reasoning') : [];
  const text = parts.map((part) => (part.type === 'text' ? part.text : '')).join('');
  return {
    messageId,
    texts: [
      ...thoughts
        .filter((part) => !isBlank(part.text))
        .map((part, index): StepText => ({
          type: 'reasoning',
          id: makeReasoningId(messageId, index),
          text: part.text,
        })),
      ...(isBlank(text) ? [] : [{ type: 'text' as const, id: messageId, text }]),
    ],
    calls: parts.flatMap(toClientCalls),
    results: parts.flatMap((part) => readPartResults(part, options)),
  };
}

function toClientCalls(part: AssistantPart): AgUiToolCall[] {
  if (part.type !== 'tool-call') return [];
  const { toolCallId: id, toolName: name, input } = part;
  return [{ id, type: 'function', function: { name, arguments: JSON.stringify(input) } }];
}

/**
 * The events of one step: its texts while the model streams them, and its calls once they are recorded, with the stored input. Calls are
 * not streamed, because AG-UI can't take a call back and clients act on it.
 */
export class StepEvents {
  readonly #streamed: StreamedStep;

  constructor(messageId: string, sendReasoning: boolean) {
    this.#streamed = new StreamedStep({
      makeId: (type, before) =>
        type === 'text'
          ? messageId
          : makeReasoningId(messageId, before.filter((part) => part.type === 'reasoning').length),
      sendReasoning,
      /* All text of a step is one message. */
      joinsText: true,
    });
  }

  /** The events for a delta of the model. */
  addDelta(delta: ModelDelta): AgUiEvent[] {
    switch (delta.type) {
      case 'text-start':
      case 'text-delta':
      case 'text-end':
      case 'reasoning-start':
      case 'reasoning-delta':
      case 'reasoning-end':
        return this.#streamed.addText(delta).flatMap(makeTextEvents);
      case 'source':
      case 'tool-input-start':
      case 'tool-input-delta':
      case 'tool-input-end':
        return [];
    }
  }

  /** Completes a recorded step: emits the part that is missing. `isConfirmed: false`: the streamed texts differ from the recorded ones. */
  finish({ texts, calls, messageId: parentMessageId }: StepMessages): {
    events: AgUiEvent[];
    isConfirmed: boolean;
  } {
    const streamed = new Map(this.#streamed.texts.map((text) => [text.id, text]));
    const isConfirmed =
      this.#streamed.texts.every(({ id }) => texts.some((text) => text.id === id)) &&
      texts.every(({ id, text }) => text.startsWith(streamed.get(id)?.text ?? ''));
    const rest = isConfirmed
      ? texts.flatMap((text) => completeText(text, streamed.get(text.id)).flatMap(makeTextEvents))
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
    return this.#streamed.end().flatMap(makeTextEvents);
  }
}

/** Completes a text for a client that has its beginning, or nothing of it. */
function completeText(
  { type, id, text }: StepText,
  streamed: StreamedText | undefined,
): TextChange[] {
  const rest = text.slice(streamed?.text.length ?? 0);
  const delta = rest === '' ? undefined : rest;
  if (streamed?.isEnded === false) return [endText(streamed, delta)];
  return delta === undefined ? [] : [{ type, id, isFirst: true, delta, isLast: true }];
}

/** The events of a message of the user. */
export function makeUserTextEvents(messageId: string, text: string): AgUiEvent[] {
  return [
    { type: 'TEXT_MESSAGE_START', messageId, role: 'user' },
    { type: 'TEXT_MESSAGE_CONTENT', messageId, delta: text },
    { type: 'TEXT_MESSAGE_END', messageId },
  ];
}

/** The events of a text that begins, goes on or ends. */
function makeTextEvents({ type, id: messageId, isFirst, delta, isLast }: TextChange): AgUiEvent[] {
  const events: AgUiEvent[] = [];
  if (type === 'text') {
    if (isFirst) events.push({ type: 'TEXT_MESSAGE_START', messageId, role: 'assistant' });
    if (delta !== undefined) events.push({ type: 'TEXT_MESSAGE_CONTENT', messageId, delta });
    if (isLast) events.push({ type: 'TEXT_MESSAGE_END', messageId });
    return events;
  }
  if (isFirst) {
    events.push(
      { type: 'REASONING_START', messageId },
      { type: 'REASONING_MESSAGE_START', messageId, role: 'reasoning' },
    );
  }
  if (delta !== undefined) events.push({ type: 'REASONING_MESSAGE_CONTENT', messageId, delta });
  if (isLast) {
    events.push({ type: 'REASONING_MESSAGE_END', messageId }, { type: 'REASONING_END', messageId });
  }
  return events;
}
