import type { Progress } from '@modelcontextprotocol/client';
import { inertLine } from '../../content/inert-text.ts';

type Listener = (text: string) => void;

/* The limit for a server's message, in characters. */
const longestMessage = 200;

/** Passes the progress of running calls from servers to waiting callers. */
export class CallProgress {
  readonly #listeners = new Map<string, Set<Listener>>();

  /** Calls the listener with each text about the call of this thread. Returns the unsubscribe function. */
  follow(threadId: string, listener: Listener): () => void {
    const listeners = this.#listeners.get(threadId) ?? new Set();
    this.#listeners.set(threadId, listeners.add(listener));
    return () => {
      listeners.delete(listener);
      if (listeners.size === 0) this.#listeners.delete(threadId);
    };
  }

  report(threadId: string | undefined, text: string): void {
    for (const listener of this.#listeners.get(threadId ?? '') ?? []) listener(text);
  }
}

/** Describes a server's progress as a line in which nothing looks like a text of ours. */
export function describeProgress(server: string, { progress, total, message }: Progress): string {
  const amount = total === undefined ? `${progress}` : `${progress} of ${total}`;
  const said = message === undefined ? '' : `: ${inertLine(message.slice(0, longestMessage))}`;
  return `${server} reports ${amount}${said}`;
}
