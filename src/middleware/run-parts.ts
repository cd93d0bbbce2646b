import type { AgentResponse } from '../agent/agent-response.ts';
import type { AgentStreamEvent } from '../agent/agent-stream.ts';
import type { ProviderPart, ProviderResponse } from '../agent/model.ts';
import type { CallPlace, ToolCallRecord } from '../content/tool-call.ts';
import type { AgentThread } from '../thread/agent-thread.ts';
import { BlockParts, wholeBlock } from './block-parts.ts';
import { CallParts, type CallerView } from './call-parts.ts';
import { finishParts } from './finish-parts.ts';
import {
  belongsTo,
  endOfStep,
  partsOfStep,
  type RecordedStep,
  type ReplyKey,
  stepsOfReply,
  textOfStep,
} from './recorded-steps.ts';

type InputStart = Extract<AgentStreamEvent, { type: 'tool-input-start' }>;

/** The run whose events are converted, and the caller who gets the parts. */
export interface RunPartsOptions extends ReplyKey, CallerView {
  thread: AgentThread;
  /** Whether the caller accepts `raw` parts. */
  includeRaw: boolean;
  /** The model's latest response. */
  response: () => ProviderResponse | undefined;
  /** Converts an error of the run to the one that the caller gets. */
  failure: (error: unknown) => unknown;
}

const unsaidText =
  'This message was not recorded, because an approval is still open. Answer it, then send the message again.';

/** Converts the events of a run to the parts of a provider's stream: calls and results become those of tools that ran at the provider. */
export class RunParts {
  readonly #options: RunPartsOptions;
  /** The ids of calls whose inputs must not be streamed again. */
  readonly #usedIds: Set<string>;
  readonly #inputs = new Set<string>();
  readonly #calls: CallParts;
  readonly #blocks = new BlockParts();
  #steps = 0;
  #sentResponse: ProviderResponse | undefined;
  /** Whether there have been any parts yet. */
  hasParts = false;
  /** Whether the reply is that requests are still open, in place of a reply to the prompt's last message. */
  isUnsaid = false;
  /** The text of the recorded reply, if the run itself took no step. */
  recordedText: string | undefined;
  /** The recorded steps to repeat before the first event: the caller may have lost them. */
  #unsentSteps: readonly RecordedStep[] | undefined;
  readonly #sentSteps = new Set<number>();

  constructor(options: RunPartsOptions) {
    this.#options = options;
    this.#calls = new CallParts(options);
    this.#usedIds = new Set(options.thread.calls.map(({ toolCallId }) => toolCallId));
    this.#unsentSteps = stepsOfReply(options.thread, options) ?? [];
  }

