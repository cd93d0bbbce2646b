import type { FinishReason, UIMessageChunk } from 'ai';
import type { AgentResponse } from '../../../agent/agent-response.ts';
import type { AgentStreamEvent } from '../../../agent/agent-stream.ts';
import { publicErrorText, refusalText } from '../../../http/error-response.ts';
import type { AgentThread } from '../../../thread/agent-thread.ts';
import { CallsByPlace } from '../../../thread/calls-by-place.ts';
import type { ThreadEvent } from '../../../thread/thread-event.ts';
import type { ThreadViewOptions } from './thread-view-options.ts';
import { type Provisional, TurnChunks } from './turn-chunks.ts';
import { messageIdOf, turnAt, TurnFinder } from '../../../view/turns.ts';

/** What the page already shows, which decides where its stream begins. */
export type PagePosition =
  /** Nothing of the turn at the revision `turn`, by default the last. `isRegenerate`: a person asked for its reply again. */
  | { type: 'nothing'; turn?: number; isRegenerate?: boolean }
  /** The turn up to `revision`, by default the current one. The outcomes of the requests in `answers` are streamed as well. */
  | {
      type: 'message';
      revision?: number | undefined;
      answers: readonly string[];
      /** Whether the page is known to have the message, whose id it then keeps. */
      isHeld: boolean;
    }
  /** A new message, below the one that has shown the turn so far. */
  | { type: 'new-message' };

const replyIsRecorded =
  "This reply is part of the record and can't be written again; send a new message.";

/* Those that the AI SDK's pages know. */
const finishReasons: readonly FinishReason[] = [
  'stop',
  'length',
  'content-filter',
  'tool-calls',
  'error',
  'interrupted',
  'other',
];

/** The chunks of a page's stream, from what the page already shows to the end of that turn. */
export class ThreadChunks {
  readonly #options: ThreadViewOptions;
  readonly #calls = new CallsByPlace();
  readonly #turnChunks: TurnChunks;
  /** The revision of the first event of the turn. */
  #turn = 1;
  /** The revision of the last event that the page has. */
  #revision = 0;
  /** The finish reason of the turn's last step. */
  #finishReason: string | undefined;
  #isStopped = false;
  readonly #turns = new TurnFinder();
  #isStale = false;

  constructor(options: ThreadViewOptions) {
    this.#options = options;
    this.#turnChunks = new TurnChunks(this.#calls, options);
  }

