import { type AbstractChat, APICallError, type ChatInit, type UIMessage } from 'ai';
import { timer } from '../../../content/timer.ts';
import type { UserInputResponseContent } from '../../../content/user-input.ts';
import { detectDeadConnection } from './detect-dead-connection.ts';
import {
  approvalIdIn,
  type GivenApproval,
  givenApprovals,
  isPlainApproval,
  lostText,
  seenWaiting,
  sortApprovals,
  withReopened,
} from './page-messages.ts';
import { PageState, type ThreadChatState } from './page-state.ts';
import { firstRefusedAnswer } from './read-refusal.ts';
import { stopChat } from './stop-chat.ts';
import { ThreadReader } from './thread-reader.ts';
import {
  type Fetch,
  type SentContent,
  sentContent,
  type StoredThread,
  type ThreadChatOptions,
  ThreadRoute,
} from './thread-route.ts';
import { lastAssistantMessageHasApprovalResponses, threadTransport } from './use-chat-options.ts';

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
  readonly chat: CHAT;
  readonly #route: ThreadRoute;
  readonly #wait: NonNullable<ThreadChatOptions['wait']>;
  readonly #page = new PageState();
  readonly #reader: ThreadReader;
  #closing = new AbortController();
  #sent: SentContent = { answers: [] };
  /** What was being sent when the person stopped it. */
  #withdrawn: SentContent = { answers: [] };
  /** Resolved unless a request waits for its response from a server that can be reached. */
  #arrived = Promise.withResolvers<void>();
  #finished = Promise.withResolvers<void>();

  /** `makeChat` creates the chat of your framework: `(init) => new Chat(init)`. */
  constructor(makeChat: (init: ChatInit<UIMessage>) => CHAT, options: ThreadChatOptions) {
    const { id, wait = timer } = options;
    this.#wait = wait;
    this.#arrived.resolve();
    this.#route = new ThreadRoute(options, {
      wait,
      signal: () => this.#closing.signal,
      onReachable: (isReachable) => this.#setReachable(isReachable),
    });
    this.#reader = new ThreadReader({
      route: this.#route,
      page: this.#page,
      wait,
      signal: () => this.#closing.signal,
      isIdle: () => this.#isIdle,
      show: (stored) => this.#show(stored),
      onUnread: () => this.#reopen([...this.state.sending]),
    });
    const { api, headers } = this.#route;
    this.chat = makeChat({
      id,
      transport: threadTransport({
        api,
        headers,
        fetch: async (input, init) => this.#send(input, init),
        isGiven: (requestId) => this.state.sending.has(requestId),
      }),
      sendAutomaticallyWhen: lastAssistantMessageHasApprovalResponses,
      onData: (part) => this.#receive(part),
      onError: (error) => this.#fail(error),
      onFinish: (end) => this.#finish(end),
    });
  }

  get state(): ThreadChatState {
    return this.#page.state;
  }

  /** Calls `listener` when `state` has changed. Returns the unsubscribe function. */
  subscribe = (listener: () => void): (() => void) => this.#page.subscribe(listener);

  /** Reads the thread, and follows its run if it has one. Can be called again after `close`. */
  async open(): Promise<void> {
    this.#closing = new AbortController();
    await this.#reader.open();
  }

  /** Aborts the requests of this page. Runs on the server continue. */
  close(): void {
    this.#closing.abort(new DOMException('The page was closed.', 'AbortError'));
  }

  /** Reads the thread again: now, or after the current stream. */
  refresh = async (): Promise<void> => this.#reader.refresh();

  /** Answers an approval or a question. The answer is sent, and sent again if the server can't be reached, until it is recorded or refused. */
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

  /** Lets somebody else answer a request instead of the person: a name, role or team of the app. */
  reassign = async (requestId: string, to: string): Promise<void> =>
    this.#change(requestId, { reassign: { requestId, to } });

  /** Reads the thread again if it waits for people and has changed since. `useThreadChat` calls it every two seconds. */
  poll = async (): Promise<void> => this.#reader.poll(seenWaiting(this.chat.messages));

  /** Stops the run: the server keeps the text so far, and the next message is accepted. If it can't be reached, stops sending instead. */
  stop = async (): Promise<void> => {
    /* A request that arrived after the stop would start another run. */
    await this.#arrived.promise;
    if (this.state.problem?.type === 'away') {
      this.#withdrawn = { ...this.#sent, answers: [...this.state.sending] };
      return this.chat.stop();
    }
    const { api, fetch, headers } = this.#route;
    const page = { id: this.chat.id, stop: this.chat.stop, resumeStream: this.refresh };
    await stopChat(page, { api, fetch, headers: headers() }).catch((error: unknown) =>
      this.#fail(error),
    );
  };

  /** Resumes a thread whose last run failed, or reads a thread that could not be read. */
  tryAgain = async (): Promise<void> => {
    if (this.#page.isUnread) return this.refresh();
    if (this.#isIdle && this.chat.messages.length > 0) await this.chat.regenerate();
  };

  async #change(requestId: string, change: object): Promise<void> {
    this.#page.set({ problem: undefined });
    this.#page.addSending(requestId);
    try {
      const response = await this.#route.post(change);
      if (!response.ok) {
        const text = await response.text();
        this.#page.showRefusal(response.status, text, { answers: [requestId] });
      }
    } catch (error) {
      this.#fail(error);
    }
    this.#page.removeSending([requestId]);
    await this.refresh();
  }

  /** Gives an approval as the AI SDK's, which is then sent automatically. */
  async #give({ requestId, approved, reason }: Omit<GivenApproval, 'digest'>): Promise<void> {
    const id = approvalIdIn(this.chat.messages, requestId) ?? requestId;
    const why = reason === undefined ? {} : { reason };
    await this.chat.addToolApprovalResponse({ id, approved, ...why });
  }

  get #isIdle(): boolean {
    return this.chat.status === 'ready' || this.chat.status === 'error';
  }

  #setReachable(isReachable: boolean): void {
    this.#page.setReachable(isReachable);
    this.#arrived.resolve();
  }

  async #send(...[input, init]: Parameters<Fetch>): Promise<Response> {
    const isPost = init?.method === 'POST';
    this.#sent = isPost ? sentContent(init.body) : { answers: [] };
    if (isPost) this.#page.set({ problem: undefined });
    if (isPost) this.#arrived = Promise.withResolvers();
    const { resolve } = this.#arrived;
    const response = await this.#route.fetch(input, init).finally(resolve);
    if (!response.ok) return response;
    /* The answers are recorded, or the response says that they are not. */
    this.#page.removeSending(this.#sent.answers);
    this.#sent = { answers: [] };
    const isOver = async (): Promise<boolean> => (await this.#reader.read())?.status !== 'running';
    return detectDeadConnection(response, { wait: this.#wait, isOver });
  }

  #receive({ type, data }: { type: string; data: unknown }): void {
    if (type === 'data-stale') this.#reader.isStale = true;
    if (type !== 'data-refused-answers') return;
    this.#reader.isStale = true;
    this.#page.set({ problem: { type: 'refused', ...firstRefusedAnswer(data) } });
  }

  #fail(error: unknown): void {
    if (APICallError.isInstance(error)) {
      this.#page.showRefusal(error.statusCode, error, this.#sent);
      this.#reopen(this.#sent.answers);
      void this.#reader.refreshLater(0);
    } else if (error instanceof TypeError) {
      this.#setReachable(false);
      void this.#reader.refreshLater(retryMs);
    } else {
      const text = error instanceof Error ? error.message : String(error);
      this.#page.set({ problem: { type: 'failed', text } });
      if (this.state.sending.size > 0) void this.#reader.refreshLater(0);
    }
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
    if (!isError && (isAbort || this.#reader.isStale)) void this.#reader.refreshLater(0);
  }

  #show({ messages, status, failure }: StoredThread): void {
    this.#page.removeSending(this.#withdrawn.answers);
    const unsent = givenApprovals(this.chat.messages, this.state.sending);
    const unsaid = lostText(messages, this.chat.messages, this.#withdrawn.unsaid);
    this.#withdrawn = { answers: [] };
    this.chat.messages = messages;
    this.chat.clearError();
    this.#page.showLoaded(failure, unsaid);
    const { open, outdatedIds, endedIds } = sortApprovals(messages, unsent);
    this.#page.showOutdated(outdatedIds);
    this.#page.removeSending([...outdatedIds, ...endedIds]);
    for (const answer of open) void this.#give(answer);
    if (status === 'running' && open.length === 0) void this.chat.resumeStream();
  }
}
