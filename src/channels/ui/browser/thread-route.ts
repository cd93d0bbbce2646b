import type { UIMessage } from 'ai';
import { z } from 'zod';
import {
  fetchWithRetries,
  type FetchRetryOptions,
  detectDeadConnection,
} from './lost-connection.ts';
import { joinTexts } from './page-messages.ts';
import type { ThreadChatState, PageState } from './page-state.ts';
import { makeNotLoadedResponse, isShutOut } from './read-refusal.ts';

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
function parseSentContent(body: unknown): SentContent {
  const { answers, message } = sentSchema.parse(parseBody(body));
  const text = joinTexts(message?.parts ?? []);
  return {
    answers: answers.map(({ requestId }) => requestId),
    ...(text === '' ? {} : { unsaid: text }),
  };
}

/** What reading a thread needs from the page that shows it. */
interface ReadingPage {
  route: ThreadRoute;
  page: PageState;
  wait: NonNullable<ThreadChatOptions['wait']>;
  /** Aborted when the page is closed. */
  signal: () => AbortSignal;
  /** Whether no stream is under way. */
  isIdle: () => boolean;
  show: (stored: StoredThread) => void;
  /** Called when the server refuses to let the page read the thread. */
  onUnread: (status: number, refused: string) => void;
  /** Called when the server has read the thread for another person than the one for whom the page was loaded. */
  onOtherViewer: () => void;
}

/** Reads a thread again for its page: now, or after the current stream, once at a time. */
export class ThreadReader {
  readonly #page: ReadingPage;
  #reading: Promise<void> | undefined;
  #isPolling = false;
  /** Whether the page may show less than the server has. */
  isStale = false;

  constructor(page: ReadingPage) {
    this.#page = page;
  }

  /** Begins anew, for a page that was closed and is opened again. */
  async open(): Promise<void> {
    this.#reading = undefined;
    await this.refresh();
  }

  async refresh(): Promise<void> {
    this.isStale = true;
    const reading = (this.#reading ??= this.#catchUp(this.#page.signal()));
    await reading;
    if (this.#reading === reading) this.#reading = undefined;
  }

  async refreshLater(milliseconds: number): Promise<void> {
    const signal = this.#page.signal();
    if (milliseconds > 0) await this.#page.wait(milliseconds, signal);
    else await new Promise((resolve) => setTimeout(resolve));
    if (!signal.aborted) await this.refresh();
  }

  /** Reads the thread again if it has changed since the page saw it. */
  async poll(seen: string | undefined): Promise<void> {
    const signal = this.#page.signal();
    if (seen === undefined || !this.#page.isIdle() || this.#isPolling || signal.aborted) return;
    this.#isPolling = true;
    try {
      const { status } = await this.#page.route.get(seen);
      if (status !== 204 && !signal.aborted) await this.refresh();
    } catch (error) {
      if (!signal.aborted) throw error;
    } finally {
      this.#isPolling = false;
    }
  }

  async read(): Promise<StoredThread | undefined> {
    const { route, page, onUnread, onOtherViewer } = this.#page;
    const { viewer } = page.state;
    const signal = this.#page.signal();
    const response = await route.get();
    const body = await response.text();
    if (signal.aborted) return undefined;
    if (!response.ok) {
      onUnread(response.status, body);
      return undefined;
    }
    const stored = storedSchema.parse(JSON.parse(body));
    if (viewer === undefined || viewer === stored.viewer) return stored;
    onOtherViewer();
    return undefined;
  }

  async #catchUp(signal: AbortSignal): Promise<void> {
    const { page, isIdle, show } = this.#page;
    while (this.isStale && isIdle() && !signal.aborted) {
      this.isStale = false;
      try {
        const stored = await this.read();
        if (signal.aborted) return;
        /* A stream that has begun meanwhile is newer. */
        if (!isIdle()) this.isStale = true;
        else if (stored !== undefined) show(stored);
      } catch {
        if (!signal.aborted) page.showUnreadable(500, '');
      }
    }
  }
}

/** What sending needs from the page. */
interface SendingPage {
  route: ThreadRoute;
  page: PageState;
  wait: NonNullable<ThreadChatOptions['wait']>;
  /** Aborted when the page is closed. */
  signal: () => AbortSignal;
  /** Whether the thread's run is over. */
  isOver: () => Promise<boolean>;
  /** Called when the page is not for the person who is signed in now. */
  onShutOut: (status: number, refused: string) => void;
  onError: (error: unknown) => void;
}

/** Sends what people write and answer on a page, and knows what of it is not recorded yet. */
export class ThreadSender {
  readonly #page: SendingPage;
  sent: SentContent = { answers: [] };
  /** Resolved unless a request waits for its response from a server that can be reached. */
  #arrived = Promise.withResolvers<void>();

  constructor(page: SendingPage) {
    this.#page = page;
    this.#arrived.resolve();
  }

  get arrived(): Promise<void> {
    return this.#arrived.promise;
  }

  setReachable(isReachable: boolean): void {
    this.#page.page.setReachable(isReachable);
    this.#arrived.resolve();
  }

  /** The `fetch` of the AI SDK's transport. */
  async send(...[input, init]: Parameters<Fetch>): Promise<Response> {
    const { route, page, wait, isOver } = this.#page;
    const isPost = init?.method === 'POST';
    this.sent = isPost ? parseSentContent(init.body) : { answers: [] };
    if (isPost) page.set({ problem: undefined });
    if (isPost) this.#arrived = Promise.withResolvers();
    const { resolve } = this.#arrived;
    const response = await route.fetch(input, init).finally(resolve);
    if (!response.ok) return response;
    /* The answers are recorded, or the response says that they are not. */
    page.removeSending(this.sent.answers);
    this.sent = { answers: [] };
    return detectDeadConnection(response, { wait, isOver });
  }

  /** Sends a change of the votes of a request. Returns whether the page is still the same person's. */
  async change(requestId: string, change: object): Promise<boolean> {
    const { route, page, onShutOut, onError } = this.#page;
    const signal = this.#page.signal();
    page.set({ problem: undefined });
    page.addSending(requestId);
    try {
      const response = await route.post(change);
      const { ok, status } = response;
      const text = await response.text();
      if (signal.aborted) return false;
      if (!ok && isShutOut(status, text, { isAboutVote: true })) onShutOut(status, text);
      else if (!ok) page.showRefusal(status, text, { answers: [requestId] });
    } catch (error) {
      onError(error);
    }
    if (signal.aborted) return false;
    page.removeSending([requestId]);
    return true;
  }
}
