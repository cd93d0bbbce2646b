import type { FinishReason, UIMessageChunk } from 'ai';
import type { ToolCallRecord } from '../../../content/tool-call.ts';
import type { AgentThread } from '../../../thread/agent-thread.ts';
import { toldOf } from '../../../http/error-response.ts';
import type { ThreadEvent } from '../../../thread/thread-event.ts';
import type { ThreadViewOptions } from './thread-view-options.ts';
import { beginsTurn, messageIdOf, turnAt } from './turns.ts';
import { type Provisional, TurnChunks } from './turn-chunks.ts';

/** What a page has before it, and so from where it is told. */
export type PagePosition =
  /** Nothing of the turn, the last one unless it says which: it is told whole. `isAgain`: a person wants its reply written again. */
  | { type: 'nothing'; turn?: number; isRegenerate?: boolean }
  /** The turn as it was at a revision, or else at the moment; also the outcomes of the requests that it answers are told. */
  | {
      type: 'message';
      revision?: number | undefined;
      answers: readonly string[];
      /** Whether it is known to have it; it keeps the id that it knows it by. */
      isHeld: boolean;
    }
  /** A new message, below the one that the turn has been told in until now. */
  | { type: 'new-message' };

const recorded = "This reply is part of the record and can't be written again; send a new message.";

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

/** Tells a page what happens in a thread, from what it has before it to the end of that turn. */
export class ThreadChunks {
  readonly #options: ThreadViewOptions;
  readonly #calls = new Map<string, ToolCallRecord>();
  readonly #teller: TurnChunks;
  /** Of the first event of the turn. */
  #turn = 1;
  /** Of the last event that the page knows. */
  #revision = 0;
  /** Of the last step of the turn. */
  #finishReason: string | undefined;
  #isStopped = false;
  #isOver = false;

  constructor(options: ThreadViewOptions) {
    this.#options = options;
    this.#teller = new TurnChunks(
      ({ step, index }) => this.#calls.get(`${step}.${index}`),
      options,
    );
  }

  /** The beginning, and all that the page has not seen. `before` is the revision at which this began. */
  *begin(
    thread: AgentThread,
    position: PagePosition,
    before: number,
  ): Generator<UIMessageChunk, void> {
    const { events, revision } = thread;
    const seen = position.type === 'message' ? (position.revision ?? before) : before;
    this.#turn = turnAt(events, position.type === 'nothing' ? (position.turn ?? revision) : seen);
    this.#keepCalls(thread);
    const known = position.type === 'nothing' ? this.#turn : Math.min(seen, revision);
    const repeated = [...this.#pass(events, known, position)];
    yield this.#start(thread, position);
    yield* repeated;
    yield* this.news(thread);
  }

  /** What has happened since. */
  *news(thread: AgentThread): Generator<UIMessageChunk, void> {
    if (this.#isOver || thread.revision <= this.#revision) return;
    this.#keepCalls(thread);
    const { events } = thread;
    for (const event of events.slice(this.#revision)) {
      if (this.#revision >= this.#turn && beginsTurn(events, this.#revision)) {
        this.#isOver = true;
        return;
      }
      this.#revision += 1;
      if (this.#revision === this.#turn) continue;
      yield* this.#tell(event);
      if (event.type !== 'step-finished') continue;
      yield { type: 'message-metadata', messageMetadata: this.#metadata(thread) };
    }
  }

  /** What the model is saying, or what a tool has so far. */
  fromDelta(news: Provisional): UIMessageChunk[] {
    return this.#isOver ? [] : this.#teller.fromDelta(news);
  }

  /** What the model was saying will not be recorded: the page forgets it. */
  reset(): UIMessageChunk[] {
    return this.#teller.reset();
  }

  *end(thread: AgentThread): Generator<UIMessageChunk, void> {
    yield* this.#settled(thread);
    yield {
      type: 'finish',
      ...this.#whyEnded(thread),
      messageMetadata: this.#lastMetadata(thread),
    };
  }

  *fail(thread: AgentThread, error: unknown): Generator<UIMessageChunk, void> {
    yield* this.#break(thread, toldOf(error, this.#options.onError));
  }

  /** The end for a page that wants a reply written again; an error where the reply is complete, and so stays as it is. */
  *endRegenerated(thread: AgentThread, before: number): Generator<UIMessageChunk, void> {
    yield* this.news(thread);
    const isComplete = this.#finishReason !== undefined && this.#statusOf(thread) === 'idle';
    if (!isComplete || this.#revision > before) yield* this.end(thread);
    else yield* this.#break(thread, recorded);
  }

  *#break(thread: AgentThread, errorText: string): Generator<UIMessageChunk, void> {
    yield* this.#settled(thread);
    yield { type: 'message-metadata', messageMetadata: this.#lastMetadata(thread) };
    yield { type: 'error', errorText };
  }

  *#settled(thread: AgentThread): Generator<UIMessageChunk, void> {
    yield* this.news(thread);
    yield* this.#teller.reset();
    yield* this.#teller.settle([...this.#calls.values()]);
  }

  /** Goes through what the page knows; says again only what became of what it answers. */
  *#pass(
    events: readonly ThreadEvent[],
    known: number,
    position: PagePosition,
  ): Generator<UIMessageChunk, void> {
    const answers = position.type === 'message' ? position.answers : [];
    for (const event of events.slice(this.#turn, Math.max(known, this.#turn))) {
      const chunks = this.#tell(event);
      if (answers.includes(this.#requestOf(event) ?? '')) yield* chunks;
    }
    this.#revision = known;
    if (position.type === 'new-message') this.#teller.forget();
  }

  #tell(event: ThreadEvent): UIMessageChunk[] {
    if (event.type === 'step-finished') this.#finishReason = event.finishReason;
    if (event.type === 'run-ended') this.#isStopped = event.stopped === true;
    return this.#teller.tell(event);
  }

  /* A page sends no answers by itself for a message that was interrupted: where it asks something, it ended for that. */
  #whyEnded(thread: AgentThread): { finishReason?: FinishReason } {
    const isInterrupted = this.#isStopped && this.#statusOf(thread) === 'idle';
    const last = isInterrupted ? 'interrupted' : this.#finishReason;
    const finishReason = finishReasons.find((reason) => reason === last);
    return finishReason === undefined ? {} : { finishReason };
  }

  #requestOf(event: ThreadEvent): string | undefined {
    if (event.type === 'request-answered') return event.response.requestId;
    if (event.type !== 'call-ended') return undefined;
    return this.#calls.get(`${event.step}.${event.index}`)?.requestId;
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

  /* Only calls of the open step change; those before it are looked at once. */
  #keepCalls({ calls }: AgentThread): void {
    const openStep = calls.at(-1)?.step;
    for (const call of calls.toReversed()) {
      const key = `${call.step}.${call.index}`;
      if (call.step !== openStep && this.#calls.get(key)?.outcome !== undefined) return;
      this.#calls.set(key, call);
    }
  }
}
