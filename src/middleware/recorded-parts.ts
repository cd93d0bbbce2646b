import type { ToolCallPart } from 'ai';
import { z } from 'zod';
import type { ProviderPart, ProviderResponse } from '../agent.ts';
import type { ApprovalRequest } from '../content/approval.ts';
import type { ToolCall, ToolCallRecord } from '../content/tool-call.ts';
import type { AgentThread } from '../thread/agent-thread.ts';
import { ApprovalIds } from '../view/approval-ids.ts';
import {
  type AssistantPart,
  listAssistantParts,
  requestsByCall,
} from '../thread/proposed-calls.ts';
import {
  type CallEnd,
  type EndWithResult,
  readResult,
  type FinishedStepEvent,
} from '../view/thread-items.ts';

type ToolResult = Extract<ProviderPart, { type: 'tool-result' }>;

/** The parts that the caller of the wrapped model already has. */
export interface CallerView {
  /** The names of the tools that the caller passed with the model call. */
  callerTools: ReadonlySet<string>;
  /** The requests that the prompt rejected: the AI SDK itself reports these denials to the caller. */
  rejected: ReadonlySet<string>;
  /** The calls in the prompt's last turn: their results can be sent without the call. */
  shownCalls: ReadonlySet<string>;
  /** Checks whether the prompt's last turn asks about a call and has no answer to it. */
  isAsking: (toolCallId: string, requestId: string) => boolean;
  thread: Pick<AgentThread, 'events' | 'calls'>;
}

/** A call as it is shown: one that the provider runs has the provider's id of its request. */
type ShownCall = ToolCall & Pick<ToolCallRecord, 'providerApprovalId'>;

/** The provider metadata of a call that runs here. The AI SDK's messages keep it, and `plainMessages` reads it. */
const heldCallMetadata = { holdpoint: { held: true } };

/** Checks whether a part of a message is a call that ran behind `holdPoint`, and not at the provider. */
export function isHeldCall({ providerOptions }: Pick<ToolCallPart, 'providerOptions'>): boolean {
  return providerOptions?.['holdpoint']?.['held'] === true;
}

/** Writes tool calls, requests and results as stream parts of tools that ran at the provider; each at most once. */
export class CallParts {
  readonly #view: CallerView;
  readonly #calls = new Set<string>();
  readonly #results = new Set<string>();
  readonly #requests = new Set<string>();

  constructor(view: CallerView) {
    this.#view = view;
  }

  /** Checks whether the caller passed no tool of this name: the AI SDK then treats its calls as dynamic. */
  isDynamic(toolName: string): boolean {
    return !this.#view.callerTools.has(toolName);
  }

  /** A part that the provider made, completed for the AI SDK. */
  ofProvider(part: ProviderPart): ProviderPart[] {
    if (part.type !== 'tool-call' && part.type !== 'tool-result') return [part];
    if (part.type === 'tool-call') this.#calls.add(part.toolCallId);
    /* The result of a call in an earlier run, which the caller doesn't have. */
    if (!this.#calls.has(part.toolCallId)) return [];
    return [{ ...part, dynamic: this.isDynamic(part.toolName) }];
  }

  /** The call, unless the caller already has it. */
  ofCall(
    { toolCallId, toolName, input, providerApprovalId }: ShownCall,
    isShown = this.#view.shownCalls.has(toolCallId),
  ): ProviderPart[] {
    if (isShown || this.#calls.has(toolCallId)) return [];
    this.#calls.add(toolCallId);
    const dynamic = this.isDynamic(toolName);
    const text = JSON.stringify(input);
    return [
      {
        type: 'tool-call',
        toolCallId,
        toolName,
        input: text,
        providerExecuted: true,
        dynamic,
        ...(providerApprovalId === undefined && { providerMetadata: heldCallMetadata }),
      },
    ];
  }

  /** The request, after its call: the AI SDK requires both in the same response. */
  ofRequest({ requestId }: ApprovalRequest, call: ShownCall): ProviderPart[] {
    const { toolCallId } = call;
    this.#requests.add(requestId);
    const approvalId = new ApprovalIds(this.#view.thread.events).of(requestId);
    return [...this.ofCall(call, false), { type: 'tool-approval-request', approvalId, toolCallId }];
  }

  /**
   * A request that is still open from an earlier run, unless the caller already asks about it. A request that the caller shows as answered
   * is asked again, with its call, so that it is in the last step. A sub-agent's request is only in the result's metadata: a part would
   * name a call that the caller does not have, or another call with the same id.
   */
  ofOpenRequest(request: ApprovalRequest): ProviderPart[] {
    const { requestId, toolCall, path } = request;
    if (toolCall === undefined || path !== undefined || this.#requests.has(requestId)) return [];
    const isAsking = this.#view.isAsking(toolCall.toolCallId, requestId);
    if (isAsking) return [];
    const { calls } = this.#view.thread;
    const { providerApprovalId } = calls.find((call) => call.requestId === requestId) ?? {};
    return this.ofRequest(request, { ...toolCall, providerApprovalId });
  }

  /** The result of a call, after the call itself. */
  ofEnd(call: ToolCallRecord, end: CallEnd): ProviderPart[] {
    const { toolCallId, toolName, requestId = '' } = call;
    if (this.#results.has(toolCallId)) return [];
    this.#results.add(toolCallId);
    /* The provider runs the call: its result is part of the model's next response. */
    if (end.status === 'forwarded') return [];
    if (end.status === 'denied' && this.#view.rejected.has(requestId)) return [];
    const dynamic = this.isDynamic(toolName);
    return [
      ...this.ofCall(call),
      { type: 'tool-result', toolCallId, toolName, dynamic, ...toProviderResult(end) },
    ];
  }
}

/** The end of a call as a provider's result. Providers have no result for a denial: it becomes an error with the reason. */
function toProviderResult(end: EndWithResult): Pick<ToolResult, 'result' | 'isError'> {
  switch (end.status) {
    case 'succeeded':
      return { result: end.output ?? '' };
    case 'failed':
      return { isError: true, result: end.value === undefined ? end.error : (end.value ?? '') };
    case 'denied':
      return { isError: true, result: end.reason ?? 'Tool call execution denied.' };
  }
}

/** The end of a response of the model, and the provider's metadata. */
export type ResponseEnd = Pick<ProviderResponse, 'finishReason' | 'providerMetadata' | 'response'>;

type RecordedFile = Extract<AssistantPart, { type: 'file' | 'reasoning-file' }>;
type FileData = Extract<ProviderPart, { type: 'file' }>['data'];

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

/** Checks whether a request belongs to a call of these steps, and not to one of a later turn. */
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

/** The end of the response of a recorded step. */
export function endOfStep({ finishReason, metadata }: FinishedStepEvent): ResponseEnd {
  return {
    finishReason: { unified: finishReasonSchema.parse(finishReason), raw: undefined },
    providerMetadata: metadata?.providerMetadata,
    ...(metadata?.response === undefined ? {} : { response: metadata.response }),
  };
}