  /** The beginning, and all that the page does not show yet. `before` is the thread's revision when the page's request arrived. */
  *begin(
    thread: AgentThread,
    position: PagePosition,
    before: number,
  ): Generator<UIMessageChunk, void> {
    const { events, revision } = thread;
    const seen = position.type === 'message' ? (position.revision ?? before) : before;
    this.#turn = turnAt(events, position.type === 'nothing' ? (position.turn ?? revision) : seen);
    this.#calls.update(thread.calls);
    const known = position.type === 'nothing' ? this.#turn : Math.min(seen, revision);
    const repeated = [...this.#skip(events, known, position)];
    yield this.#start(thread, position);
    yield* repeated;
    yield* this.update(thread);
  }

  /** The events since the last update, up to `last` or all. */
  *update(thread: AgentThread, last?: ThreadEvent): Generator<UIMessageChunk, void> {
    const { events, revision } = thread;
    if (revision <= this.#turns.read) return;
    this.#calls.update(thread.calls);
    const end = last === undefined ? events.length : events.lastIndexOf(last) + 1;
    for (const event of events.slice(this.#turns.read, end)) {
      const turn = this.#turns.next(events);
      if (!this.#isOver) this.#revision = this.#turns.read;
      if (turn < this.#turn) yield* this.#markStale(revision);
      if (turn !== this.#turn || this.#turns.read === this.#turn) continue;
      yield* this.#ofEvent(event);
      if (event.type !== 'step-finished') continue;
      yield { type: 'message-metadata', messageMetadata: this.#metadata(thread) };
    }
  }

  /** Whether the next turn has begun. */
  get #isOver(): boolean {
    return this.#turns.current > this.#turn;
  }

  /* A call that the page shows in an earlier message has changed, and a stream can't change that message. */
  *#markStale(revision: number): Generator<UIMessageChunk, void> {
    if (!this.#isStale) yield { type: 'data-stale', transient: true, data: { revision } };
    this.#isStale = true;
  }

  /** What the run streams and does not record. */
  ofProvisional(event: Provisional): UIMessageChunk[] {
    return this.#isOver ? [] : this.#turnChunks.ofProvisional(event);
  }

  /** The step that the model was streaming will not be recorded: the page drops it. */
  reset(): UIMessageChunk[] {
    return this.#turnChunks.reset();
  }

  *end(thread: AgentThread): Generator<UIMessageChunk, void> {
    yield* this.#lastUpdate(thread);
    yield {
      type: 'finish',
      ...this.#endReason(thread),
      messageMetadata: this.#lastMetadata(thread),
    };
  }

  *fail(thread: AgentThread, error: unknown): Generator<UIMessageChunk, void> {
    yield* this.#failWith(thread, publicErrorText(error, this.#options.onError));
  }

  /** The end of a stream to a page whose answers were refused. */
  *refuse(thread: AgentThread, error: unknown): Generator<UIMessageChunk, void> {
    yield* this.#failWith(thread, refusalText(error, this.#options.onError));
  }

  /** The end of a reply that a person asked for again: an error if the reply was already complete, because it stays as it is. */
  *endRegenerated(thread: AgentThread, before: number): Generator<UIMessageChunk, void> {
    yield* this.update(thread);
    const isComplete = this.#finishReason !== undefined && this.#statusOf(thread) === 'idle';
    if (!isComplete || this.#revision > before) yield* this.end(thread);
    else yield* this.#failWith(thread, replyIsRecorded);
  }

  *#failWith(thread: AgentThread, errorText: string): Generator<UIMessageChunk, void> {
    yield* this.#lastUpdate(thread);
    yield { type: 'message-metadata', messageMetadata: this.#lastMetadata(thread) };
    yield { type: 'error', errorText };
  }

  *#lastUpdate(thread: AgentThread): Generator<UIMessageChunk, void> {
    yield* this.update(thread);
    yield* this.#turnChunks.reset();
    yield* this.#turnChunks.showStatus(this.#calls.all());
  }

  /** Reads the events that the page has; yields only the outcomes of the requests that it answers. */
  *#skip(
    events: readonly ThreadEvent[],
    known: number,
    position: PagePosition,
  ): Generator<UIMessageChunk, void> {
    const answers = position.type === 'message' ? position.answers : [];
    for (const event of events.slice(0, known)) {
      const turn = this.#turns.next(events);
      if (turn !== this.#turn || this.#turns.read === this.#turn) continue;
      const chunks = this.#ofEvent(event);
      if (answers.includes(this.#requestOf(event) ?? '')) yield* chunks;
    }
    this.#revision = known;
    if (position.type === 'new-message') this.#turnChunks.forget();
  }

  #ofEvent(event: ThreadEvent): UIMessageChunk[] {
    if (event.type === 'step-finished') this.#finishReason = event.finishReason;
    if (event.type === 'run-ended') this.#isStopped = event.stopped === true;
    return this.#turnChunks.ofEvent(event);
  }

  /* The AI SDK does not send answers automatically for an interrupted message, so a thread that waits for answers is not called that. */
  #endReason(thread: AgentThread): { finishReason?: FinishReason } {
    const isInterrupted = this.#isStopped && this.#statusOf(thread) === 'idle';
    const last = isInterrupted ? 'interrupted' : this.#finishReason;
    const finishReason = finishReasons.find((reason) => reason === last);
    return finishReason === undefined ? {} : { finishReason };
  }

  #requestOf(event: ThreadEvent): string | undefined {
    if (event.type === 'request-answered') return event.response.requestId;
    return event.type === 'call-ended' ? this.#calls.at(event)?.requestId : undefined;
  }

  #start(thread: AgentThread, position: PagePosition): UIMessageChunk {
    const messageMetadata = this.#metadata(thread);
    if (position.type === 'message' && position.isHeld) return { type: 'start', messageMetadata };
    const begins = position.type === 'new-message' ? this.#revision + 1 : this.#turn;
    return { type: 'start', messageId: messageIdOf(thread.id, begins), messageMetadata };
  }

  #metadata({ id: threadId }: AgentThread): object {
    return { threadId, revision: this.#revision };
  }

  #lastMetadata(thread: AgentThread): object {
    return { ...this.#metadata(thread), status: this.#statusOf(thread) };
  }

  #statusOf({ status }: AgentThread): AgentThread['status'] {
    return this.#isOver ? 'idle' : status;
  }
}

/**
 * The chunks of a run; throws the run's error. Events that others append meanwhile come in the order of the thread. The thread may be ahead of
 * this reader: what the model streamed comes before the step that it became.
 */
export async function* runChunks(
  events: AsyncIterable<AgentStreamEvent>,
  thread: AgentThread,
  chunks: ThreadChunks,
): AsyncGenerator<UIMessageChunk, AgentResponse['status'] | undefined> {
  let status: AgentResponse['status'] | undefined;
  for await (const event of events) {
    if ('at' in event) yield* chunks.update(thread, event);
    else if (event.type === 'finish') ({ status } = event.response);
    else if (event.type === 'error') throw event.error;
    else yield* chunks.ofProvisional(event);
  }
  yield* chunks.update(thread);
  return status;
}
