import { z } from 'zod';
import type { ProviderPart, ProviderResponse } from '../agent/model.ts';
import type { ApprovalRequest } from '../content/approval.ts';
import type { AgentThread } from '../thread/agent-thread.ts';
import { isAppMessage, turnOfMessage } from '../thread/app-messages.ts';
import {
  type AssistantPart,
  listAssistantParts,
  requestsByCall,
} from '../thread/proposed-calls.ts';
import type { ThreadEvent } from '../thread/thread-event.ts';
import { readResult, type FinishedStepEvent } from '../view/items.ts';
import { toProviderResult } from './call-parts.ts';

/** How a response of the model ended, and the provider's metadata. */
export type ResponseEnd = Pick<ProviderResponse, 'finishReason' | 'providerMetadata' | 'response'>;

type RecordedFile = Extract<AssistantPart, { type: 'file' | 'reasoning-file' }>;
type FileData = Extract<ProviderPart, { type: 'file' }>['data'];

/** How the reply to a model call is found in a thread that may already have it. */
export interface ReplyKey {
  /** The caller's id for the last message of the prompt. */
  messageId: string | undefined;
  /** Whether the content of that message equals the message of the thread's open turn. */
  isRepeated: boolean;
  /** The requests that the model call answers. */
  answered: ReadonlySet<string>;
}

/** The recorded steps that reply to a model call, up to the next message; `undefined` if its input is new to the thread. */
export function findReplySteps(
  { events, calls }: AgentThread,
  { messageId, isRepeated, answered }: ReplyKey,
): readonly FinishedStepEvent[] | undefined {
  if (messageId !== undefined) return turnOfMessage(events, messageId)?.events.filter(isStep);
  if (isRepeated) return listStepsAfter(events, events.findLastIndex(isAppMessage));
  const requested = calls.filter(({ requestId = '' }) => answered.has(requestId));
  if (requested.length === 0 || requested.some(({ outcome }) => outcome === undefined))
    return undefined;
  const last = Math.max(...requested.map(({ step }) => step));
  return listStepsAfter(
    events,
    events.findIndex((event) => isStep(event) && event.step === last),
  );
}

/** The steps after the event at an index, up to the next message. */
function listStepsAfter(
  events: readonly ThreadEvent[],
  index: number,
): readonly FinishedStepEvent[] {
  const later = events.slice(index + 1);
  const end = later.findIndex(isAppMessage);
  return later.slice(0, end === -1 ? later.length : end).filter(isStep);
}

function isStep(event: ThreadEvent): event is FinishedStepEvent {
  return event.type === 'step-finished';
}

/**
 * The parts of a recorded step. Its tool calls and results are only those that the provider ran without an approval request; `CallParts`
 * writes the others.
 */
export function convertStep({ message, metadata, step }: FinishedStepEvent): ProviderPart[] {
  const parts = listAssistantParts(message);
  const requested = requestsByCall(parts);
  return [
    ...parts
      .filter((part) => part.type !== 'tool-call' || !requested.has(part.toolCallId))
      .flatMap((part, index) => convertStepPart(part, `recorded.${step}.${index}`)),
    ...(metadata?.sources ?? []),
  ];
}

function convertStepPart(part: AssistantPart, id: string): ProviderPart[] {
  switch (part.type) {
    case 'text':
    case 'reasoning':
      return makeWholeBlock(part.type, id, part.text, part.providerOptions);
    case 'file':
    case 'reasoning-file':
      return convertFile(part);
    case 'custom':
      return [{ type: part.type, kind: part.kind, providerMetadata: part.providerOptions }];
    case 'tool-call': {
      const { type, toolCallId, toolName, providerExecuted } = part;
      if (providerExecuted !== true) return [];
      const input = JSON.stringify(part.input);
      return [{ type, toolCallId, toolName, input, providerExecuted }];
    }
    case 'tool-result': {
      const { type, toolCallId, toolName } = part;
      return [{ type, toolCallId, toolName, ...toProviderResult(readResult(part)) }];
    }
    case 'tool-approval-request':
      return [];
  }
}

/** The parts of a complete text or reasoning block. */
export function makeWholeBlock(
  type: 'text' | 'reasoning',
  id: string,
  delta: string,
  providerMetadata?: ProviderResponse['providerMetadata'],
): ProviderPart[] {
  return [
    { type: `${type}-start`, id, providerMetadata },
    { type: `${type}-delta`, id, delta },
    { type: `${type}-end`, id },
  ];
}

function convertFile({
  type,
  mediaType,
  data: recorded,
  providerOptions,
}: RecordedFile): ProviderPart[] {
  const data = toFileData(recorded);
  if (data === undefined) return [];
  return [{ type, mediaType, data, providerMetadata: providerOptions }];
}

/* A model's file is bytes or a URL. */
function toFileData(data: RecordedFile['data']): FileData | undefined {
  if (typeof data === 'string' || data instanceof Uint8Array) return { type: 'data', data };
  if (data instanceof URL) return { type: 'url', url: data };
  if (data instanceof ArrayBuffer) return { type: 'data', data: new Uint8Array(data) };
  if (data.type === 'url' && data.url instanceof URL) return { type: 'url', url: data.url };
  return undefined;
}

/** Whether a request belongs to a call of these steps, and not to one of a later turn. */
export function belongsToSteps(
  { toolCall }: ApprovalRequest,
  steps: readonly Pick<FinishedStepEvent, 'message'>[],
): boolean {
  return steps
    .flatMap(({ message }) => listAssistantParts(message))
    .some((part) => part.type === 'tool-call' && part.toolCallId === toolCall?.toolCallId);
}

/** The text of a recorded step. */
export function readStepText({ message }: FinishedStepEvent): string {
  return listAssistantParts(message)
    .map((part) => (part.type === 'text' ? part.text : ''))
    .join('');
}

const finishReasonSchema = z
  .enum(['stop', 'length', 'content-filter', 'tool-calls', 'error', 'other'])
  .catch('other');

/** How the response of a recorded step ended. */
export function endOfStep({ finishReason, metadata }: FinishedStepEvent): ResponseEnd {
  return {
    finishReason: { unified: finishReasonSchema.parse(finishReason), raw: undefined },
    providerMetadata: metadata?.providerMetadata,
    ...(metadata?.response === undefined ? {} : { response: metadata.response }),
  };
}