  /** The parts for an event. */
  of(event: AgentStreamEvent): ProviderPart[] {
    const recorded = this.#unsentSteps ? this.#recordedReply(this.#unsentSteps) : [];
    this.#unsentSteps = undefined;
    const parts = [...recorded, ...this.#partsOf(event)];
    if (parts.length > 0) this.hasParts = true;
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
        return [...this.#blocks.end(), ...this.#restOfResponse()];
      case 'request-opened': {
        const call = event.place && this.#callAt(event.place);
        if (call === undefined) return [];
        return event.request.type === 'approval-request'
          ? this.#calls.ofRequest(event.request, call)
          : this.#calls.ofCall(call);
      }
      case 'call-started':
      case 'call-deferred': {
        const call = this.#callAt(event);
        return call ? this.#calls.ofCall(call) : [];
      }
      case 'tool-result':
        /* Only as `raw`: the AI SDK ignores `preliminary` on results of the provider and would take this one for the last. */
        return this.#options.includeRaw ? [{ type: 'raw', rawValue: event }] : [];
      case 'call-ended': {
        const call = this.#callAt(event);
        return call ? this.#calls.ofOutcome(call, event.outcome) : [];
      }
      case 'finish':
        return this.#end(event.response);
      case 'error':
        return [
          ...this.#refusedRequests(),
          { type: 'error', error: this.#options.failure(event.error) },
        ];
      case 'thread-created':
      case 'messages-imported':
      case 'agent-changed':
      case 'message-added':
      case 'message-retracted':
      case 'run-started':
      case 'run-renewed':
      case 'stop-requested':
      case 'run-ended':
      case 'request-answered':
      case 'request-closed':
      case 'request-voted':
      case 'vote-withdrawn':
      case 'request-reassigned':
      case 'request-reminded':
      case 'answer-delivered':
      case 'grant-created':
      case 'grant-used':
      case 'grant-revoked':
      case 'call-abandoned':
      case 'call-lost':
      case 'recovery-failed':
      case 'late-result':
        return [];
    }
  }

  /** A call that reuses an id is recorded under a new one, so its input is not streamed before the call is recorded. */
  #inputStart(event: InputStart): ProviderPart[] {
    const { id, toolName } = event;
    this.#inputs.delete(id);
    if (this.#usedIds.has(id)) return [];
    this.#usedIds.add(id);
    this.#inputs.add(id);
    return [{ ...event, providerExecuted: true, dynamic: this.#calls.isDynamic(toolName) }];
  }

  /** The response's content besides text, sources and our calls. Sent once the step is recorded, because a step may be retried. */
  #restOfResponse(): ProviderPart[] {
    const response = this.#options.response();
    /* A step that was stopped has no response; the latest one is that of the step before. */
    const { content = [] } = (response === this.#sentResponse ? undefined : response) ?? {};
    this.#sentResponse = response;
    const requests = content.filter((part) => part.type === 'tool-approval-request');
    const requested = new Set(requests.map(({ toolCallId }) => toolCallId));
    return content.flatMap((part): ProviderPart[] => {
      switch (part.type) {
        case 'file':
        case 'reasoning-file':
        case 'custom':
        case 'tool-result':
          return this.#calls.ofProvider(part);
        case 'tool-call':
          /* A call with an approval request is sent as it is recorded, possibly under another id. */
          if (part.providerExecuted !== true || requested.has(part.toolCallId)) return [];
          return this.#calls.ofProvider(part);
        case 'text':
        case 'reasoning':
        case 'source':
        case 'tool-approval-request':
        default:
          return [];
      }
    });
  }

  #callAt({ step, index }: CallPlace): ToolCallRecord | undefined {
    return this.#options.thread.calls.findLast(
      (call) => call.step === step && call.index === index,
    );
  }

  #end(response: AgentResponse): ProviderPart[] {
    const { response: latest, thread } = this.#options;
    const reply = this.#steps > 0 ? undefined : stepsOfReply(thread, this.#options);
    const last = reply?.at(-1);
    this.recordedText = last && textOfStep(last);
    const recorded = last && endOfStep(last);
    return [
      ...this.#recordedReply(reply ?? []),
      ...(this.isUnsaid ? wholeBlock('text', 'unsaid', unsaidText) : []),
      ...response.approvalRequests
        .filter((request) => reply === undefined || belongsTo(request, reply))
        .flatMap((request) => this.#calls.ofOpenRequest(request)),
      ...finishParts(response, this.#steps === 0 ? recorded : latest()),
    ];
  }

  /** The requests whose answers were refused, for a caller who shows them as answered. */
  #refusedRequests(): ProviderPart[] {
    const { answered, thread } = this.#options;
    return thread.activeApprovalRequests
      .filter(({ requestId }) => answered.has(requestId))
      .flatMap((request) => this.#calls.ofOpenRequest(request));
  }

  /** The recorded reply, for a caller who may have lost the response that contained it. */
  #recordedReply(steps: readonly RecordedStep[]): ProviderPart[] {
    const { answered, thread } = this.#options;
    const calls = thread.calls.filter(({ requestId = '' }) => answered.has(requestId));
    return [
      ...calls.flatMap((call) => (call.outcome ? this.#calls.ofOutcome(call, call.outcome) : [])),
      ...steps.flatMap((step) => this.#recordedStep(step)),
    ];
  }

  /** A recorded step. Calls with an open request are sent together with the request. */
  #recordedStep(event: RecordedStep): ProviderPart[] {
    if (this.#sentSteps.has(event.step)) return [];
    this.#sentSteps.add(event.step);
    const { calls, activeApprovalRequests } = this.#options.thread;
    const open = new Set(activeApprovalRequests.map(({ requestId }) => requestId));
    return [
      ...partsOfStep(event).flatMap((part) => this.#calls.ofProvider(part)),
      ...calls
        .filter(({ step }) => step === event.step)
        .filter(({ requestId = '' }) => !open.has(requestId))
        .flatMap((call) => [
          ...this.#calls.ofCall(call),
          ...(call.outcome ? this.#calls.ofOutcome(call, call.outcome) : []),
        ]),
    ];
  }
}
