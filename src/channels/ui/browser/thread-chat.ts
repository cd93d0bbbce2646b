import { type AbstractChat, APICallError, type ChatInit, type UIMessage } from 'ai';
import { inertText } from '../../../content/inert-text.ts';
import { waitForTimer } from '../../../content/waiting.ts';
import type { UserInputResponseContent } from '../../../content/user-input.ts';
import { parseRefusedAnswer, isOtherViewer, isShutOut } from './read-refusal.ts';
import {
  findApprovalId,
  type GivenApproval,
  findDecision,
  findShownDigest,
  isPlainApproval,
  findLostText,
  readShownState,
  sortApprovals,
  withReopened,
} from './page-messages.ts';
import { Composer } from './composer.ts';
import { PageRequests, type ShownGroup } from './page-requests.ts';
import { PageState, type ThreadProblem, type ThreadChatState } from './page-state.ts';
import { readRights } from './read-rights.ts';
import type { ShownRequest } from './request-form.ts';
import { hasHeldCall, showPart, type ShownPart } from './shown-part.ts';
import { ThreadFollower } from './thread-follower.ts';
import { renderState, ThreadReader, type StoredThread } from './thread-reader.ts';
import { ThreadSender, type SentContent } from './thread-sender.ts';
import { type ThreadChatOptions, ThreadRoute } from './thread-route.ts';
import {
  lastAssistantMessageHasApprovalResponses,
  makeThreadTransport,
  stopChat,
} from './for-use-chat.ts';

const retryMs = 1_000;

/**
 * A chat of the AI SDK that shows a thread as the server has it: it loads the thread, sends answers until they are recorded, and reads the
 * thread again after a refusal, a lost connection, or events that it missed. For React use `useThreadChat`.
 *
 * @example
 * const thread = new ThreadChat((init) => new Chat(init), { id, api: '/chat' });
 * thread.subscribe(() => render(thread.chat.messages, thread.state));
 * await thread.open();
 */
export class ThreadChat<CHAT extends AbstractChat<UIMessage>> {
  /** The AI SDK's chat, with the messages. */
  readonly chat: CHAT;
  readonly #route: ThreadRoute;
  readonly #page = new PageState();
  readonly #requests: PageRequests;
  /** The message that the person writes. */
  readonly composer: Composer;
  readonly #reader: ThreadReader;
  readonly #sender: ThreadSender;
  readonly #follower: ThreadFollower;
  #closing = new AbortController();
  #following = new AbortController();
  /** The thread's state when it was last read. */
  #read: { revision: number; status: string } | undefined;
  /** The content that the person stopped sending. */
  #withdrawn: SentContent = { answers: [] };
  /* Not read from the messages: another person's vote in a stream shows its request as open again. */
  readonly #given = new Map<string, GivenApproval>();
  #finished = Promise.withResolvers<void>();

