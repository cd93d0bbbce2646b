import type { AgentResponse } from '../agent/agent-response.ts';
import type { AgentStreamEvent } from '../agent/agent-stream.ts';
import type { ProviderAnswer, ProviderPart } from '../agent/collected-answer.ts';
import type { ApprovalRequest } from '../content/approval.ts';
import type { CallPlace, ToolCall, ToolCallOutcome, ToolCallRecord } from '../content/tool-call.ts';
import type { AgentThread } from '../thread/agent-thread.ts';
import { finishParts } from './finish-parts.ts';
import {
  type AnswerEnd,
  endOfStep,
  isAbout,
  partsOfStep,
  type RecordedStep,
  stepsOfReply,
  textOfStep,
} from './recorded-steps.ts';
import { blockParts, resultOf } from './said-parts.ts';

/** What a caller is to be told of a run, and what they know before. */
export interface Audience {
  thread: AgentThread;
  /** The names of the tools that the caller has beside the model. */
  callerTools: ReadonlySet<string>;
  /** The requests that the prompt answered. */
  answered: ReadonlySet<string>;
  /** The ones among them that it rejected: the AI SDK says so to the caller itself. */
  rejected: ReadonlySet<string>;
  /** The calls that the caller has before their eyes, to which results may be told alone. */
  shownCalls: ReadonlySet<string>;
  /** The caller's id for the message of the call. */
  messageId: string | undefined;
  /** The model's latest answer. */
  answer: () => ProviderAnswer | undefined;
  /** An error of the run, as the caller gets it. */
  failure: (error: unknown) => unknown;
}

type InputStart = Extract<AgentStreamEvent, { type: 'tool-input-start' }>;

/** Tells a run in the parts of a provider's stream: calls and results as those of tools that ran at the provider. */
export class ToldParts {
  readonly #audience: Audience;
  /** Ids of calls whose inputs must not be told again. */
  readonly #usedIds: Set<string>;
  readonly #calls = new Set<string>();
  readonly #results = new Set<string>();
  readonly #requests = new Set<string>();
  readonly #inputs = new Set<string>();
  #steps = 0;
  /** Whether nothing has been told yet. */
  isSilent = true;
  /** What the model said last, where the end told of a reply of before. */
  recordedText: string | undefined;

  constructor(audience: Audience) {
    this.#audience = audience;
    this.#usedIds = new Set(audience.thread.calls.map(({ toolCallId }) => toolCallId));
  }

  /** The parts that tell of an event. */
  of(event: AgentStreamEvent): ProviderPart[] {
    const parts = this.#partsOf(event);
    if (parts.length > 0) this.isSilent = false;
    return parts;
  }

