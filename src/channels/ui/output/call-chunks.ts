import { applyToRequest, withEdit } from '../../../thread/events.ts';
import type { PreliminaryResult } from '../../../agent.ts';
import { pickToolCall, type ToolCall, type ToolCallRecord } from '../../../content/tool-call.ts';
import type { ApprovalRequest } from '../../../content/approval.ts';
import { hidePrincipals, type UserInputRequest } from '../../../content/user-input.ts';
import { renderToolError } from '../../../http/error-response.ts';
import type { ApprovalIds } from '../../../view/approval-ids.ts';
import {
  type CallEnd,
  readDecision,
  type RequestEnd,
  type RequestProgress,
} from '../../../view/thread-items.ts';
import type { ThreadViewOptions } from '../ui-handler-options.ts';
import type { ToolSet, UIMessageChunk } from 'ai';

type ToolMetadata = NonNullable<ToolSet[string]['metadata']>;

/** The chunk that shows a call with its input. */
export type AvailableChunk = Extract<UIMessageChunk, { type: 'tool-input-available' }>;

/** The chunks for a call on the page: its request and answer, its preliminary results, its outcome. */
export class CallChunks {
  readonly #options: ThreadViewOptions;
  readonly #isClientTool: boolean;
  readonly #metadata: ToolMetadata;
  #available: AvailableChunk;
  readonly #ids: ApprovalIds;
  #request: UserInputRequest | undefined;
  /** The call as it will run: with the edits so far. */
  #call: ToolCall | undefined;
  #approved: boolean | undefined;
  #hasPreview = false;
  #isEnded = false;

  /** `available` is the chunk that showed the call; `ids` counts the events that are shown. */
  constructor(
    { toolName, available }: { toolName: string; available: AvailableChunk },
    options: ThreadViewOptions,
    ids: ApprovalIds,
  ) {
    this.#options = options;
    this.#available = available;
    this.#ids = ids;
    this.#isClientTool = options.clientTools?.includes(toolName) === true;
    this.#metadata = readToolMetadata(options, toolName) ?? {};
  }

  get requestId(): string | undefined {
    return this.#request?.requestId;
  }

  /** Shows the request about the call. */
  ask(request: UserInputRequest, call: ToolCallRecord): UIMessageChunk[] {
    this.#call ??= { ...pickToolCall(call), input: this.#available.input };
    return this.#show({ ...request, toolCall: this.#call });
  }

