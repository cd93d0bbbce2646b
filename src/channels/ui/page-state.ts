import type { ThreadChatState } from './thread-chat-state.ts';

/** How a page stands, and who listens to its changes. */
export class PageState {
  readonly #listeners = new Set<() => void>();
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
  reach(isReached: boolean): void {
    const isAway = this.#state.problem?.type === 'away';
    if (isReached === !isAway) return;
    const text = 'The server can’t be reached. Trying again …';
    this.set({ problem: isReached ? undefined : { type: 'away', text } });
  }
}
