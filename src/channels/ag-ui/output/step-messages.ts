import type { ModelMessage } from 'ai';
import type { ThreadEventOf } from '../../../thread/thread-event.ts';
import type { AgUiToolCall, ResultMetadata } from './ag-ui-event.ts';
import { type ThreadViewOptions, toolErrorText } from '../telling-options.ts';

/** A text of a step that a client shows as a message, or as the text of one. */
export interface StepText {
  type: 'text' | 'reasoning';
  messageId: string;
  text: string;
}

/** What came of a call, as a client is told. */
export interface CallResult {
  toolCallId: string;
  content: string;
  status: ResultMetadata['holdpoint']['status'];
}

/** A recorded model step, as a client shows it. Files that a model made have no place in AG-UI 1.0. */
export interface StepMessages {
  messageId: string;
  texts: StepText[];
  calls: AgUiToolCall[];
  /** Of calls that the provider ran itself, in this step or one before. */
  results: CallResult[];
}

/** The id of what the model says in a step: the same live, in every client, and after a reload. */
export function stepMessageId(threadId: string, step: number): string {
  return `${threadId}:${step}`;
}

/** The id of a thought of a step. */
export function reasoningId(messageId: string, index: number): string {
  return `${messageId}:reasoning:${index}`;
}

type AssistantContent = Extract<ModelMessage, { role: 'assistant' }>['content'];
type AssistantPart = Exclude<AssistantContent, string>[number];

/** What a recorded step shows. */
export function stepMessages(
  threadId: string,
  { step, message }: ThreadEventOf<'step-finished'>,
  options: ThreadViewOptions,
): StepMessages {
  const { sendReasoning = true } = options;
  const messageId = stepMessageId(threadId, step);
  const parts = message?.role === 'assistant' ? partsOf(message.content) : [];
  const thoughts = sendReasoning ? parts.filter((part) => part.type === 'reasoning') : [];
  const text = parts.map((part) => (part.type === 'text' ? part.text : '')).join('');
  return {
    messageId,
    texts: [
      ...thoughts
        .filter((part) => part.text.trim() !== '')
        .map((part, index): StepText => ({
          type: 'reasoning',
          messageId: reasoningId(messageId, index),
          text: part.text,
        })),
      ...(text.trim() === '' ? [] : [{ type: 'text' as const, messageId, text }]),
    ],
    calls: parts.flatMap(callsOf),
    results: parts.flatMap((part) => resultsOf(part, options)),
  };
}

function partsOf(content: AssistantContent): AssistantPart[] {
  return typeof content === 'string' ? [{ type: 'text', text: content }] : content;
}

function callsOf(part: AssistantPart): AgUiToolCall[] {
  if (part.type !== 'tool-call') return [];
  const { toolCallId: id, toolName: name, input } = part;
  return [{ id, type: 'function', function: { name, arguments: JSON.stringify(input) } }];
}

function resultsOf(part: AssistantPart, options: ThreadViewOptions): CallResult[] {
  if (part.type !== 'tool-result') return [];
  const { toolCallId, output } = part;
  switch (output.type) {
    case 'execution-denied':
      return [{ toolCallId, status: 'denied', content: deniedText(output.reason) }];
    case 'error-text':
    case 'error-json':
      return [
        { toolCallId, status: 'failed', content: toolErrorText(options, textOf(output.value)) },
      ];
    default:
      return [{ toolCallId, status: 'succeeded', content: textOf(output.value) }];
  }
}

/** What a client reads of a call that was not allowed. */
export function deniedText(reason: string | undefined): string {
  return reason ?? 'The call was not allowed, and did not run.';
}

/** A value as the text of a result: AG-UI has no JSON there. */
export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
