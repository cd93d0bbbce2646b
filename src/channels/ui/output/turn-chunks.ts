import type { UIMessageChunk } from 'ai';
import type { PreliminaryResult } from '../../../agent/calls.ts';
import type { ModelDelta } from '../../../agent/model.ts';
import type {
  CallPlace,
  ToolCall,
  ToolCallOutcome,
  ToolCallRecord,
} from '../../../content/tool-call.ts';
import type { CallsByPlace } from '../../../thread/calls-by-place.ts';
import type { ThreadEvent, ThreadEventOf } from '../../../thread/thread-event.ts';
import { CallChunks } from './call-chunks.ts';
import { RequestChunks } from './request-chunks.ts';
import { StepChunks } from './step-chunks.ts';
import { stepParts } from './step-parts.ts';
import type { ThreadViewOptions } from './thread-view-options.ts';
import { answerMessageChunk } from './user-ui-message.ts';

/** What a run streams and does not record. */
export type Provisional = ModelDelta | PreliminaryResult;

/**
 * The AI SDK's chunks for the events of one turn: used for runs here, for runs of other workers, and for past turns. Events about a call
 * or request that the page does not have give no chunks, because the AI SDK's pages throw for those.
 */
export class TurnChunks {
  readonly #options: ThreadViewOptions;
  readonly #steps: StepChunks;
  readonly #threadCalls: Pick<CallsByPlace, 'at'>;
  readonly #calls = new Map<string, CallChunks>();
  readonly #requests = new Map<string, RequestChunks>();

  constructor(threadCalls: Pick<CallsByPlace, 'at'>, options: ThreadViewOptions) {
    this.#options = options;
    this.#threadCalls = threadCalls;
    this.#steps = new StepChunks(options);
  }

  /** The chunks for what a run streams and does not record. */
  ofProvisional(event: Provisional): UIMessageChunk[] {
    if (event.type !== 'tool-result') return this.#steps.ofDelta(event);
    return this.#calls.get(event.toolCallId)?.preview(event) ?? [];
  }

  /** The chunks for an event of the thread, except for the message that begins the turn, which is not the assistant's. */
  ofEvent(event: ThreadEvent): UIMessageChunk[] {
    switch (event.type) {
      case 'step-finished':
        return this.#finishStep(event);
      case 'message-added':
        return answerMessageChunk(event.message);
      case 'request-opened':
        return this.#ask(event);
      case 'request-answered':
      case 'request-closed':
        return this.#endRequest(event);
      case 'request-voted':
        return this.#requestChunks(event.response.requestId)?.progress(event) ?? [];
      case 'vote-withdrawn':
      case 'request-reassigned':
        return this.#requestChunks(event.requestId)?.progress(event) ?? [];
      case 'call-deferred':
        return this.#shownCall(event)?.defer() ?? [];
      case 'call-ended': {
        const call = this.#threadCalls.at(event);
        return call === undefined ? [] : (this.#shownCall(event)?.end(call, event.outcome) ?? []);
      }
      case 'thread-created':
      case 'messages-imported':
      case 'agent-changed':
      case 'message-retracted':
      case 'run-started':
      case 'run-renewed':
      case 'stop-requested':
      case 'run-ended':
      case 'request-reminded':
      case 'answer-delivered':
      case 'grant-created':
      case 'grant-used':
      case 'grant-revoked':
      case 'call-started':
      case 'call-abandoned':
      case 'call-lost':
      case 'recovery-failed':
      case 'late-result':
        return [];
    }
  }

  /** The result of an imported call. */
  endImported(call: ToolCall, outcome: ToolCallOutcome): UIMessageChunk[] {
    return this.#calls.get(call.toolCallId)?.end(call, outcome) ?? [];
  }

  /** The page begins a message that has nothing of the turn so far. */
  forget(): void {
    this.#calls.clear();
    this.#requests.clear();
  }

  /** The page drops what was streamed of a step that is not recorded. */
  reset(): UIMessageChunk[] {
    return this.#steps.reset();
  }

  /** Shows calls that were answered and have not ended as in progress: otherwise the page would send the answer again and again. */
  showStatus(calls: readonly ToolCallRecord[]): UIMessageChunk[] {
    return calls.flatMap((call) => this.#calls.get(call.toolCallId)?.showStatus(call) ?? []);
  }

  #finishStep(event: ThreadEventOf<'step-finished'>): UIMessageChunk[] {
    const { parts, results } = stepParts(event, this.#options);
    for (const part of parts) {
      if (part.type !== 'tool') continue;
      const { toolCallId, toolName, available } = part;
      this.#calls.set(toolCallId, new CallChunks(available, toolName, this.#options));
    }
    const ended = results.flatMap(
      ({ toolCallId, chunk }) => this.#calls.get(toolCallId)?.endWith(chunk) ?? [],
    );
    return [...this.#steps.finish(parts), ...ended, { type: 'finish-step' }];
  }

  #ask({ request, place, beside }: ThreadEventOf<'request-opened'>): UIMessageChunk[] {
    if (place === undefined) {
      const chunks = new RequestChunks(request, beside && this.#threadCalls.at(beside));
      this.#requests.set(request.requestId, chunks);
      return chunks.ask();
    }
    const call = this.#threadCalls.at(place);
    return call === undefined ? [] : (this.#shownCall(place)?.ask(request, call) ?? []);
  }

  #endRequest(event: ThreadEventOf<'request-answered' | 'request-closed'>): UIMessageChunk[] {
    const requestId =
      event.type === 'request-answered' ? event.response.requestId : event.requestId;
    const aboutNoCall = this.#requests.get(requestId);
    if (aboutNoCall !== undefined) return aboutNoCall.end(event);
    /* What closed the request also ends its call or asks again, and the event of that is shown. */
    if (event.type === 'request-closed') return [];
    return this.#askedCall(requestId)?.answer(event) ?? [];
  }

  #requestChunks(requestId: string): RequestChunks | CallChunks | undefined {
    return this.#requests.get(requestId) ?? this.#askedCall(requestId);
  }

  #askedCall(requestId: string): CallChunks | undefined {
    return [...this.#calls.values()].find((call) => call.requestId === requestId);
  }

  #shownCall(place: CallPlace): CallChunks | undefined {
    return this.#calls.get(this.#threadCalls.at(place)?.toolCallId ?? '');
  }
}
