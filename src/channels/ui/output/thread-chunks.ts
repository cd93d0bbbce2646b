import type { FinishReason, UIMessageChunk } from 'ai';
import { renderPublicError, renderPublicRefusal } from '../../../http/error-response.ts';
import type { AgentThread } from '../../../thread/agent-thread.ts';
import type { ThreadEvent } from '../../../thread/thread-event.ts';
import type { ViewItem } from '../../../view/thread-items.ts';
import { makeTurnMessageId, turnAt, TurnReader } from '../../../view/turns.ts';
import type { ThreadViewOptions } from '../ui-handler-options.ts';
import { type Provisional, TurnChunks } from './turn-chunks.ts';

/** The content that the page already shows, which decides where its stream begins. */
export type PagePosition =
  /** Nothing of the turn at the revision `turn`, by default the last. `isRegenerate`: a person asked for its reply again. */
  | { type: 'nothing'; turn?: number; isRegenerate?: boolean }
  /** The turn up to `revision`, by default the current one. The outcomes of the requests in `answers` are streamed as well. */
  | {
      type: 'message';
      revision?: number | undefined;
      answers: readonly string[];
      /** True if the page is known to have the message, whose id it then keeps. */
      isHeld: boolean;
    }
  /** A new message, below the one that has shown the turn so far. */
  | { type: 'new-message' };

const replyIsRecorded =
  "This reply is part of the record and can't be written again; send a new message.";

/* The reasons that the AI SDK's pages know. */
const finishReasons: readonly FinishReason[] = [
  'stop',
  'length',
  'content-filter',
  'tool-calls',
  'error',
  'interrupted',
  'other',
];

/** A page that gets a stream of a thread. */
export interface StreamedPage {
  thread: AgentThread;
  position: PagePosition;
  /** The thread's revision before it recorded what the page sent. */
  before: number;
}

/** The chunks of a page's stream, from the content that the page already shows to the end of that turn. */
export class ThreadChunks {
  readonly #options: ThreadViewOptions;
  readonly #turnChunks: TurnChunks;
  readonly #position: PagePosition;
  readonly #before: number;
  /** The thread, as it was last read. */
  #thread: AgentThread;
  /** The revision of the first event of the turn. */
  #turn = 1;
  /** The revision of the last event that the page has. */
  #revision = 0;
  /** The finish reason of the turn's last step. */
  #finishReason: string | undefined;
  #isStopped = false;
  readonly #reader = new TurnReader();
  #isStale = false;
  #askedAt = 0;

  constructor(options: ThreadViewOptions, { thread, position, before }: StreamedPage) {
    this.#options = options;
    this.#thread = thread;
    this.#position = position;
    this.#before = before;
    this.#turnChunks = new TurnChunks(options);
  }

  /** The thread, as it was last read. */
  get thread(): AgentThread {
    return this.#thread;
  }

  /** The revision of the last streamed event that changed open requests or votes; 0 if none did. */
  get askedAt(): number {
    return this.#askedAt;
  }