  #partsOf(event: AgentStreamEvent): ProviderPart[] {
    switch (event.type) {
      case 'text-delta':
      case 'reasoning-delta': {
        const { type, text: delta, providerMetadata } = event;
        return [{ type, id: this.#blockId(event.id), delta, providerMetadata }];
      }
      case 'text-start':
      case 'text-end':
      case 'reasoning-start':
      case 'reasoning-end':
        return [{ ...event, id: this.#blockId(event.id) }];
      case 'tool-input-start':
        return this.#inputStart(event);
      case 'tool-input-delta':
      case 'tool-input-end':
        return this.#inputs.has(event.id) ? [event] : [];
      case 'source':
        return [event];
      case 'step-finished':
        this.#steps += 1;
        return this.#restOfAnswer();
      case 'request-opened': {
        const call = event.place && this.#callAt(event.place);
        if (event.request.type !== 'approval-request') return call ? this.#call(call) : [];
        return call ? this.#request(event.request, call) : [];
      }
      case 'call-started':
      case 'call-deferred': {
        const call = this.#callAt(event);
        return call ? this.#call(call) : [];
      }
      case 'call-ended': {
        const call = this.#callAt(event);
        return call ? this.#result(call, event.outcome) : [];
      }
      case 'finish':
        return this.#end(event.response);
      case 'error':
        return [{ type: 'error', error: this.#audience.failure(event.error) }];
      default:
        return [];
    }
  }

  /* Providers begin to count anew at each step, and the caller sees one. */
  #blockId(id: string): string {
    return `${this.#steps}.${id}`;
  }

  /** A call whose id was used before is recorded under another one: its input is not told before it is. */
  #inputStart(event: InputStart): ProviderPart[] {
    const { id, toolName } = event;
    this.#inputs.delete(id);
    if (this.#usedIds.has(id)) return [];
    this.#usedIds.add(id);
    this.#inputs.add(id);
    return [{ ...event, providerExecuted: true, dynamic: this.#isDynamic(toolName) }];
  }

  /** What the model said beside text and calls of ours: it is told when the step is recorded, as a step may be tried twice. */
  #restOfAnswer(): ProviderPart[] {
    const { content = [] } = this.#audience.answer() ?? {};
    const requests = content.filter((part) => part.type === 'tool-approval-request');
    const asked = new Set(requests.map(({ toolCallId }) => toolCallId));
    return content.flatMap((part): ProviderPart[] => {
      switch (part.type) {
        case 'file':
        case 'reasoning-file':
        case 'custom':
        case 'tool-result':
          return this.#atProvider(part);
        case 'tool-call':
          /* One that is asked about is told as it is recorded, maybe under another id. */
          if (part.providerExecuted !== true || asked.has(part.toolCallId)) return [];
          return this.#atProvider(part);
        default:
          return [];
      }
    });
  }

  /** A part that the provider made, with what the caller needs to know of its tool. */
  #atProvider(part: ProviderPart): ProviderPart[] {
    if (part.type !== 'tool-call' && part.type !== 'tool-result') return [part];
    if (part.type === 'tool-call') this.#calls.add(part.toolCallId);
    /* The result of a call in an earlier run, which this caller can't place. */
    if (!this.#calls.has(part.toolCallId)) return [];
    return [{ ...part, dynamic: this.#isDynamic(part.toolName) }];
  }

  #callAt({ step, index }: CallPlace): ToolCallRecord | undefined {
    return this.#audience.thread.calls.findLast(
      (call) => call.step === step && call.index === index,
    );
  }

  /** The call, unless the caller has it. */
  #call(call: ToolCall, isShown = this.#audience.shownCalls.has(call.toolCallId)): ProviderPart[] {
    const { toolCallId, toolName, input } = call;
    if (isShown || this.#calls.has(toolCallId)) return [];
    this.#calls.add(toolCallId);
    const dynamic = this.#isDynamic(toolName);
    const text = JSON.stringify(input);
    return [
      { type: 'tool-call', toolCallId, toolName, input: text, providerExecuted: true, dynamic },
    ];
  }

  /** The request, beside its call: the AI SDK looks for the call in the same answer. */
  #request({ requestId: approvalId }: ApprovalRequest, call: ToolCall): ProviderPart[] {
    const { toolCallId } = call;
    this.#requests.add(approvalId);
    return [...this.#call(call, false), { type: 'tool-approval-request', approvalId, toolCallId }];
  }

  #result(call: ToolCallRecord, outcome: ToolCallOutcome): ProviderPart[] {
    const { toolCallId, toolName, requestId = '' } = call;
    if (this.#results.has(toolCallId)) return [];
    this.#results.add(toolCallId);
    /* What a call comes to that the provider runs is in what the model says next. */
    if (outcome.status === 'forwarded') return [];
    if (outcome.status === 'denied' && this.#audience.rejected.has(requestId)) return [];
    const dynamic = this.#isDynamic(toolName);
    return [
      ...this.#call(call),
      { type: 'tool-result', toolCallId, toolName, dynamic, ...resultOf(outcome) },
    ];
  }

  #end(response: AgentResponse): ProviderPart[] {
    const { thread, answer, messageId } = this.#audience;
    const reply =
      messageId === undefined || this.#steps > 0 ? undefined : stepsOfReply(thread, messageId);
    const last = reply?.at(-1);
    const open = new Set(response.approvalRequests.map(({ requestId }) => requestId));
    this.recordedText = last && textOfStep(last);
    const recorded = last && endOfStep(last);
    const end: AnswerEnd | undefined = this.#steps === 0 ? recorded : answer();
    return [
      ...this.#outcomesOfAnswers(response, reply === undefined),
      ...(reply ?? []).flatMap((step) => this.#recorded(step, open)),
      ...response.approvalRequests
        .filter((request) => reply === undefined || isAbout(request, reply))
        .flatMap((request) => this.#openRequest(request)),
      ...finishParts(response, end),
    ];
  }

  /** A step of before, for a caller who has lost the reply that told of it. What people are still asked about comes with its request. */
  #recorded(event: RecordedStep, open: ReadonlySet<string>): ProviderPart[] {
    const { calls } = this.#audience.thread;
    return [
      ...partsOfStep(event).flatMap((part) => this.#atProvider(part)),
      ...calls
        .filter(({ step }) => step === event.step)
        .filter(({ requestId = '' }) => !open.has(requestId))
        .flatMap((call) => [
          ...this.#call(call),
          ...(call.outcome ? this.#result(call, call.outcome) : []),
        ]),
    ];
  }

  /** What is still open from before, for a caller who does not have it before their eyes. */
  #openRequest(request: ApprovalRequest): ProviderPart[] {
    const { requestId, toolCall } = request;
    if (toolCall === undefined || this.#requests.has(requestId)) return [];
    return this.#audience.shownCalls.has(toolCall.toolCallId)
      ? []
      : this.#request(request, toolCall);
  }

  /** An answer that was recorded before gives what it came to, as the first reply may have been lost. */
  #outcomesOfAnswers({ thread, status, text }: AgentResponse, withText: boolean): ProviderPart[] {
    const { answered } = this.#audience;
    if (answered.size === 0 || this.#steps > 0) return [];
    const calls = thread.calls.filter(({ requestId = '' }) => answered.has(requestId));
    const results = calls.flatMap((call) => (call.outcome ? this.#result(call, call.outcome) : []));
    const isText = withText && status === 'completed' && text !== '';
    return isText ? [...results, ...blockParts('text', 'recorded', text)] : results;
  }

  #isDynamic(toolName: string): boolean {
    return !this.#audience.callerTools.has(toolName);
  }
}
