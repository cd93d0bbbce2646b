import type { ToolModelMessage } from 'ai';
import { toolErrorText } from '../../../http/tool-error-text.ts';
import { type AssistantPart, partsOf } from '../../../thread/proposed-calls.ts';
import { isBlank } from '../../../view/streamed-step.ts';
import type { ThreadEventOf } from '../../../thread/thread-event.ts';
import type { ThreadViewOptions } from '../ag-ui-handler-options.ts';
import type { AgUiToolCall, ResultMetadata } from './ag-ui-event.ts';

type ToolPart = ToolModelMessage['content'][number];

/** A text of a step that a client shows as a message, or as the text of one. */
export interface StepText {
  type: 'text' | 'reasoning';
  id: string;
  text: string;
}

/** The result of a call, as a client gets it. */
export interface CallResult {
  toolCallId: string;
  content: string;
  status: ResultMetadata['holdpoint']['status'];
}

/** A recorded step, as a client shows it. AG-UI 1.0 has no place for files that a model made. */
export interface StepMessages {
  messageId: string;
  texts: StepText[];
  calls: AgUiToolCall[];
  /** The results of calls that the provider ran itself, in this step or an earlier one. */
  results: CallResult[];
}

/** The id of a step's message: the same live, in every client, and after a reload. */
export function stepMessageId(threadId: string, step: number): string {
  return `${threadId}:${step}`;
}

/** The id of a thought of a step. */
export function reasoningId(messageId: string, index: number): string {
  return `${messageId}:reasoning:${index}`;
}

/** A recorded step, as a client shows it. */
export function stepMessages(
  threadId: string,
  { step, message }: Pick<ThreadEventOf<'step-finished'>, 'step' | 'message'>,
  options: ThreadViewOptions,
  messageId = stepMessageId(threadId, step),
): StepMessages {
  const { sendReasoning = true } = options;
  const parts = partsOf(message);
  const thoughts = sendReasoning ? parts.filter((part) => part.type === 'reasoning') : [];
  const text = parts.map((part) => (part.type === 'text' ? part.text : '')).join('');
  return {
    messageId,
    texts: [
      ...thoughts
        .filter((part) => !isBlank(part.text))
        .map((part, index): StepText => ({
          type: 'reasoning',
          id: reasoningId(messageId, index),
          text: part.text,
        })),
      ...(isBlank(text) ? [] : [{ type: 'text' as const, id: messageId, text }]),
    ],
    calls: parts.flatMap(callsOf),
    results: parts.flatMap((part) => resultsOf(part, options)),
  };
}

function callsOf(part: AssistantPart): AgUiToolCall[] {
  if (part.type !== 'tool-call') return [];
  const { toolCallId: id, toolName: name, input } = part;
  return [{ id, type: 'function', function: { name, arguments: JSON.stringify(input) } }];
}

/** The result in a part; none for any other part. */
export function resultsOf(
  part: AssistantPart | ToolPart,
  options: ThreadViewOptions,
): CallResult[] {
  if (part.type !== 'tool-result') return [];
  const { toolCallId, output } = part;
  switch (output.type) {
    case 'execution-denied':
      return [{ toolCallId, status: 'denied', content: deniedText(output.reason) }];
    case 'error-text':
    case 'error-json':
      return [
        {
          toolCallId,
          status: 'failed',
          content: toolErrorText(options, writeResult(output.value)),
        },
      ];
    default:
      return [{ toolCallId, status: 'succeeded', content: writeResult(output.value) }];
  }
}

/** The text of the result of a call that was denied. */
export function deniedText(reason: string | undefined): string {
  return reason ?? 'The call was not allowed, and did not run.';
}

/** A value as the text of a result, because AG-UI has no JSON there. */
export function writeResult(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