  /** Makes the beginning, and everything that the page does not show yet. */
  *begin(): Generator<UIMessageChunk, void> {
    const { events, revision } = this.#thread;
    const position = this.#position;
    const seen = position.type === 'message' ? (position.revision ?? this.#before) : this.#before;
    this.#turn = turnAt(events, position.type === 'nothing' ? (position.turn ?? revision) : seen);
    const known = position.type === 'nothing' ? this.#turn : Math.min(seen, revision);
    const repeated = [...this.#skip(known)];
    yield this.#start();
    yield* repeated;
    yield* this.update(this.#thread);
  }

  /** Makes the chunks of the events since the last update, up to `last` or all. */
  *update(thread: AgentThread, last?: ThreadEvent): Generator<UIMessageChunk, void> {
    this.#thread = thread;
    const { events, revision } = thread;
    if (revision <= this.#reader.revision) return;
    const end = last === undefined ? events.length : events.lastIndexOf(last) + 1;
    for (const { event, turn, item } of this.#reader.read(thread, end)) {
      if (!this.#isOver) this.#revision = this.#reader.revision;
      if (item !== undefined && changesRequests(item)) this.#askedAt = this.#reader.revision;
      if (turn < this.#turn) yield* this.#markStale(revision);
      if (turn !== this.#turn) continue;
      yield* this.#ofEvent(event, item);
      if (event.type !== 'step-finished') continue;
      yield { type: 'message-metadata', messageMetadata: this.#metadata() };
    }
  }

  /** True if the next turn has begun. */
  get #isOver(): boolean {
    return this.#reader.current > this.#turn;
  }

  /* A call that the page shows in an earlier message has changed, and a stream can't change that message. */
  *#markStale(revision: number): Generator<UIMessageChunk, void> {
    if (!this.#isStale) yield { type: 'data-stale', transient: true, data: { revision } };
    this.#isStale = true;
  }

  /** Makes the chunks of an event that is not recorded. */
  ofProvisional(event: Provisional): UIMessageChunk[] {
    return this.#isOver ? [] : this.#turnChunks.ofProvisional(event);
  }

  /** Makes the page drop a streamed step that will not be recorded. */
  reset(): UIMessageChunk[] {
    return this.#turnChunks.reset();
  }

  /** Makes the end: an error for a complete reply that a person asked for again, because it stays as it is. */
  *end(): Generator<UIMessageChunk, void> {
    yield* this.#lastUpdate();
    if (this.#isRepeated) return yield* this.#failWith(replyIsRecorded);
    yield { type: 'finish', ...this.#endReason(), messageMetadata: this.#lastMetadata() };
  }

  *fail(error: unknown): Generator<UIMessageChunk, void> {
    yield* this.#lastUpdate();
    yield* this.#failWith(renderPublicError(error, this.#options.onError));
  }

  /** Makes the end of a stream to a page whose answers were refused. */
  *refuse(error: unknown): Generator<UIMessageChunk, void> {
    yield* this.#lastUpdate();
    yield* this.#failWith(renderPublicRefusal(error, this.#options.onError));
  }

  *#failWith(errorText: string): Generator<UIMessageChunk, void> {
    yield { type: 'message-metadata', messageMetadata: this.#lastMetadata() };
    yield { type: 'error', errorText };
  }

  *#lastUpdate(): Generator<UIMessageChunk, void> {
    yield* this.update(this.#thread);
    yield* this.#turnChunks.reset();
    const calls = new Map(this.#reader.calls.map((call) => [call.toolCallId, call]));
    yield* this.#turnChunks.showStatus(calls);
  }

  get #isRepeated(): boolean {
    const isRegenerate = this.#position.type === 'nothing' && this.#position.isRegenerate === true;
    const isComplete = this.#finishReason !== undefined && this.#status === 'idle';
    return isRegenerate && isComplete && this.#revision <= this.#before;
  }

  /** Reads the events that the page has; yields only the outcomes of the requests that it answers. */
  *#skip(known: number): Generator<UIMessageChunk, void> {
    const answers = new Set(this.#position.type === 'message' ? this.#position.answers : []);
    for (const { event, turn, item } of this.#reader.read(this.#thread, known)) {
      if (turn !== this.#turn) continue;
      const chunks = this.#ofEvent(event, item);
      if (answers.has(findAnswered(item) ?? '')) yield* chunks;
    }
    this.#revision = known;
    if (this.#position.type === 'new-message') this.#turnChunks.forget();
  }

  #ofEvent(event: ThreadEvent, item: ViewItem | undefined): UIMessageChunk[] {
    if (event.type === 'step-finished') this.#finishReason = event.finishReason;
    if (event.type === 'run-ended') this.#isStopped = event.stopped === true;
    return item === undefined ? [] : this.#turnChunks.ofItem(item);
  }

  /* The AI SDK does not send answers automatically for an interrupted message, so a thread that waits for answers is not called that. */
  #endReason(): { finishReason?: FinishReason } {
    const isInterrupted = this.#isStopped && this.#status === 'idle';
    const last = isInterrupted ? 'interrupted' : this.#finishReason;
    const finishReason = finishReasons.find((reason) => reason === last);
    return finishReason === undefined ? {} : { finishReason };
  }

  #start(): UIMessageChunk {
    const position = this.#position;
    const messageMetadata = this.#metadata();
    if (position.type === 'message' && position.isHeld) return { type: 'start', messageMetadata };
    const begins = position.type === 'new-message' ? this.#revision + 1 : this.#turn;
    return {
      type: 'start',
      messageId: makeTurnMessageId(this.#thread.id, begins),
      messageMetadata,
    };
  }

  #metadata(): object {
    return { threadId: this.#thread.id, revision: this.#revision };
  }

  #lastMetadata(): object {
    return { ...this.#metadata(), status: this.#status };
  }

  get #status(): AgentThread['status'] {
    return this.#isOver ? 'idle' : this.#thread.status;
  }
}

/** Checks whether an item may change the viewer's rights to a request. */
function changesRequests({ type }: ViewItem): boolean {
  return type === 'request' || type === 'request-progress' || type === 'request-end';
}

/** Finds the request that an item's event answers, or the request about the call that it ends. */
function findAnswered(item: ViewItem | undefined): string | undefined {
  if (item?.type === 'call-ended') return item.call.requestId;
  return item?.type === 'request-end' && item.event.type === 'request-answered'
    ? item.requestId
    : undefined;
}
