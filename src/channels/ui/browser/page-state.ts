import { inertText } from '../../../content/inert-text.ts';
import type { RequestRights } from '../../../content/request-rights.ts';
import { describeRefusal, pickCause, readRefusal } from './read-refusal.ts';

/** A problem to show next to the messages of a page. `text` and `reason` are safe to show. */
export type ThreadProblem =
  /** The server can't be reached. Requests are repeated until it can. */
  | { type: 'away'; text: string }
  /**
   * The server refused something, or never got it (`not-sent`); `unsaid` is the text that it did not record, for the input field;
   * `requestId` is the request whose answer was refused, `field` the path to the field that caused it, in the edited input or the question,
   * and `reason` the reason.
   */
  | {
      type: 'refused';
      text: string;
      code: string;
      unsaid?: string;
      requestId?: string;
      field?: string[] | undefined;
      reason?: string | undefined;
    }
  /** The last run failed, or the thread could not be read; `tryAgain` resumes it or reads it, and a new message resumes it too. */
  | { type: 'failed'; text: string };

/** The state of a page, besides its messages. */
export interface ThreadChatState {
  /** True if the messages of the server are shown. */
  isLoaded: boolean;
  /** The problem to show to the person. Cleared by the next request. */
  problem: ThreadProblem | undefined;
  /** The requests whose answers are being sent: the page does not know yet whether they are recorded. */
  sending: ReadonlySet<string>;
  /**
   * The rights of this person to each open request, by its id. They are hints for display: the server checks each answer. A request has no
   * entry if the server has not sent its rights, or could not determine them.
   */
  rights: ReadonlyMap<string, RequestRights>;
  /**
   * The person for whom the server has loaded the page, as an opaque text of their own. `undefined` until it is loaded, and as soon as
   * another person or nobody is signed in: drop then what the previous person has typed.
   */
  viewer: string | undefined;
}

/** The stored thread that a page shows now. */
interface Loaded {
  rights: ReadonlyMap<string, RequestRights>;
  failure?: { text: string } | undefined;
  viewer?: string | undefined;
  status: string;
  /** The ids of its open requests. */
  openIds: ReadonlySet<string>;
}

/* Checks, by code, whether a refusal about the thread is outdated. Others tell how a request ended, and stay until the next action. */
const isOver = new Map<string, (problem: { requestId?: string }, thread: Loaded) => boolean>([
  ['invalid-answer', isAnswerOver],
  ['answer-mismatch', isAnswerOver],
  ['not-allowed', isAnswerOver],
  ['requests-open', (_, { openIds }) => openIds.size === 0],
  ['thread-busy', (_, { status }) => status !== 'running'],
]);

function isAnswerOver({ requestId }: { requestId?: string }, { openIds }: Loaded): boolean {
  return requestId !== undefined && !openIds.has(requestId);
}

function makePageState(): ThreadChatState {
  return {
    isLoaded: false,
    problem: undefined,
    sending: new Set(),
    rights: new Map(),
    viewer: undefined,
  };
}

/** Holds the state of a page and notifies listeners of changes. */
export class PageState {
  readonly #listeners = new Set<() => void>();
  /** The problem of a thread that could not be read. */
  #unread: ThreadProblem | undefined;
  /** The state apart from whether the server can be reached. */
  #state: ThreadChatState = makePageState();
  #isAway = false;
  /** The problem from before the server was away. */
  #before: ThreadProblem | undefined;
  #shown: ThreadChatState = this.#state;

  /** A new object after each change. */
  get state(): ThreadChatState {
    return this.#shown;
  }

  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  set(change: Partial<ThreadChatState>): void {
    this.#state = { ...this.#state, ...change };
    this.#show();
  }

  /** Shows "away" while the server can't be reached. The earlier problem is shown again afterwards, and a newer one at once. */
  #show(): void {
    const { problem } = this.#state;
    const isOlder = problem === undefined || problem === this.#before;
    const text = 'The server can’t be reached. Trying again …';
    const away = { type: 'away', text } as const;
    this.#shown = this.#isAway && isOlder ? { ...this.#state, problem: away } : this.#state;
    for (const listener of this.#listeners) listener();
  }

