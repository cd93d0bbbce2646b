import type { ModelDelta, PreliminaryResult } from '../../../agent.ts';
import type { UIMessageChunk } from 'ai';
import type { ToolCall, ToolCallRecord } from '../../../content/tool-call.ts';
import type { AgentThread } from '../../../thread/agent-thread.ts';
import { ApprovalIds } from '../../../view/approval-ids.ts';
import type { CallEnd, FinishedStepEvent, ViewItem } from '../../../view/thread-items.ts';
import type { ThreadViewOptions } from '../ui-handler-options.ts';
import { makeApprovalRequestChunk, CallChunks, RequestChunks } from './call-chunks.ts';
import { StepChunks, makeStepParts } from './step-chunks.ts';
import { answerMessageChunk } from './user-ui-message.ts';

/** The part of a run's stream that is not recorded. */
export type Provisional = ModelDelta | PreliminaryResult;

/**
 * The AI SDK's chunks of one turn: used for runs here, for runs of other workers, and for past turns. Events about a call
 * or request that the page does not have give no chunks, because the AI SDK's pages throw for those.
 */
export class TurnChunks {
  readonly #options: ThreadViewOptions;
  readonly #steps: StepChunks;
  readonly #calls = new Map<string, CallChunks>();
  readonly #asked = new Map<string, CallChunks>();
  readonly #requests = new Map<string, RequestChunks>();
  readonly #ids = new ApprovalIds();

  constructor(options: ThreadViewOptions) {
    this.#options = options;
    this.#steps = new StepChunks(options);
  }

  /** Makes the chunks of an event that is not recorded. */
  ofProvisional(event: Provisional): UIMessageChunk[] {
    if (event.type !== 'tool-result') return this.#steps.ofDelta(event);
    return this.#calls.get(event.toolCallId)?.preview(event) ?? [];
  }

  /** Makes the chunks of an event of the turn. */
  ofItem(item: ViewItem): UIMessageChunk[] {
    switch (item.type) {
      case 'step':
        return this.finishStep(item.event);
      case 'message':
        return answerMessageChunk(item.message);
      case 'request':
        return this.#ask(item);
      case 'request-progress':
        this.#ids.count(item.event);
        return this.#findRequest(item.requestId)?.progress(item.event) ?? [];
      case 'request-end':
        return this.#findRequest(item.requestId)?.endRequest(item.event) ?? [];
      case 'input-remade':
        return this.#calls.get(item.call.toolCallId)?.remake(item.input) ?? [];
      case 'call-deferred':
        return this.#calls.get(item.call.toolCallId)?.defer(item.call) ?? [];
      case 'call-ended':
        return this.endCall(item.call, item.end);
      case 'retraction':
      case 'call-started':
        return [];
    }
  }

  /** Shows the end of a call that the provider did not run. */
  endCall(call: Pick<ToolCall, 'toolCallId'>, end: CallEnd): UIMessageChunk[] {
    return this.#calls.get(call.toolCallId)?.end(call, end) ?? [];
  }

  /** Forgets the turn so far, as the page begins a new message. */
  forget(): void {
    this.#calls.clear();
    this.#asked.clear();
    this.#requests.clear();
  }

  /** Makes the page drop a streamed step that is not recorded. */
  reset(): UIMessageChunk[] {
    return this.#steps.reset();
  }

  /** Shows calls that were answered and have not ended as in progress: otherwise the page would send the answer again and again. */
  showStatus(calls: ReadonlyMap<string, ToolCallRecord>): UIMessageChunk[] {
    return [...this.#calls].flatMap(([toolCallId, chunks]) => {
      const call = calls.get(toolCallId);
      return call === undefined ? [] : chunks.showStatus(call);
    });
  }

  finishStep(step: Pick<FinishedStepEvent, 'message' | 'metadata'>): UIMessageChunk[] {
    const { parts, ends } = makeStepParts(step, this.#options);
    for (const part of parts) {
      if (part.type !== 'tool') continue;
      this.#calls.set(part.toolCallId, new CallChunks(part, this.#options, this.#ids));
    }
    const ended = ends.flatMap(
      ({ call, end }) => this.#calls.get(call.toolCallId)?.end(call, end, true) ?? [],
    );
    return [...this.#steps.finish(parts), ...ended, { type: 'finish-step' }];
  }

  #ask({ request, call, beside }: Extract<ViewItem, { type: 'request' }>): UIMessageChunk[] {
    const { requestId } = request;
    if (call === undefined) {
      const chunks = new RequestChunks(request, beside);
      this.#requests.set(requestId, chunks);
      return chunks.ask();
    }
    const chunks = this.#calls.get(call.toolCallId);
    if (chunks === undefined) return [];
    this.#asked.set(requestId, chunks);
    return chunks.ask(request, call);
  }

  /* A call that is asked about again shows only its latest request. */
  #findRequest(requestId: string): RequestChunks | CallChunks | undefined {
    const asked = this.#asked.get(requestId);
    return asked?.requestId === requestId ? asked : this.#requests.get(requestId);
  }
}

/** Shows the unended calls of the last step, with their open requests, as a step of a new message. */
export function openCallChunks(
  { events, calls, activeRequests }: AgentThread,
  options: ThreadViewOptions,
): UIMessageChunk[] {
  const step = events.findLast((event) => event.type === 'step-finished');
  if (step === undefined) return [];
  const ids = new ApprovalIds(events);
  const open = new Map(activeRequests.map((request) => [request.requestId, request]));
  const { parts } = makeStepParts(step, options);
  const own = new Map(
    calls.filter((call) => call.step === step.step).map((call) => [call.toolCallId, call]),
  );
  const chunks = parts.flatMap((part): UIMessageChunk[] => {
    if (part.type !== 'tool') return [];
    const call = own.get(part.toolCallId);
    if (call === undefined || call.outcome !== undefined) return [];
    const request = open.get(call.requestId ?? '');
    const available = { ...part.available, input: request?.toolCall?.input ?? call.input };
    return request === undefined
      ? [available]
      : [available, makeApprovalRequestChunk(request, ids)];
  });
  return [{ type: 'start-step' }, ...chunks, { type: 'finish-step' }];
}
