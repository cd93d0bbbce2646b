import { inertText } from '../../../content/inert-text.ts';
import type { RequestRights } from '../../../content/request-rights.ts';
import { describeRefusal, pickCause, readRefusal } from './read-refusal.ts';

/** A problem to show next to the messages of a page. `text` and `reason` are safe to show. */
export type ThreadProblem =
  /** The server can't be reached. Requests are repeated until it can. */
  | { type: 'away'; text: string }
  /** The server refused something, or never got it (`not-sent`); `unsaid` is the text that it did not record, for the input field;
   * `requestId` is the request whose answer was refused, `field` the path to the field that caused it, of the edited input or of the question,
   * and `reason` why. */
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
  /** Whether the messages of the server are shown. */
  isLoaded: boolean;
  /** For the person at the page. Cleared by the next request. */
  problem: ThreadProblem | undefined;
  /** The requests whose answers are being sent: the page does not know yet whether they are recorded. */
  sending: ReadonlySet<string>;
  /**
   * What this person may do with each open request, by the request's id. Hints for what to show: the server checks each answer. A request
   * without an entry is one of which the server could not say it, or not yet.
   */
  rights: ReadonlyMap<string, RequestRights>;
  /**
   * For whom the server has loaded the page: an opaque text, and another one for each person. `undefined` until it is loaded, and from the moment at which somebody
   * else has signed in, or nobody: drop then what the person before has typed.
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

/* Until when a refusal says something about the thread. Others say how a request ended, and stay until the person does something else. */
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

  /** While the server can't be reached, that is the problem. The one from before is shown again afterwards, and a newer one at once. */
  #show(): void {
    const { problem } = this.#state;
    const isOlder = problem === undefined || problem === this.#before;
    const text = 'The server can’t be reached. Trying again …';
    const away = { type: 'away', text } as const;
    this.#shown = this.#isAway && isOlder ? { ...this.#state, problem: away } : this.#state;
    for (const listener of this.#listeners) listener();
  }

  /** Begins anew: nothing of the person before stays. */
  reset(): void {
    this.#unread = undefined;
    this.set(makePageState());
  }

  /** The answer to a request is being sent. */
  addSending(requestId: string): void {
    this.set({ sending: new Set([...this.#state.sending, requestId]) });
  }

  /** The answers to these requests are no longer being sent. */
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

  /** The server refused a request; `unsaid` is the text of the message in it, `answers` the requests that it answered. */
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

  /** The person answered requests that have changed since: these answers are not sent. */
  showOutdated(requestIds: readonly string[]): void {
    const [requestId] = requestIds;
    if (requestId === undefined) return;
    const text = describeRefusal({ code: 'answer-mismatch', message: '' });
    this.set({ problem: { type: 'refused', code: 'answer-mismatch', text, requestId } });
  }

  /** These requests ended or changed before the person sent what they had typed for them. */
  showUnsent(lost: readonly { request: string; unsent: string }[]): void {
    if (lost.length === 0) return;
    const lines = lost.flatMap(({ request, unsent }) => [
      `This was answered or changed while you were writing: ${request}`,
      `What you wrote was not sent: ${unsent}`,
    ]);
    const text = inertText(lines.join('\n'));
    this.set({ problem: { type: 'refused', code: 'not-sent', text } });
  }

  /** The thread could not be read. The refusal of a person's own action stays shown, because it matters more to them. */
  showUnreadable(status: number, refused: string): void {
    const { problem } = this.#state;
    const isNew = problem?.type !== 'refused' || problem === this.#unread;
    const { code = 'unknown', text = 'This conversation can’t be read now.' } =
      readRefusal(refused) ?? {};
    this.#unread = status < 500 ? { type: 'refused', code, text } : { type: 'failed', text };
    if (isNew) this.set({ problem: this.#unread });
  }

  /** The person corrects the answer to a request: what was wrong with it is no longer shown. */
  clearProblem(requestId: string): void {
    const { problem } = this.#state;
    if (problem?.type !== 'refused' || problem.requestId !== requestId) return;
    this.set({ problem: undefined });
  }

  /** Whether the thread could not be read. */
  get isUnread(): boolean {
    return this.#unread !== undefined;
  }

  /** The page shows the stored thread; `unsaid` is the text of a message that the person stopped sending and that the thread lacks. */
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
