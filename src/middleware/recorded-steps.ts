import type { ToolResultPart } from 'ai';
import { z } from 'zod';
import type { ProviderResponse, ProviderPart } from '../agent/model/collected-response.ts';
import type { ApprovalRequest } from '../content/approval.ts';
import type { AgentThread } from '../thread/agent-thread.ts';
import { isAppMessage, turnOfMessage } from '../thread/app-messages.ts';
import { type AssistantPart, partsOf, requestsByCall } from '../thread/proposed-calls.ts';
import type { ThreadEvent, ThreadEventOf } from '../thread/thread-event.ts';
import { blockParts } from './said-parts.ts';

/** A model step of the log. */
export type RecordedStep = ThreadEventOf<'step-finished'>;

/** The end of an answer: how it ended, and what the provider says of it. */
export type AnswerEnd = Pick<ProviderResponse, 'finishReason' | 'providerMetadata' | 'response'>;

type ToolResult = Extract<ProviderPart, { type: 'tool-result' }>;
type FileSaid = Extract<AssistantPart, { type: 'file' | 'reasoning-file' }>;
type FileData = Extract<ProviderPart, { type: 'file' }>['data'];

/** What a call of the model brings that the thread may have from before. */
export interface SentAnswer {
  /** The caller's id for the message that the prompt ends with. */
  messageId: string | undefined;
  /** Whether the message is, by its words, the one that the thread is at work on. */
  isRepeated: boolean;
  /** The requests that the prompt answers, where it ends with answers. */
  answered: ReadonlySet<string>;
}

/** The steps that reply to what a call brings, up to the next message; `undefined` where it is new to the thread. */
export function stepsOfReply(
  { events, calls }: AgentThread,
  { messageId, isRepeated, answered }: SentAnswer,
): readonly RecordedStep[] | undefined {
  if (messageId !== undefined) return turnOfMessage(events, messageId)?.events.filter(isStep);
  if (isRepeated) return events.slice(events.findLastIndex(isAppMessage) + 1).filter(isStep);
  const asked = calls.filter(({ requestId = '' }) => answered.has(requestId));
  if (asked.length === 0 || asked.some(({ outcome }) => outcome === undefined)) return undefined;
  const last = Math.max(...asked.map(({ step }) => step));
  const later = events.slice(events.findIndex((event) => isStep(event) && event.step === last) + 1);
  const end = later.findIndex(isAppMessage);
  return later.slice(0, end === -1 ? later.length : end).filter(isStep);
}

function isStep(event: ThreadEvent): event is RecordedStep {
  return event.type === 'step-finished';
}

/** What a recorded step said beside the calls that are ours to tell; tool calls and results are those that the provider ran unasked. */
export function partsOfStep({ message, metadata, step }: RecordedStep): ProviderPart[] {
  const parts = partsOf(message);
  const asked = requestsByCall(parts);
  return [
    ...parts
      .filter((part) => part.type !== 'tool-call' || !asked.has(part.toolCallId))
      .flatMap((part, index) => partsAs(part, `recorded.${step}.${index}`)),
    ...(metadata?.sources ?? []),
  ];
}

function partsAs(part: AssistantPart, id: string): ProviderPart[] {
  switch (part.type) {
    case 'text':
    case 'reasoning':
      return blockParts(part.type, id, part.text, part.providerOptions);
    case 'file':
    case 'reasoning-file':
      return filePart(part);
    case 'custom':
      return [{ type: part.type, kind: part.kind, providerMetadata: part.providerOptions }];
    case 'tool-call': {
      const { type, toolCallId, toolName, providerExecuted } = part;
      if (providerExecuted !== true) return [];
      const input = JSON.stringify(part.input);
      return [{ type, toolCallId, toolName, input, providerExecuted }];
    }
    case 'tool-result': {
      const { type, toolCallId, toolName, output } = part;
      return [{ type, toolCallId, toolName, ...resultOf(output) }];
    }
    default:
      return [];
  }
}

function filePart({ type, mediaType, data: said, providerOptions }: FileSaid): ProviderPart[] {
  const data = fileData(said);
  if (data === undefined) return [];
  return [{ type, mediaType, data, providerMetadata: providerOptions }];
}

/* What a model makes is bytes, or stands at an address. */
function fileData(data: FileSaid['data']): FileData | undefined {
  if (typeof data === 'string' || data instanceof Uint8Array) return { type: 'data', data };
  if (data instanceof URL) return { type: 'url', url: data };
  if (data instanceof ArrayBuffer) return { type: 'data', data: new Uint8Array(data) };
  if (data.type === 'url' && data.url instanceof URL) return { type: 'url', url: data.url };
  return undefined;
}

const resultSchema = z.json().transform((value) => value ?? '');

function resultOf(output: ToolResultPart['output']): Pick<ToolResult, 'result' | 'isError'> {
  if (output.type === 'execution-denied') {
    return { isError: true, result: output.reason ?? 'Tool call execution denied.' };
  }
  const result = resultSchema.parse(output.value);
  return output.type.startsWith('error-') ? { isError: true, result } : { result };
}

/** Whether a request is about a call of these steps; one of a later turn is not. */
export function isAbout(
  { toolCall }: ApprovalRequest,
  steps: readonly Pick<RecordedStep, 'message'>[],
): boolean {
  return steps
    .flatMap(({ message }) => partsOf(message))
    .some((part) => part.type === 'tool-call' && part.toolCallId === toolCall?.toolCallId);
}

/** The text of a recorded step. */
export function textOfStep({ message }: RecordedStep): string {
  return partsOf(message)
    .map((part) => (part.type === 'text' ? part.text : ''))
    .join('');
}

const finishReasonSchema = z
  .enum(['stop', 'length', 'content-filter', 'tool-calls', 'error', 'other'])
  .catch('other');

/** The end of a recorded step's answer. */
export function endOfStep({ finishReason, metadata }: RecordedStep): AnswerEnd {
  return {
    finishReason: { unified: finishReasonSchema.parse(finishReason), raw: undefined },
    providerMetadata: metadata?.providerMetadata,
    ...(metadata?.response === undefined ? {} : { response: metadata.response }),
  };
}
