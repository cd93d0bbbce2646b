import type { ProviderResponse, ProviderPart, AgentResponse, AgentStreamEvent } from '../agent.ts';
import type { LanguageModelUsage } from 'ai';
import { z } from 'zod';
import type { AgentThread } from '../thread/agent-thread.ts';
import type { ThreadEvent } from '../thread/thread-event.ts';
import { CallsByPlace } from '../thread/calls-by-place.ts';
import { readItem, type FinishedStepEvent } from '../view/thread-items.ts';
import type { TextDelta } from '../view/streamed-step.ts';
import { findReplySteps, type ReplyKey } from './new-input.ts';
import {
  CallParts,
  type CallerView,
  belongsToSteps,
  endOfStep,
  convertStep,
  type ResponseEnd,
  readStepText,
  makeWholeBlock,
} from './recorded-parts.ts';

type FinishPart = Extract<ProviderPart, { type: 'finish' }>;
type InputStart = Extract<AgentStreamEvent, { type: 'tool-input-start' }>;

/** The run whose events are converted, and the caller who gets the parts. */
interface RunPartsOptions extends ReplyKey, CallerView {
  thread: AgentThread;
  /** True if the caller accepts `raw` parts. */
  includeRaw: boolean;
  /** The model's latest response. */
  response: () => ProviderResponse | undefined;
  /** Converts an error of the run to the one that the caller gets. */
  failure: (error: unknown) => unknown;
}

