import type { FinishReason, UIMessageChunk } from 'ai';
import type { AgentResponse } from '../../../agent/agent-response.ts';
import type { AgentStreamEvent } from '../../../agent/agent-stream.ts';
import { publicErrorText, refusalText } from '../../../http/error-response.ts';
import type { AgentThread } from '../../../thread/agent-thread.ts';
import type { ThreadEvent } from '../../../thread/thread-event.ts';
import type { ViewItem } from '../../../view/items.ts';
import { messageIdOf, turnAt, TurnReader } from '../../../view/turns.ts';
import type { ThreadViewOptions } from '../ui-handler-options.ts';
import { type Provisional, TurnChunks } from './turn-chunks.ts';

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
  readonly #turnChunks: TurnChunks;
  /** The revision of the first event of the turn. */
  #turn = 1;
  /** The revision of the last event that the page has. */
  #revision = 0;
  /** The finish reason of the turn's last step. */
  #finishReason: string | undefined;
  #isStopped = false;
  readonly #reader = new TurnReader();
  #isStale = false;

  constructor(options: ThreadViewOptions) {
    this.#options = options;
    this.#turnChunks = new TurnChunks(options);
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
    const known = position.type === 'nothing' ? this.#turn : Math.min(seen, revision);
    const repeated = [...this.#skip(thread, known, position)];
    yield this.#start(thread, position);
    yield* repeated;
    yield* this.update(thread);
  }

  /** The events since the last update, up to `last` or all. */
  *update(thread: AgentThread, last?: ThreadEvent): Generator<UIMessageChunk, void> {
    const { events, revision } = thread;
    if (revision <= this.#reader.revision) return;
    const end = last === undefined ? events.length : events.lastIndexOf(last) + 1;
    for (const { event, turn, item } of this.#reader.read(thread, end)) {
      if (!this.#isOver) this.#revision = this.#reader.revision;
      if (turn < this.#turn) yield* this.#markStale(revision);
      if (turn !== this.#turn) continue;
      yield* this.#ofEvent(event, item);
      if (event.type !== 'step-finished') continue;
      yield { type: 'message-metadata', messageMetadata: this.#metadata(thread) };
    }
  }

  /** Whether the next turn has begun. */
  get #isOver(): boolean {
    return this.#reader.current > this.#turn;
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
    yield* this.#turnChunks.showStatus(this.#reader.calls);
  }

  /** Reads the events that the page has; yields only the outcomes of the requests that it answers. */
  *#skip(
    thread: AgentThread,
    known: number,
    position: PagePosition,
  ): Generator<UIMessageChunk, void> {
    const answers = position.type === 'message' ? position.answers : [];
    for (const { event, turn, item } of this.#reader.read(thread, known)) {
      if (turn !== this.#turn) continue;
      const chunks = this.#ofEvent(event, item);
      if (answers.includes(findAnswered(item) ?? '')) yield* chunks;
    }
    this.#revision = known;
    if (position.type === 'new-message') this.#turnChunks.forget();
  }

  #ofEvent(event: ThreadEvent, item: ViewItem | undefined): UIMessageChunk[] {
    if (event.type === 'step-finished') this.#finishReason = event.finishReason;
    if (event.type === 'run-ended') this.#isStopped = event.stopped === true;
    return item === undefined ? [] : this.#turnChunks.ofItem(item);
  }

  /* The AI SDK does not send answers automatically for an interrupted message, so a thread that waits for answers is not called that. */
  #endReason(thread: AgentThread): { finishReason?: FinishReason } {
    const isInterrupted = this.#isStopped && this.#statusOf(thread) === 'idle';
    const last = isInterrupted ? 'interrupted' : this.#finishReason;
    const finishReason = finishReasons.find((reason) => reason === last);
    return finishReason === undefined ? {} : { finishReason };
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

/** The request that the event of an item answers, or that the call which it ends was asked about in. */
function findAnswered(item: ViewItem | undefined): string | undefined {
  if (item?.type === 'call-ended') return item.call.requestId;
  return item?.type === 'request-end' && item.event.type === 'request-answered'
    ? item.requestId
    : undefined;
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
