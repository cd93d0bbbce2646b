import type { ProviderPart } from '../agent/model.ts';
import type { ApprovalRequest } from '../content/approval.ts';
import type { ToolCall, ToolCallRecord } from '../content/tool-call.ts';
import type { AgentThread } from '../thread/agent-thread.ts';
import { ApprovalIds } from '../thread/approval-ids.ts';
import type { CallEnd, EndWithResult } from '../view/items.ts';

type ToolResult = Extract<ProviderPart, { type: 'tool-result' }>;

/** What the caller of the wrapped model already has. */
export interface CallerView {
  /** The names of the tools that the caller passed with the model call. */
  callerTools: ReadonlySet<string>;
  /** The requests that the prompt rejected: the AI SDK itself reports these denials to the caller. */
  rejected: ReadonlySet<string>;
  /** The calls in the prompt's last turn: their results can be sent without the call. */
  shownCalls: ReadonlySet<string>;
  /** Whether the prompt's last turn asks about a call and has no answer to it. */
  isAsking: (toolCallId: string, requestId: string) => boolean;
  thread: Pick<AgentThread, 'events'>;
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

  /** Whether the caller passed no tool of this name: the AI SDK then treats its calls as dynamic. */
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
    { toolCallId, toolName, input }: ToolCall,
    isShown = this.#view.shownCalls.has(toolCallId),
  ): ProviderPart[] {
    if (isShown || this.#calls.has(toolCallId)) return [];
    this.#calls.add(toolCallId);
    const dynamic = this.isDynamic(toolName);
    const text = JSON.stringify(input);
    return [
      { type: 'tool-call', toolCallId, toolName, input: text, providerExecuted: true, dynamic },
    ];
  }

  /** The request, after its call: the AI SDK requires both in the same response. */
  ofRequest({ requestId }: ApprovalRequest, call: ToolCall): ProviderPart[] {
    const { toolCallId } = call;
    this.#requests.add(requestId);
    const approvalId = new ApprovalIds(this.#view.thread.events).of(requestId);
    return [...this.ofCall(call, false), { type: 'tool-approval-request', approvalId, toolCallId }];
  }

  /**
   * A request that is still open from an earlier run, unless the caller already asks about it. What the caller shows as answered is asked
   * again, with its call, so that it is in the last step. A sub-agent's request is only in the result's metadata: a part would name a call
   * that the caller does not have, or another call with the same id.
   */
  ofOpenRequest(request: ApprovalRequest): ProviderPart[] {
    const { requestId, toolCall, path } = request;
    if (toolCall === undefined || path !== undefined || this.#requests.has(requestId)) return [];
    const isAsking = this.#view.isAsking(toolCall.toolCallId, requestId);
    return isAsking ? [] : this.ofRequest(request, toolCall);
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
export function toProviderResult(end: EndWithResult): Pick<ToolResult, 'result' | 'isError'> {
  switch (end.status) {
    case 'succeeded':
      return { result: end.output ?? '' };
    case 'failed':
      return { isError: true, result: end.value === undefined ? end.error : (end.value ?? '') };
    case 'denied':
      return { isError: true, result: end.reason ?? 'Tool call execution denied.' };
  }
}
