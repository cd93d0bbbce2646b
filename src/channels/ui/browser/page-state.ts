import { readRefusal } from './read-refusal.ts';
import type { ThreadChatState, ThreadProblem } from './thread-chat-state.ts';

/** How a page stands, and who listens to its changes. */
export class PageState {
  readonly #listeners = new Set<() => void>();
  /** What was to say before the server was away. */
  #before: ThreadProblem | undefined;
  /** What is to say as the thread could not be read. */
  #unread: ThreadProblem | undefined;
  #state: ThreadChatState = { isLoaded: false, problem: undefined, sending: new Set() };

  /** Another object after each change. */
  get state(): ThreadChatState {
    return this.#state;
  }

  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  set(change: Partial<ThreadChatState>): void {
    this.#state = { ...this.#state, ...change };
    for (const listener of this.#listeners) listener();
  }

  /** The answer to a request is on its way. */
  send(requestId: string): void {
    this.set({ sending: new Set([...this.#state.sending, requestId]) });
  }

  /** The answers to these requests are on their way no longer. */
  settle(requestIds: readonly string[]): void {
    const sending = new Set(this.#state.sending);
    for (const requestId of requestIds) sending.delete(requestId);
    if (sending.size < this.#state.sending.size) this.set({ sending });
  }

  /** The server was reached, or was not. */
  reach(isReachable: boolean): void {
    const isAway = this.#state.problem?.type === 'away';
    if (isReachable === !isAway) return;
    const text = 'The server can’t be reached. Trying again …';
    if (!isReachable) this.#before = this.#state.problem;
    this.set({ problem: isReachable ? this.#before : { type: 'away', text } });
  }

  /** The server refused what was sent; of a message, `unsaid` is the text. */
  refuse(status: number | undefined, refused: unknown, unsaid?: string): void {
    const { code, text } = readRefusal(refused) ?? {
      code: 'unknown',
      text: `The server refused this (${status}).`,
    };
    const problem = { type: 'refused', code, text } as const;
    this.set({ problem: unsaid === undefined ? problem : { ...problem, unsaid } });
  }

  /** The thread could not be read. Why the server refused what the person did is more to them. */
  showUnreadable(status: number, refused: string): void {
    const { problem } = this.#state;
    const isNew = problem?.type !== 'refused' || problem === this.#unread;
    const { code = 'unknown', text = 'This conversation can’t be read now.' } =
      readRefusal(refused) ?? {};
    this.#unread = status < 500 ? { type: 'refused', code, text } : { type: 'failed', text };
    if (isNew) this.set({ problem: this.#unread });
  }

  /** Whether the thread could not be read. */
  get isUnread(): boolean {
    return this.#unread !== undefined;
  }

  /** The thread is shown as it is stored; `unsaid` is the text that it lacks, as the person has stopped sending it. */
  load(failure: { text: string } | undefined, unsaid: string | undefined): void {
    const { problem } = this.#state;
    const unread = this.#unread;
    this.#unread = undefined;
    this.set({ isLoaded: true, problem: failure && { type: 'failed', text: failure.text } });
    if (unsaid !== undefined) {
      const text = 'Your message was not sent.';
      this.set({ problem: { type: 'refused', code: 'not-sent', text, unsaid } });
    } else if (problem?.type === 'refused' && problem !== unread) this.set({ problem });
  }
}