  /** Resets the state: nothing of the previous person stays. */
  reset(): void {
    this.#unread = undefined;
    this.set(makePageState());
  }

  /** Notes that the answer to a request is being sent. */
  addSending(requestId: string): void {
    this.set({ sending: new Set([...this.#state.sending, requestId]) });
  }

  /** Notes that the answers to these requests are no longer being sent. */
  removeSending(requestIds: readonly string[]): void {
    const sending = new Set(this.#state.sending);
    for (const requestId of requestIds) sending.delete(requestId);
    if (sending.size < this.#state.sending.size) this.set({ sending });
  }

  setReachable(isReachable: boolean): void {
    if (isReachable === !this.#isAway) return;
    this.#isAway = !isReachable;
    this.#before = this.#state.problem;
    this.#show();
  }

  /** Shows that the server refused a request; `unsaid` is the text of its message, `answers` the requests that it answered. */
  showRefusal(
    status: number | undefined,
    refused: unknown,
    { unsaid, answers }: { unsaid?: string; answers: readonly string[] },
  ): void {
    const { code, text, refusedAnswers } = readRefusal(refused) ?? {
      code: 'unknown',
      text: `The server refused this (${status}).`,
      refusedAnswers: [],
    };
    const [first] = refusedAnswers;
    const [requestId, ...others] = answers;
    const isAboutOne = requestId !== undefined && others.length === 0;
    const about = first === undefined ? isAboutOne && { requestId } : pickCause(first);
    const problem = { type: 'refused', code, text, ...about } as const;
    this.set({ problem: unsaid === undefined ? problem : { ...problem, unsaid } });
  }

  /** Shows that answered requests have changed since: their answers are not sent. */
  showOutdated(requestIds: readonly string[]): void {
    const [requestId] = requestIds;
    if (requestId === undefined) return;
    const text = describeRefusal({ code: 'answer-mismatch', message: '' });
    this.set({ problem: { type: 'refused', code: 'answer-mismatch', text, requestId } });
  }

  /** Shows that these requests ended or changed before the person sent the text typed for them. */
  showUnsent(lost: readonly { request: string; unsent: string }[]): void {
    if (lost.length === 0) return;
    const lines = lost.flatMap(({ request, unsent }) => [
      `This was answered or changed while you were writing: ${request}`,
      `What you wrote was not sent: ${unsent}`,
    ]);
    const text = inertText(lines.join('\n'));
    this.set({ problem: { type: 'refused', code: 'not-sent', text } });
  }

  /** Shows that the thread could not be read. A refusal of the person's own action stays, because it matters more to them. */
  showUnreadable(status: number, refused: string): void {
    const { problem } = this.#state;
    const isNew = problem?.type !== 'refused' || problem === this.#unread;
    const { code = 'unknown', text = 'This conversation can’t be read now.' } =
      readRefusal(refused) ?? {};
    this.#unread = status < 500 ? { type: 'refused', code, text } : { type: 'failed', text };
    if (isNew) this.set({ problem: this.#unread });
  }

  /** Hides the problem of an answer that the person corrects. */
  clearProblem(requestId: string): void {
    const { problem } = this.#state;
    if (problem?.type !== 'refused' || problem.requestId !== requestId) return;
    this.set({ problem: undefined });
  }

  /** True if the thread could not be read. */
  get isUnread(): boolean {
    return this.#unread !== undefined;
  }

  /**
   * Notes that the page shows the stored thread; `unsaid` is the text of a message that the person stopped sending and that the thread
   * lacks.
   */
  showLoaded(loaded: Loaded, unsaid: string | undefined): void {
    const { failure, rights, viewer } = loaded;
    const { problem: before } = this.#state;
    const unread = this.#unread;
    this.#unread = undefined;
    const problem = failure && ({ type: 'failed', text: inertText(failure.text) } as const);
    this.set({ isLoaded: true, viewer, rights, problem });
    if (unsaid !== undefined) {
      const text = 'Your message was not sent.';
      this.set({ problem: { type: 'refused', code: 'not-sent', text, unsaid } });
    } else if (
      before?.type === 'refused' &&
      before !== unread &&
      !isOver.get(before.code)?.(before, loaded)
    ) {
      this.set({ problem: before });
    }
  }
}