  /** Shows the value that the tool's schema has made instead of the one before, which people may have edited. */
  remake(input: unknown): UIMessageChunk[] {
    this.#available = { ...this.#available, input };
    this.#call = undefined;
    return [this.#available];
  }

  #show(request: UserInputRequest): UIMessageChunk[] {
    this.#request = request;
    this.#approved = undefined;
    return [makeApprovalRequestChunk(request, this.#ids)];
  }

  /**
   * Shows who decided, and the answer to an approval. The answer to a question is shown by the outcome of its call, which is recorded with
   * it; an event that closes a request also ends its call or asks again.
   */
  endRequest(event: RequestEnd): UIMessageChunk[] {
    const decided = this.#showDecision(event);
    if (event.type === 'request-closed') return decided;
    const { response, edit } = event;
    if (response.type !== 'approval-response') return decided;
    const edited = edit === undefined ? [] : this.#showAfter((request) => withEdit(request, event));
    if (response.approved) this.#call = this.#request?.toolCall;
    return [...edited, ...decided, ...this.#respond(response.approved, response.reason)];
  }

  /* An answer that no longer counts must not stay shown as the decision, even if nobody known has ended it. */
  #showDecision(event: RequestEnd): UIMessageChunk[] {
    const decision = readDecision(event);
    const requestId = this.#request?.requestId;
    if (requestId === undefined) return [];
    if (decision.person === undefined && this.#approved === undefined) return [];
    return [{ type: 'data-request-decision', id: requestId, data: { requestId, ...decision } }];
  }

  /** Shows the request, which is still open, after a vote, a withdrawn vote, or a reassignment. */
  progress(event: RequestProgress): UIMessageChunk[] {
    return this.#showAfter((request) => applyToRequest(request, event));
  }

  #showAfter(change: (request: ApprovalRequest) => ApprovalRequest): UIMessageChunk[] {
    const request = this.#request;
    return request?.type === 'approval-request' ? this.#show(change(request)) : [];
  }

  /** Shows that the call waits for its result from outside. If the page runs it, the page is asked to do so now. */
  defer({ input }: ToolCallRecord): UIMessageChunk[] {
    return this.#isClientTool && this.#approved === true ? [{ ...this.#available, input }] : [];
  }

  /** Shows a preliminary result, until the outcome replaces it. */
  preview({ toolCallId, output }: PreliminaryResult): UIMessageChunk[] {
    if (this.#isEnded) return [];
    this.#hasPreview = true;
    return [{ type: 'tool-output-available', toolCallId, output, preliminary: true }];
  }

  /** Shows the end of the call. `isOfProvider`: the provider ran it, as the model's message says. */
  end(
    { toolCallId }: Pick<ToolCall, 'toolCallId'>,
    end: CallEnd,
    isOfProvider = false,
  ): UIMessageChunk[] {
    this.#isEnded = true;
    const isOfClient = this.#isClientTool && !isOfProvider;
    const mark = {
      ...(isOfProvider ? { providerExecuted: true } : {}),
      /* Without the mark `clientTool` the page does not send the result again. */
      ...(isOfClient ? { toolMetadata: this.#metadata } : {}),
    };
    switch (end.status) {
      case 'succeeded': {
        const { output } = end;
        return [
          ...this.#markAnswered(),
          { type: 'tool-output-available', toolCallId, output, ...mark },
        ];
      }
      case 'failed': {
        const errorText = isOfClient ? end.error : renderToolError(this.#options, end.error);
        return [
          ...this.#markAnswered(),
          { type: 'tool-output-error', toolCallId, errorText, ...mark },
        ];
      }
      case 'denied':
        return [
          ...(isOfProvider ? [] : this.#deny(toolCallId, end.reason)),
          { type: 'tool-output-denied', toolCallId },
        ];
      case 'forwarded': {
        /* The provider reports the result in the next step. */
        const output = { status: end.status };
        return [{ type: 'tool-output-available', toolCallId, output, providerExecuted: true }];
      }
    }
  }

  /**
   * Shows the status of an unended call at the end of the stream: removes a preliminary result, and marks an approved call as in progress.
   */
  showStatus({ toolCallId, status, held }: ToolCallRecord): UIMessageChunk[] {
    if (this.#isEnded) return [];
    if (this.#approved === undefined) return this.#hasPreview ? [this.#available] : [];
    if (this.#isClientTool && status === 'deferred') return [];
    const output = { status, ...(held && { held }) };
    return [{ type: 'tool-output-available', toolCallId, output, preliminary: true }];
  }

  /* A part with an output shows an approval that was given; for a question this only shows that it was answered. */
  #markAnswered(): UIMessageChunk[] {
    const request = this.#request;
    if (request?.type !== 'question-request' || this.#approved !== undefined) return [];
    return this.#respond(true);
  }

  /* A denied part shows a rejected approval, also if a rule denied the call or the request was closed. */
  #deny(toolCallId: string, reason: string | undefined): UIMessageChunk[] {
    if (this.#approved === false) return [];
    if (this.#request !== undefined) return this.#respond(false, reason);
    const approvalId = `automatic:${toolCallId}`;
    this.#approved = false;
    return [
      { type: 'tool-approval-request', approvalId, toolCallId, isAutomatic: true },
      makeResponseChunk(approvalId, false, reason),
    ];
  }

  /** Shows the answer to the request. A page that has missed a change has the request under an older id, so it is shown again first. */
  #respond(approved: boolean, reason?: string): UIMessageChunk[] {
    const request = this.#request;
    if (request === undefined) return [];
    const approvalId = this.#ids.of(request.requestId);
    const again = approvalId === request.requestId ? [] : this.#show(request);
    this.#approved = approved;
    return [...again, makeResponseChunk(approvalId, approved, reason)];
  }
}

/** The metadata of a tool for its parts, without the name by which a part says that the page runs the call. */
export function readToolMetadata(
  { tools }: ThreadViewOptions,
  toolName: string,
): ToolMetadata | undefined {
  const metadata =
    tools !== undefined && Object.hasOwn(tools, toolName) ? tools[toolName]?.metadata : undefined;
  if (metadata === undefined || !Object.hasOwn(metadata, 'clientTool')) return metadata;
  return Object.fromEntries(Object.entries(metadata).filter(([name]) => name !== 'clientTool'));
}

function makeResponseChunk(approvalId: string, approved: boolean, reason?: string): UIMessageChunk {
  const why = reason === undefined ? {} : { reason };
  return { type: 'tool-approval-response', approvalId, approved, ...why };
}

/** Makes the chunk of a request about a call, under the id of its latest change. */
export function makeApprovalRequestChunk(
  request: UserInputRequest,
  ids: ApprovalIds,
): UIMessageChunk {
  const { requestId, toolCall } = request;
  const { toolCallId = '' } = toolCall ?? {};
  const approvalId = ids.of(requestId);
  const why = 'reason' in request && request.reason !== undefined ? { reason: request.reason } : {};
  return {
    type: 'tool-approval-request',
    approvalId,
    toolCallId,
    approvalDescriptor: hidePrincipals(request),
    ...why,
  };
}

/**
 * The chunks for a request that is not about a call of this thread, or that was made during one, by its tool or its
 * sub-agent: a data part with the request's id, replaced when the request is answered or closed. The part of the call does not change.
 */
export class RequestChunks {
  #request: UserInputRequest;

  /**
   * `call` is the call that the request was made during, if any. A sub-agent's request has the sub-agent's own call, which is shown to
   * people.
   */
  constructor(request: UserInputRequest, call: ToolCall | undefined) {
    const isOfTool = call !== undefined && request.path === undefined;
    this.#request = isOfTool ? { ...request, toolCall: pickToolCall(call) } : request;
  }

  ask(): UIMessageChunk[] {
    return this.#part({});
  }

  /** Shows the request after a vote, a withdrawn vote, or a reassignment. */
  progress(event: RequestProgress): UIMessageChunk[] {
    if (this.#request.type !== 'approval-request') return [];
    this.#request = applyToRequest(this.#request, event);
    return this.#part({});
  }

  endRequest(event: RequestEnd): UIMessageChunk[] {
    if (event.type === 'request-answered' && this.#request.type === 'approval-request') {
      this.#request = withEdit(this.#request, event);
    }
    const { person } = readDecision(event);
    return this.#part(
      event.type === 'request-closed'
        ? { closed: event.cause, ...(person === undefined ? {} : { closedBy: person }) }
        : { answer: event.response, ...(person === undefined ? {} : { answeredBy: person }) },
    );
  }

  #part(end: object): UIMessageChunk[] {
    const { requestId: id, type } = this.#request;
    return [{ type: `data-${type}`, id, data: { ...hidePrincipals(this.#request), ...end } }];
  }
}