const requestsSchema = z.array(z.json());

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
  /** True if there have been any parts yet. */
  hasParts = false;
  /** True if the reply only reports the open requests, instead of replying to the prompt's last message. */
  isUnsaid = false;
  /** The text of the recorded reply, if the run itself took no step. */
  recordedText: string | undefined;
  /** The recorded steps to repeat before the first event: the caller may have lost them. */
  #unsentSteps: readonly FinishedStepEvent[] | undefined;
  readonly #sentSteps = new Set<number>();
  readonly #records = new CallsByPlace();
  /** The revision at which the calls were read. */
  #known = 0;

  constructor(options: RunPartsOptions) {
    this.#options = options;
    this.#calls = new CallParts(options);
    this.#usedIds = new Set(options.thread.calls.map(({ toolCallId }) => toolCallId));
    this.#unsentSteps = findReplySteps(options.thread, options) ?? [];
  }

  /** Converts an event to parts. */
  of(event: AgentStreamEvent): ProviderPart[] {
    const recorded = this.#unsentSteps ? this.#recordedReply(this.#unsentSteps) : [];
    this.#unsentSteps = undefined;
    const parts = [...recorded, ...this.#partsOf(event)];
    if (parts.length > 0) this.hasParts = true;
    return parts;
  }

  #partsOf(event: AgentStreamEvent): ProviderPart[] {
    if ('at' in event) return this.#ofRecorded(event);
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
      case 'tool-result':
        /* Only as `raw`: the AI SDK ignores `preliminary` on results of the provider and would take this one for the last. */
        return this.#options.includeRaw ? [{ type: 'raw', rawValue: event }] : [];
      case 'finish':
        return this.#end(event.response);
      case 'error':
        return [
          ...this.#refusedRequests(),
          { type: 'error', error: this.#options.failure(event.error) },
        ];
    }
  }

  #ofRecorded(event: ThreadEvent): ProviderPart[] {
    const { thread } = this.#options;
    if (thread.revision > this.#known) this.#records.update(thread.calls);
    this.#known = thread.revision;
    const item = readItem(event, this.#records);
    switch (item?.type) {
      case 'step':
        this.#steps += 1;
        return [...this.#blocks.end(), ...this.#restOfResponse()];
      case 'request':
        if (item.call === undefined) return [];
        return item.request.type === 'approval-request'
          ? this.#calls.ofRequest(item.request, item.call)
          : this.#calls.ofCall(item.call);
      case 'call-started':
      case 'call-deferred':
        return this.#calls.ofCall(item.call);
      case 'call-ended':
        return this.#calls.ofEnd(item.call, item.end);
      case 'message':
      case 'retraction':
      case 'request-progress':
      case 'request-end':
      case 'input-remade':
      case undefined:
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

  /**
   * Lists the response's content without text, sources and our calls. It is sent once the step is recorded, because a step may be retried.
   */
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

  #end(response: AgentResponse): ProviderPart[] {
    const { response: latest, thread } = this.#options;
    const reply = this.#steps > 0 ? undefined : findReplySteps(thread, this.#options);
    const last = reply?.at(-1);
    this.recordedText = last && readStepText(last);
    const recorded = last && endOfStep(last);
    return [
      ...this.#recordedReply(reply ?? []),
      ...(this.isUnsaid ? makeWholeBlock('text', 'unsaid', unsaidText) : []),
      ...response.approvalRequests
        .filter((request) => reply === undefined || belongsToSteps(request, reply))
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
  #recordedReply(steps: readonly FinishedStepEvent[]): ProviderPart[] {
    const { answered, thread } = this.#options;
    const calls = thread.calls.filter(({ requestId = '' }) => answered.has(requestId));
    return [
      ...calls.flatMap((call) => (call.outcome ? this.#calls.ofEnd(call, call.outcome) : [])),
      ...steps.flatMap((step) => this.#recordedStep(step)),
    ];
  }

  /** A recorded step. Calls with an open request are sent together with the request. */
  #recordedStep(event: FinishedStepEvent): ProviderPart[] {
    if (this.#sentSteps.has(event.step)) return [];
    this.#sentSteps.add(event.step);
    const { calls, activeApprovalRequests } = this.#options.thread;
    const open = new Set(activeApprovalRequests.map(({ requestId }) => requestId));
    return [
      ...convertStep(event).flatMap((part) => this.#calls.ofProvider(part)),
      ...calls
        .filter(({ step }) => step === event.step)
        .filter(({ requestId = '' }) => !open.has(requestId))
        .flatMap((call) => [
          ...this.#calls.ofCall(call),
          ...(call.outcome ? this.#calls.ofEnd(call, call.outcome) : []),
        ]),
    ];
  }
}

/**
 * The text and reasoning blocks of a run as stream parts. Providers restart their block ids in every response; a run combines several
 * responses into one stream, so the ids are made unique.
 */
class BlockParts {
  readonly #open = new Map<string, 'text-end' | 'reasoning-end'>();
  #responses = 0;

  /** Converts a delta to its part. */
  of(event: TextDelta): ProviderPart {
    const id = `${this.#responses}.${event.id}`;
    switch (event.type) {
      case 'text-delta':
      case 'reasoning-delta': {
        const { type, text: delta, providerMetadata } = event;
        return { type, id, delta, providerMetadata };
      }
      case 'text-start':
        this.#open.set(id, 'text-end');
        return { ...event, id };
      case 'reasoning-start':
        this.#open.set(id, 'reasoning-end');
        return { ...event, id };
      case 'text-end':
      case 'reasoning-end':
        this.#open.delete(id);
        return { ...event, id };
    }
  }

  /** Ends the response and closes the blocks that an aborted response left open. */
  end(): ProviderPart[] {
    const ends = [...this.#open].map(([id, type]): ProviderPart => ({ type, id }));
    this.#open.clear();
    this.#responses += 1;
    return ends;
  }
}

/** The last parts of a run. `end` is that of the model's last response, in this run or recorded before it. */
function finishParts(response: AgentResponse, end: ResponseEnd | undefined): ProviderPart[] {
  const { id, timestamp, modelId } = end?.response ?? {};
  const { status, thread, usage, userInputRequests } = response;
  const requests = requestsSchema.parse(JSON.parse(JSON.stringify(userInputRequests)));
  return [
    { type: 'response-metadata', id, timestamp, modelId },
    {
      type: 'finish',
      finishReason: toFinishReason(status, end),
      usage: toProviderUsage(usage),
      providerMetadata: {
        ...end?.providerMetadata,
        holdpoint: { threadId: thread.id, status, requests },
      },
    },
  ];
}

function toFinishReason(
  status: AgentResponse['status'],
  end: ResponseEnd | undefined,
): FinishPart['finishReason'] {
  switch (status) {
    case 'completed':
      return end?.finishReason ?? { unified: 'stop', raw: undefined };
    case 'waiting':
    case 'max-steps':
      return { unified: 'tool-calls', raw: status };
    case 'running':
    case 'indeterminate':
    case 'stuck':
    case 'cancelled':
      return { unified: 'other', raw: status };
  }
}

function toProviderUsage(usage: LanguageModelUsage | undefined): FinishPart['usage'] {
  const { inputTokenDetails: input, outputTokenDetails: output } = usage ?? {};
  return {
    inputTokens: {
      total: usage?.inputTokens,
      noCache: input?.noCacheTokens,
      cacheRead: input?.cacheReadTokens,
      cacheWrite: input?.cacheWriteTokens,
    },
    outputTokens: {
      total: usage?.outputTokens,
      text: output?.textTokens,
      reasoning: output?.reasoningTokens,
    },
  };
}
