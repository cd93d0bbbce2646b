import type { Progress } from '@modelcontextprotocol/client';
import { inertLine } from '../../content/inert-text.ts';

type Listener = (text: string) => void;

/* Of what a server says, in characters. */
const longestMessage = 200;

/** What servers say of their running calls, for those who wait for these. */
export class CallProgress {
  readonly #listeners = new Map<string, Set<Listener>>();

  /** Calls the listener with each text about the call of this thread. Returns what removes it. */
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

/** Progress of a server, as a line in which nothing looks like a text of ours. */
export function describeProgress(server: string, { progress, total, message }: Progress): string {
  const amount = total === undefined ? `${progress}` : `${progress} of ${total}`;
  const said = message === undefined ? '' : `: ${inertLine(message.slice(0, longestMessage))}`;
  return `${server} reports ${amount}${said}`;
}
