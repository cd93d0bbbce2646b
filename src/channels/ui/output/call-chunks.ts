import type { UIMessageChunk } from 'ai';
import type { PreliminaryResult } from '../../../agent/calls/execute-call.ts';
import type { ToolCall, ToolCallOutcome, ToolCallRecord } from '../../../content/tool-call.ts';
import type { UserInputRequest, UserInputResponseContent } from '../../../content/user-input.ts';
import { approvalRequestChunk } from './ask-chunk.ts';
import { type ThreadViewOptions, toolErrorText } from './thread-view-options.ts';

/** Says what becomes of one call that the page has before it. */
export class CallChunks {
  readonly #options: ThreadViewOptions;
  readonly #isClientTool: boolean;
  readonly #available: UIMessageChunk;
  #request: UserInputRequest | undefined;
  #approved: boolean | undefined;
  #hasPreview = false;
  #isEnded = false;

  /** `available` is what showed the call. */
  constructor(available: UIMessageChunk, toolName: string, options: ThreadViewOptions) {
    this.#options = options;
    this.#available = available;
    this.#isClientTool = options.clientTools?.includes(toolName) === true;
  }

  get requestId(): string | undefined {
    return this.#request?.requestId;
  }

  /** A person is asked. */
  ask(request: UserInputRequest, call: ToolCall): UIMessageChunk[] {
    this.#request = request;
    this.#approved = undefined;
    return [approvalRequestChunk(request, call)];
  }

  /** An answer to a question shows in the outcome of its call, which comes with it. */
  answer(response: UserInputResponseContent): UIMessageChunk[] {
    if (response.type !== 'approval-response') return [];
    return this.#respond(response.requestId, response.approved, response.reason);
  }

  /** The call goes on outside; where that is the page, it is the page's turn now. */
  defer(): UIMessageChunk[] {
    return this.#isClientTool && this.#approved === true ? [this.#available] : [];
  }

  /** What the tool has so far, until its result takes the place of it. */
  preview({ toolCallId, output }: PreliminaryResult): UIMessageChunk[] {
    if (this.#isEnded) return [];
    this.#hasPreview = true;
    return [{ type: 'tool-output-available', toolCallId, output, preliminary: true }];
  }

  end({ toolCallId }: ToolCall, outcome: ToolCallOutcome): UIMessageChunk[] {
    this.#isEnded = true;
    /* What the page was to bring is here: the mark goes. */
    const mark = this.#isClientTool ? { toolMetadata: {} } : {};
    switch (outcome.status) {
      case 'succeeded': {
        const { output } = outcome;
        return [...this.#pass(), { type: 'tool-output-available', toolCallId, output, ...mark }];
      }
      case 'failed': {
        /* What a page ran, failed there: it is the page's own text. */
        const errorText = this.#isClientTool
          ? outcome.error
          : toolErrorText(this.#options, outcome.error);
        return [...this.#pass(), { type: 'tool-output-error', toolCallId, errorText, ...mark }];
      }
      case 'denied':
        return [
          ...this.#deny(toolCallId, outcome.reason),
          { type: 'tool-output-denied', toolCallId },
        ];
      case 'forwarded': {
        /* What came of it the provider says in the next step. */
        const output = { status: outcome.status };
        return [{ type: 'tool-output-available', toolCallId, output, providerExecuted: true }];
      }
    }
  }

  /** The provider ran the call, and this is what came of it. */
  endWith(result: UIMessageChunk): UIMessageChunk[] {
    this.#isEnded = true;
    return [result];
  }

  /** How the call stands, when nothing more is told now: what is not recorded goes, and one that was approved shows its status. */
  settle({ toolCallId, status }: ToolCallRecord): UIMessageChunk[] {
    if (this.#isEnded) return [];
    if (this.#approved === undefined) return this.#hasPreview ? [this.#available] : [];
    if (this.#isClientTool && status === 'deferred') return [];
    return [{ type: 'tool-output-available', toolCallId, output: { status }, preliminary: true }];
  }

  /* A part with an output shows an approval that was given; of a question it only says that it was answered. */
  #pass(): UIMessageChunk[] {
    const request = this.#request;
    if (request?.type !== 'question-request' || this.#approved !== undefined) return [];
    return this.#respond(request.requestId, true);
  }

  /* A part that was denied shows an approval that was not given, also where a rule said no or the request was closed. */
  #deny(toolCallId: string, reason: string | undefined): UIMessageChunk[] {
    if (this.#approved === false) return [];
    if (this.#request !== undefined) return this.#respond(this.#request.requestId, false, reason);
    const approvalId = `automatic:${toolCallId}`;
    return [
      { type: 'tool-approval-request', approvalId, toolCallId, isAutomatic: true },
      ...this.#respond(approvalId, false, reason),
    ];
  }

  #respond(approvalId: string, approved: boolean, reason?: string): UIMessageChunk[] {
    this.#approved = approved;
    const why = reason === undefined ? {} : { reason };
    return [{ type: 'tool-approval-response', approvalId, approved, ...why }];
  }
}