  /** `makeChat` creates the chat of your framework: `(init) => new Chat(init)`. */
  constructor(makeChat: (init: ChatInit<UIMessage>) => CHAT, options: ThreadChatOptions) {
    const { id, wait = waitForTimer, browser = globalThis } = options;
    const signal = (): AbortSignal => this.#closing.signal;
    this.#route = new ThreadRoute(options, {
      wait,
      signal,
      page: () => this.state,
    });
    const { api, headers, connection } = this.#route;
    this.#page.setReachable(connection.isReachable);
    const shared = { route: this.#route, page: this.#page, wait, signal };
    this.#reader = new ThreadReader({
      ...shared,
      isIdle: () => this.#isIdle,
      seen: () => this.#seen,
      show: (stored) => this.#show(stored),
      onUnread: (status, refused) => this.#showUnreadable(status, refused),
      onOtherViewer: () => void this.#beginAnew({ isRead: true }),
    });
    this.#sender = new ThreadSender({
      ...shared,
      onSend: () => this.#follower.interrupt(),
      isOver: async () => (await this.#reader.read())?.status !== 'running',
      onShutOut: (status, refused) => this.#shutOut(status, refused),
      onError: (error) => this.#fail(error),
    });
    const reader = this.#reader;
    this.#follower = new ThreadFollower({ id, browser, connection, reader, wait, api });
    this.#requests = new PageRequests({
      messages: () => this.chat.messages,
      now: Date.now,
      showUnsent: (lost) => this.#page.showUnsent(lost),
      wait,
      signal,
      problem: () => this.state.problem,
      rightsFor: (requestId) => this.state.rights.get(requestId),
      isSending: (requestId) => this.state.sending.has(requestId),
      changed: () => this.#page.set({}),
      clearProblem: (requestId) => this.#page.clearProblem(requestId),
      answer: (response) => void this.answer(response),
      withdraw: (requestId) => void this.withdraw(requestId),
    });
    this.composer = new Composer({
      canSend: () => this.state.isLoaded && this.#isIdle && this.#requests.isEmpty,
      send: (text) => void this.chat.sendMessage({ text }),
      changed: () => this.#page.set({}),
      focus: this.#requests.focus,
    });
    this.#page.subscribe(() => this.composer.takeBack(this.state.problem));
    this.chat = makeChat({
      id,
      transport: makeThreadTransport({
        api,
        headers,
        fetch: async (input, init) => this.#sender.send(input, init),
        isGiven: (requestId) => this.state.sending.has(requestId),
      }),
      sendAutomaticallyWhen: lastAssistantMessageHasApprovalResponses,
      onData: (part) => this.#receive(part),
      onError: (error) => this.#fail(error),
      onFinish: (end) => this.#finish(end),
    });
  }

  /** The state of the thread that the page shows beside its messages. Another object after each change. */
  get state(): ThreadChatState {
    return this.#page.state;
  }

  /** The open requests, in the order of the messages, each with its form. Read them again when the messages or the state change. */
  get requests(): ShownRequest[] {
    return this.#requests.shown;
  }

  /** The open approvals that are alike and can be approved together. */
  get groups(): ShownGroup[] {
    return this.#requests.groups;
  }

  /** `state.problem`, unless one of `requests` shows it. */
  get notice(): ThreadProblem | undefined {
    const { problem } = this.state;
    const about = problem?.type === 'refused' ? problem.requestId : undefined;
    const isShown = about !== undefined && this.#requests.has(about);
    return isShown ? undefined : problem;
  }

  /** Makes the view of a message part; `undefined` for nothing. */
  show = (part: UIMessage['parts'][number]): ShownPart | undefined =>
    showPart(
      part,
      {
        findOpen: (requestId) => this.#requests.find(requestId),
        findDecision: (requestId) => findDecision(this.chat.messages, requestId),
      },
      Date.now(),
    );

  /**
   * Moves the focus on after an answer, and lets the buttons of `requests` work half a second later. Call it after each rendering;
   * `useThreadChat` does.
   */
  settle = (): void => this.#requests.settle();

  /** Calls `listener` when `state` has changed. Returns the unsubscribe function. */
  subscribe = (listener: () => void): (() => void) => this.#page.subscribe(listener);

  /** Reads the thread, and shows its run if it has one. Can be called again after `close`. */
  async open(): Promise<void> {
    this.#closing = new AbortController();
    this.#following.abort();
    const { signal } = (this.#following = new AbortController());
    const { connection } = this.#route;
    const setReachable = (isReachable: boolean): void => this.#setReachable(isReachable);
    setReachable(connection.isReachable);
    connection.subscribe(setReachable, signal);
    await this.#reader.open();
  }

  /**
   * Shows other people's changes in the thread within two seconds, until `close`. In a browser, only while the page is visible. Call it
   * after `open`. At most one tab of a browser has a request waiting at the server.
   */
  follow(): void {
    this.#follower.follow(this.#following.signal);
  }

  /** Aborts the requests of this page. Runs on the server continue. */
  close(): void {
    this.#following.abort();
    this.#abort();
  }

  #abort(): void {
    this.#closing.abort(new DOMException('The page was closed.', 'AbortError'));
  }

  #setReachable(isReachable: boolean): void {
    this.#page.setReachable(isReachable);
    this.#sender.endWait();
  }

  /** Reads the thread again: now, or after the current stream. */
  refresh = async (): Promise<void> => this.#reader.refresh();

  /** Answers an approval or a question. The answer is sent, again if the server can't be reached, until it is recorded or refused. */
  answer = async (response: UserInputResponseContent): Promise<void> => {
    const { requestId } = response;
    this.#page.addSending(requestId);
    if (isPlainApproval(this.chat.messages, response)) return this.#give(response);
    const { signal } = this.#closing;
    while (!this.#isIdle) await this.#finished.promise;
    if (!signal.aborted) await this.chat.sendMessage(undefined, { body: { answers: [response] } });
  };

  /** Takes back the person's approval of a request that needs several and is not decided yet. */
  withdraw = async (requestId: string): Promise<void> =>
    this.#change(requestId, { withdraw: requestId });

  /** Lets another person answer a request instead: a name, role or team of the app. */
  reassign = async (requestId: string, to: string): Promise<void> =>
    this.#change(requestId, { reassign: { requestId, to } });

  /** Reads the thread again if it has changed since. `follow` does so by itself. */
  poll = async (): Promise<void> =>
    void (await this.#reader.look(this.#closing.signal, { isHeld: false }));

  /** Stops the run: the server keeps the text so far, and the next message is accepted. If it can't be reached, stops sending instead. */
  stop = async (): Promise<void> => {
    /* A request that arrived after the stop would start another run. */
    await this.#sender.arrived;
    if (this.state.problem?.type === 'away') {
      this.#withdrawn = { ...this.#sender.sent, answers: [...this.state.sending] };
      return this.chat.stop();
    }
    const { api, fetch, headers } = this.#route;
    const page = { id: this.chat.id, stop: this.chat.stop, resumeStream: this.refresh };
    await stopChat(page, { api, fetch, headers: headers() }).catch((error: unknown) =>
      this.#fail(error),
    );
  };

  /** True if an approved call is on hold because the agent was stopped. */
  get isHeld(): boolean {
    return hasHeldCall(this.chat.messages);
  }

  /** Resumes the calls on hold that this person may reject. */
  resume = async (): Promise<void> => {
    if (this.#isIdle) await this.chat.sendMessage(undefined, { body: { resume: true } });
  };

  /** Resumes a thread whose last run failed, or reads a thread that could not be read. */
  tryAgain = async (): Promise<void> => {
    if (this.#page.isUnread) return this.refresh();
    if (this.#isIdle && this.chat.messages.length > 0) await this.chat.regenerate();
  };

  async #change(requestId: string, change: object): Promise<void> {
    if (await this.#sender.change(requestId, change)) await this.refresh();
  }

  /** Gives an approval as the AI SDK's, which is then sent automatically. */
  async #give(answer: GivenApproval): Promise<void> {
    const { messages } = this.chat;
    const { requestId, approved, reason } = answer;
    const digest = answer.digest ?? findShownDigest(messages, requestId);
    const id = findApprovalId(messages, requestId) ?? requestId;
    const why = reason === undefined ? {} : { reason };
    this.#given.set(requestId, { requestId, approved, ...why, ...(digest && { digest }) });
    await this.chat.addToolApprovalResponse({ id, approved, ...why });
  }

  /* The state that was read last, unless a stream has shown more since. */
  get #seen(): string | undefined {
    const shown = readShownState(this.chat.messages);
    const read = this.#read;
    if (read === undefined) return undefined;
    return renderState(shown !== undefined && shown.revision > read.revision ? shown : read);
  }

  get #isIdle(): boolean {
    return this.chat.status === 'ready' || this.chat.status === 'error';
  }

  #receive({ type, data }: { type: string; data: unknown }): void {
    if (type === 'data-stale') this.#reader.isStale = true;
    if (type === 'data-request-rights') this.#page.set({ rights: readRights(data) });
    if (type !== 'data-refused-answers') return;
    this.#reader.isStale = true;
    this.#page.set({ problem: { type: 'refused', ...parseRefusedAnswer(data) } });
  }

  #fail(error: unknown): void {
    if (error instanceof DOMException && error.name === 'AbortError') return;
    if (APICallError.isInstance(error)) {
      const isAct = this.#sender.sent.resume === true;
      if (isShutOut(error.statusCode, error, { isAct }))
        return this.#shutOut(error.statusCode, error);
      this.#page.showRefusal(error.statusCode, error, this.#sender.sent);
      this.#reopen(this.#sender.sent.answers);
      void this.#reader.refreshLater(0);
    } else if (error instanceof TypeError) {
      this.#route.connection.report(false);
      void this.#reader.refreshLater(retryMs);
    } else {
      const text = error instanceof Error ? error.message : String(error);
      this.#page.set({ problem: { type: 'failed', text: inertText(text) } });
      if (this.state.sending.size > 0) void this.#reader.refreshLater(0);
    }
  }

  /* The thread can't be read, by this person or at all. */
  #showUnreadable(status: number, refused: string): void {
    if (isOtherViewer(refused)) return this.#shutOut(status, refused);
    if (isShutOut(status, refused)) void this.#beginAnew({ isRead: false });
    this.#page.showUnreadable(status, refused);
    this.#reopen([...this.state.sending]);
  }

  /* The page is not for the person who is signed in now, and says so. */
  #shutOut(status: number | undefined, refused: unknown): void {
    void this.#beginAnew({ isRead: true });
    this.#page.showRefusal(status, refused, { answers: [] });
  }

  /** Drops at once the page's messages and unsent content. `isRead`: true if the thread is then read for the signed-in person. */
  async #beginAnew({ isRead }: { isRead: boolean }): Promise<void> {
    if (this.#closing.signal.aborted) return;
    this.#abort();
    const { signal } = (this.#closing = new AbortController());
    const stopped = this.chat.stop();
    this.chat.messages = [];
    this.#sender.sent = { answers: [] };
    this.#withdrawn = { answers: [] };
    this.#given.clear();
    this.#read = undefined;
    this.#page.reset();
    this.#requests.reset();
    this.composer.reset();
    await stopped;
    this.chat.clearError();
    if (isRead && !signal.aborted) await this.#reader.open();
  }

  /* The answers to these requests are not recorded. */
  #reopen(requestIds: readonly string[]): void {
    this.#page.removeSending(requestIds);
    this.chat.messages = withReopened(this.chat.messages, requestIds);
  }

  /* The timers let the AI SDK first begin what it sends automatically. */
  #finish({ isAbort, isError }: { isAbort: boolean; isError: boolean }): void {
    const { resolve } = this.#finished;
    this.#finished = Promise.withResolvers<void>();
    setTimeout(resolve);
    const isAskedAgain = this.#unsent.some(
      ({ requestId }) => findApprovalId(this.chat.messages, requestId) !== undefined,
    );
    if (!isError && (isAbort || this.#reader.isStale || isAskedAgain)) {
      void this.#reader.refreshLater(0);
    }
  }

  /** The approvals that the person has given here and that no server has accepted. */
  get #unsent(): GivenApproval[] {
    const { sending } = this.state;
    return [...this.#given.values()].filter(({ requestId }) => sending.has(requestId));
  }

  #show({ messages, revision, status, failure, rights, viewer }: StoredThread): void {
    this.#read = revision === undefined ? undefined : { revision, status };
    this.#page.removeSending(this.#withdrawn.answers);
    const unsent = this.#unsent;
    this.#given.clear();
    const unsaid = findLostText(messages, this.chat.messages, this.#withdrawn.unsaid);
    this.#withdrawn = { answers: [] };
    this.chat.messages = messages;
    this.chat.clearError();
    const openIds = this.#requests.openIds;
    this.#page.showLoaded({ failure, rights, viewer, status, openIds }, unsaid);
    const { open, outdatedIds, endedIds } = sortApprovals(messages, unsent);
    this.#page.showOutdated(outdatedIds);
    this.#page.removeSending([...outdatedIds, ...endedIds]);
    for (const answer of open) void this.#give(answer);
    if (status === 'running' && open.length === 0) void this.chat.resumeStream();
    else this.#requests.dropEnded();
  }
}
