import { fetchWithRetries, type RetryOptions } from './fetch-with-retries.ts';
import type { ThreadChatOptions } from './thread-chat-state.ts';

/** The type of the global `fetch`. */
export type Fetch = typeof globalThis.fetch;

/** How a page reaches the route of its thread. */
export class ThreadRoute {
  readonly api: string;
  /** Repeats a request until the server answers. */
  readonly fetch: Fetch;
  readonly #options: ThreadChatOptions;

  constructor(options: ThreadChatOptions, patience: Omit<RetryOptions, 'fetch'>) {
    const { api = '/api/chat', fetch } = options;
    this.#options = options;
    this.api = api;
    this.fetch = fetchWithRetries({ ...patience, fetch });
  }

  headers = (): Record<string, string> => {
    const { headers = {} } = this.#options;
    return typeof headers === 'function' ? headers() : headers;
  };

  /** Asks for the thread as it is stored. */
  async get(): Promise<Response> {
    const separator = this.api.includes('?') ? '&' : '?';
    const url = `${this.api}${separator}id=${encodeURIComponent(this.#options.id)}`;
    return this.fetch(url, { headers: this.headers() });
  }
}
