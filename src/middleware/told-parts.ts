import type { AgentResponse } from '../agent/agent-response.ts';
import type { AgentStreamEvent } from '../agent/agent-stream.ts';
import type { ProviderResponse, ProviderPart } from '../agent/model/collected-response.ts';
import type { ApprovalRequest } from '../content/approval.ts';
import type { CallPlace, ToolCall, ToolCallOutcome, ToolCallRecord } from '../content/tool-call.ts';
import type { Audience } from './audience.ts';
import { finishParts } from './finish-parts.ts';
import {
  endOfStep,
  isAbout,
  partsOfStep,
  type RecordedStep,
  stepsOfReply,
  textOfStep,
} from './recorded-steps.ts';
import { resultOf } from './said-parts.ts';
import { ToldBlocks } from './told-blocks.ts';

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
  readonly #blocks = new ToldBlocks();
  #steps = 0;
  #toldAnswer: ProviderResponse | undefined;
  /** Whether nothing has been told yet. */
  isSilent = true;
  /** What the model said last, where the run took no step and its reply is one of before. */
  recordedText: string | undefined;
  /** What the caller may have lost, not told yet. */
  #before: readonly RecordedStep[] | undefined;
  readonly #toldSteps = new Set<number>();

  constructor(audience: Audience) {
    this.#audience = audience;
    this.#usedIds = new Set(audience.thread.calls.map(({ toolCallId }) => toolCallId));
    this.#before = stepsOfReply(audience.thread, audience) ?? [];
  }

  /** The parts that tell of an event. */
  of(event: AgentStreamEvent): ProviderPart[] {
    const before = this.#before ? this.#lost(this.#before) : [];
    this.#before = undefined;
    const parts = [...before, ...this.#partsOf(event)];
    if (parts.length > 0) this.isSilent = false;
    return parts;
  }

  #partsOf(event: AgentStreamEvent): ProviderPart[] {
    switch (event.type) {
      case 'text-delta':
      case 'reasoning-delta':
      case 'text-start':
      case 'text-end':
      case 'reasoning-start':
      case 'reasoning-end':
        return [this.#blocks.of(event)];
      case 'tool-input-start':
        return this.#inputStart(event);
      case 'tool-input-delta':
      case 'tool-input-end':
        return this.#inputs.has(event.id) ? [event] : [];
      case 'source':
        return [event];
      case 'step-finished':
        this.#steps += 1;
        return [...this.#blocks.end(), ...this.#restOfAnswer()];
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
      case 'tool-result':
        /* As a result it would be taken for the last one: of what a provider runs, the AI SDK does not hear that it is preliminary. */
        return this.#audience.takesRaw ? [{ type: 'raw', rawValue: event }] : [];
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
    const answer = this.#audience.answer();
    /* A step that was stopped has no answer of its own. */
    const { content = [] } = (answer === this.#toldAnswer ? undefined : answer) ?? {};
    this.#toldAnswer = answer;
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
    const { answer, thread } = this.#audience;
    const reply = this.#steps > 0 ? undefined : stepsOfReply(thread, this.#audience);
    const last = reply?.at(-1);
    this.recordedText = last && textOfStep(last);
    const recorded = last && endOfStep(last);
    return [
      ...this.#lost(reply ?? []),
      ...response.approvalRequests
        .filter((request) => reply === undefined || isAbout(request, reply))
        .flatMap((request) => this.#openRequest(request)),
      ...finishParts(response, this.#steps === 0 ? recorded : answer()),
    ];
  }

  /** What was recorded before, for a caller who has lost the reply that told of it. */
  #lost(steps: readonly RecordedStep[]): ProviderPart[] {
    const { answered, thread } = this.#audience;
    const calls = thread.calls.filter(({ requestId = '' }) => answered.has(requestId));
    return [
      ...calls.flatMap((call) => (call.outcome ? this.#result(call, call.outcome) : [])),
      ...steps.flatMap((step) => this.#recorded(step)),
    ];
  }

  /** A step of before. What people are still asked about comes with its request. */
  #recorded(event: RecordedStep): ProviderPart[] {
    if (this.#toldSteps.has(event.step)) return [];
    this.#toldSteps.add(event.step);
    const { calls, activeApprovalRequests } = this.#audience.thread;
    const open = new Set(activeApprovalRequests.map(({ requestId }) => requestId));
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

  #isDynamic(toolName: string): boolean {
    return !this.#audience.callerTools.has(toolName);
  }
}
