import type { UIMessageChunk } from 'ai';
import type { PreliminaryResult } from '../../../agent/calls/execute-call.ts';
import type { ModelDelta } from '../../../agent/model/streaming-model.ts';
import type { CallPlace, ToolCallRecord } from '../../../content/tool-call.ts';
import type { ThreadEvent, ThreadEventOf } from '../../../thread/thread-event.ts';
import { answerMessageChunk } from './user-ui-message.ts';
import { CallChunks } from './call-chunks.ts';
import { RequestChunks } from './request-chunks.ts';
import { stepParts } from './step-parts.ts';
import { StepChunks } from './step-chunks.ts';
import type { ThreadViewOptions } from './thread-view-options.ts';

/** What a run streams and does not record. */
export type Provisional = ModelDelta | PreliminaryResult;

/** Finds a call of the thread. */
export type CallLookup = (place: CallPlace) => ToolCallRecord | undefined;

/**
 * Says what happens in one turn of a thread as the AI SDK's chunks for a page: the one translation for runs, for runs of other
 * workers, and for the past. What is about a call or request that the page was not told of says nothing: a page breaks over those.
 */
export class TurnChunks {
  readonly #options: ThreadViewOptions;
  readonly #steps: StepChunks;
  readonly #callAt: CallLookup;
  readonly #calls = new Map<string, CallChunks>();
  readonly #requests = new Map<string, RequestChunks>();

  constructor(callAt: CallLookup, options: ThreadViewOptions) {
    this.#options = options;
    this.#callAt = callAt;
    this.#steps = new StepChunks(options);
  }

  /** Whether something that is about no call, or asked beside one, waits for its answer, which may come in a later turn. */
  get isAsking(): boolean {
    return [...this.#requests.values()].some(({ isOpen }) => isOpen);
  }

  /** What the model is saying, or what a tool has so far. */
  fromDelta(news: Provisional): UIMessageChunk[] {
    if (news.type !== 'tool-result') return this.#steps.fromDelta(news);
    return this.#calls.get(news.toolCallId)?.preview(news) ?? [];
  }

  /** What happened. The message that begins the turn is not told here: it is not the assistant's. */
  tell(event: ThreadEvent): UIMessageChunk[] {
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
      case 'call-deferred':
        return this.#callTold(event)?.defer() ?? [];
      case 'call-ended': {
        const call = this.#callAt(event);
        return call === undefined ? [] : (this.#callTold(event)?.end(call, event.outcome) ?? []);
      }
      default:
        return [];
    }
  }

  /** The page has a message before it in which nothing of the turn so far is. */
  forget(): void {
    this.#calls.clear();
    this.#requests.clear();
  }

  /** The page forgets what it was told of a step that is not recorded. */
  reset(): UIMessageChunk[] {
    return this.#steps.reset();
  }

  /**
   * Shows calls that were answered and have not ended as under way: a page that sees an answer and no more of it sends it again,
   * for ever.
   */
  settle(calls: readonly ToolCallRecord[]): UIMessageChunk[] {
    return calls.flatMap((call) => this.#calls.get(call.toolCallId)?.settle(call) ?? []);
  }

  #finishStep(event: ThreadEventOf<'step-finished'>): UIMessageChunk[] {
    const content = stepParts(event, this.#options);
    for (const piece of content.parts) {
      if (piece.type !== 'tool') continue;
      const { toolCallId, toolName, available } = piece;
      this.#calls.set(toolCallId, new CallChunks(available, toolName, this.#options));
    }
    const results = content.results.flatMap(
      ({ toolCallId, chunk }) => this.#calls.get(toolCallId)?.endWith(chunk) ?? [],
    );
    return [...this.#steps.finish(content.parts), ...results, { type: 'finish-step' }];
  }

  #ask({ request, place, beside }: ThreadEventOf<'request-opened'>): UIMessageChunk[] {
    if (place === undefined) {
      const turnChunks = new RequestChunks(request, beside && this.#callAt(beside));
      this.#requests.set(request.requestId, turnChunks);
      return turnChunks.ask();
    }
    const call = this.#callAt(place);
    return call === undefined ? [] : (this.#callTold(place)?.ask(request, call) ?? []);
  }

  #endRequest(event: ThreadEventOf<'request-answered' | 'request-closed'>): UIMessageChunk[] {
    const requestId =
      event.type === 'request-answered' ? event.response.requestId : event.requestId;
    const aboutNoCall = this.#requests.get(requestId);
    if (aboutNoCall !== undefined) return aboutNoCall.end(event);
    /* What closes a request ends its call, or asks anew, and that is what is told. */
    if (event.type === 'request-closed') return [];
    const asked = [...this.#calls.values()].find((call) => call.requestId === requestId);
    return asked?.answer(event.response) ?? [];
  }

  #callTold(place: CallPlace): CallChunks | undefined {
    return this.#calls.get(this.#callAt(place)?.toolCallId ?? '');
  }
}
