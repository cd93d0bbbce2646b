import type { UIMessage } from 'ai';
import { z } from 'zod';
import { fetchWithRetries, type FetchRetryOptions } from './lost-connection.ts';
import { joinTexts } from './page-messages.ts';
import type { ThreadChatState } from './page-state.ts';
import { makeNotLoadedResponse } from './read-refusal.ts';

/** Which thread a page shows, and how it reaches the server. */
export interface ThreadChatOptions {
  /** The thread's id. */
  id: string;
  /** The route that `createUiHandler` serves. Default `/api/chat`, as in the AI SDK. */
  api?: string;
  /** Sent with each request; a function is called for each. */
  headers?: Record<string, string> | (() => Record<string, string>);
  /** Default: the global one. */
  fetch?: typeof globalThis.fetch;
  /** Waits before each retry; resolves early when the signal aborts. Default: a timer. */
  wait?: (milliseconds: number, signal: AbortSignal) => Promise<unknown>;
}

/** The type of the global `fetch`. */
export type Fetch = typeof globalThis.fetch;

interface RouteSettings extends Omit<FetchRetryOptions, 'fetch'> {
  /** Whether the page is loaded, and for whom. */
  page: () => Pick<ThreadChatState, 'isLoaded' | 'viewer'>;
}

/* The viewer of a GET is in the query, and that of a POST in the body, as neither needs a setting for pages of another origin. */
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

function parseBody(body: unknown): object {
  return z.looseObject({}).parse(JSON.parse(String(body)));
}

/** The route of a page's thread. */
export class ThreadRoute {
  readonly api: string;
  /** Says with each request for whom the page was loaded when the request was made, and repeats it so until the server responds. */
  readonly fetch: Fetch;
  readonly #options: ThreadChatOptions;

  constructor(options: ThreadChatOptions, { page, ...retries }: RouteSettings) {
    const { api = '/api/chat', fetch } = options;
    this.#options = options;
    this.api = api;
    const repeat = fetchWithRetries({ ...retries, fetch });
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
  async get(seen?: string): Promise<Response> {
    const separator = this.api.includes('?') ? '&' : '?';
    const url = `${this.api}${separator}id=${encodeURIComponent(this.#options.id)}`;
    const known = seen === undefined ? '' : `&seen=${encodeURIComponent(seen)}`;
    return this.fetch(`${url}${known}`, { headers: this.headers() });
  }

  /** Sends something besides a message or an answer. */
  async post(body: object): Promise<Response> {
    const headers = { ...this.headers(), 'content-type': 'application/json' };
    const text = JSON.stringify({ id: this.#options.id, ...body });
    return this.fetch(this.api, { method: 'POST', headers, body: text });
  }
}

/** A thread as `GET` returns it. */
export type StoredThread = z.infer<typeof storedSchema>;

const messageSchema = z.custom<UIMessage>(
  (value) =>
    z.looseObject({ id: z.string(), parts: z.array(z.unknown()) }).safeParse(value).success,
);
const storedSchema = z.object({
  messages: z.array(messageSchema),
  status: z.string(),
  viewer: z.string().optional(),
  failure: z.object({ text: z.string() }).optional(),
});

/** Parses the body of a response to `GET`. Throws for anything else. */
export function parseStoredThread(json: unknown): StoredThread {
  return storedSchema.parse(json);
}

/** The content of a page's `POST` that is lost if the server does not record it. */
export interface SentContent {
  /** The ids of the requests that it answers. */
  answers: string[];
  /** The text of the user's message in it. */
  unsaid?: string;
}

const sentSchema = z.object({
  answers: z.array(z.looseObject({ requestId: z.string() })).default([]),
  message: z.looseObject({ parts: z.array(z.unknown()) }).optional(),
});

/** The content of the body of a page's `POST`. */
export function parseSentContent(body: unknown): SentContent {
  const { answers, message } = sentSchema.parse(parseBody(body));
  const text = joinTexts(message?.parts ?? []);
  return {
    answers: answers.map(({ requestId }) => requestId),
    ...(text === '' ? {} : { unsaid: text }),
  };
}
