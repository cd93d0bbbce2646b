import { z } from 'zod';
import { shareConnection, type Connection } from '../../../browser/connection.ts';
import {
  fetchIfReached,
  fetchWithRetries,
  type FetchRetryOptions,
} from '../../../browser/lost-connection.ts';
import type { PageBrowser } from './page-browser.ts';
import type { ThreadChatState } from './page-state.ts';
import { makeNotLoadedResponse } from './read-refusal.ts';

/** The thread of a page, and the settings for reaching the server. */
export interface ThreadChatOptions {
  /** The thread's id. */
  id: string;
  /** The route that `createUiHandler` serves. Default `/api/chat`, as in the AI SDK. */
  api?: string;
  /** Headers of each request; a function is called for each. */
  headers?: Record<string, string> | (() => Record<string, string>);
  /** Default: the global one. */
  fetch?: typeof globalThis.fetch;
  /** Waits before each retry; resolves early when the signal aborts. Default: a timer. */
  wait?: (milliseconds: number, signal: AbortSignal) => Promise<unknown>;
  /** The parts of the browser that the page uses: visibility, online state, and locks. Default: the global objects, if any. */
  browser?: PageBrowser;
}

/** The type of the global `fetch`. */
export type Fetch = typeof globalThis.fetch;

interface RouteSettings extends Omit<FetchRetryOptions, 'fetch' | 'connection'> {
  /** Checks whether the page is loaded, and for whom. */
  page: () => Pick<ThreadChatState, 'isLoaded' | 'viewer'>;
}

/* The viewer is in the query of a GET and in the body of a POST: neither needs a CORS setting. */
function withViewer(
  [input, init]: Parameters<Fetch>,
  viewer: string | undefined,
): Parameters<Fetch> {
  if (viewer === undefined) return [input, init];
  if (init?.method === 'POST') {
    return [input, { ...init, body: JSON.stringify({ ...parseBody(init.body), viewer }) }];
  }
  const url = input instanceof Request ? input.url : String(input);
  return [`${url}${url.includes('?') ? '&' : '?'}viewer=${encodeURIComponent(viewer)}`, init];
}

export function parseBody(body: unknown): object {
  return z.looseObject({}).parse(JSON.parse(String(body)));
}

/** The route of a page's thread. */
export class ThreadRoute {
  readonly api: string;
  /** Sends each request with the page's viewer at that moment, and repeats it unchanged until the server responds. */
  readonly fetch: Fetch;
  /** Shared with the other conversations of the page. */
  readonly connection: Connection;
  readonly #options: ThreadChatOptions;
  readonly #viewer: () => string | undefined;

  constructor(options: ThreadChatOptions, { page, ...retries }: RouteSettings) {
    const { api = '/api/chat', fetch } = options;
    this.#options = options;
    this.#viewer = () => page().viewer;
    this.api = api;
    this.connection = shareConnection(fetch ?? ThreadRoute, api);
    const repeat = fetchWithRetries({ ...retries, connection: this.connection, fetch });
    this.fetch = async (input, init) => {
      const { isLoaded, viewer } = page();
      if (init?.method === 'POST' && !isLoaded) return makeNotLoadedResponse();
      return repeat(...withViewer([input, init], viewer));
    };
  }

  headers = (): Record<string, string> => {
    const { headers = {} } = this.#options;
    return typeof headers === 'function' ? headers() : headers;
  };

  /** Requests the thread as it is stored. With `seen`, the response is empty (204) if the thread is still as the page saw it. */
  async get(seen?: string, signal?: AbortSignal): Promise<Response> {
    const ends = signal === undefined ? {} : { signal };
    return this.fetch(this.#makeUrl(seen), { headers: this.headers(), ...ends });
  }

  /**
   * Waits at the server until the thread is no longer as the page saw it: one attempt, which is `undefined` if the server can't be reached,
   * or something on the way doesn't let a request wait.
   */
  async hold(seen: string, signal: AbortSignal): Promise<Response | undefined> {
    const { fetch = globalThis.fetch } = this.#options;
    const init = { headers: this.headers(), signal };
    const held = withViewer([`${this.#makeUrl(seen)}&follow`, init], this.#viewer());
    return fetchIfReached(async () => fetch(...held));
  }

  #makeUrl(seen: string | undefined): string {
    const separator = this.api.includes('?') ? '&' : '?';
    const url = `${this.api}${separator}id=${encodeURIComponent(this.#options.id)}`;
    return seen === undefined ? url : `${url}&seen=${encodeURIComponent(seen)}`;
  }

  /** Sends a request other than a message or an answer. */
  async post(body: object): Promise<Response> {
    const headers = { ...this.headers(), 'content-type': 'application/json' };
    const text = JSON.stringify({ id: this.#options.id, ...body });
    return this.fetch(this.api, { method: 'POST', headers, body: text });
  }
}
