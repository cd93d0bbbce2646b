import type {
  InboxAction,
  InboxCounts,
  InboxList,
  InboxOutcome,
  InboxPage,
  InboxRequest,
} from '../inbox-api.ts';
import type { Answer } from './answers.ts';
import {
  findRefusal,
  type InboxRefusal,
  isCounts,
  isOutcome,
  isOutcomes,
  isPage,
  isRequest,
} from './decode-responses.ts';

/** The filters and the order of a list. A field that is `''` limits nothing. */
export interface ListQuery {
  list: InboxList;
  order: 'risk' | 'expires' | 'oldest';
  agent: string;
  tool: string;
  risk: string;
  requester: string;
  text: string;
}

/** The first query of a page. */
export const firstQuery: ListQuery = {
  list: 'mine',
  order: 'risk',
  agent: '',
  tool: '',
  risk: '',
  requester: '',
  text: '',
};

/* The status of a redirect that a browser does not follow. The route itself never redirects: a sign-in does. */
const redirected = 0;

/** The error of a whole request that the server refused. */
export class RefusedError extends Error {
  readonly refusal: InboxRefusal;
  readonly #status: number;

  constructor(refusal: InboxRefusal, status: number) {
    super(refusal.message);
    this.refusal = refusal;
    this.#status = status;
  }

  /** True if the person is no longer signed in, or may not use the inbox. A sign-in of the app may have answered, in HTML. */
  get isForbidden(): boolean {
    return (
      [redirected, 401, 403].includes(this.#status) || this.refusal.code === 'foreign-response'
    );
  }

  /** True if a request is gone, or the person may not see it. */
  get isNotFound(): boolean {
    return this.refusal.code === 'not-found';
  }
}

/** A problem with reading. */
export interface ReadProblem {
  text: string;
  /** True if no signed-in person may read the page's content: it is hidden until one is. */
  isWithheld: boolean;
}

/** The problem that the page shows once nobody is signed in. */
export const signedOut: ReadProblem = { text: 'You may have to sign in again.', isWithheld: true };

/** Describes why reading has failed. A sign-in of the app may have answered, in HTML. */
export function describeProblem(error: unknown): ReadProblem {
  if (error instanceof RefusedError) return { text: error.message, isWithheld: error.isForbidden };
  return { text: 'The page could not read what the server responded.', isWithheld: true };
}

interface ClientOptions {
  /** The address of the route's API. Ends with `/`. */
  api: string;
  /** Repeats requests without a response. Repeating an answer is harmless. */
  fetch: (url: string, init?: RequestInit) => Promise<Response>;
  now: () => number;
  /** Called when another person has signed in. */
  onOtherViewer: () => void;
}

/** The page's requests to its route. */
export class InboxClient {
  readonly #options: ClientOptions;
  #viewer: string | undefined;
  /** The lead of the server's clock. */
  #ahead = 0;
  #position = 0;

  constructor(options: ClientOptions) {
    this.#options = options;
  }

  /** The present, by the server's clock. */
  get now(): number {
    return this.#options.now() + this.#ahead;
  }

  /** The position in the feed of changes that the first list was read at. */
  get position(): number {
    return this.#position;
  }

  async readList(query: ListQuery, { after, limit }: { after?: string; limit?: number } = {}) {
    const search = new URLSearchParams();
    for (const [name, value] of Object.entries({ ...query, after, limit })) {
      if (value !== undefined && value !== '') search.set(name, String(value));
    }
    const page: InboxPage = await this.#get(`requests?${search}`, isPage);
    this.#position = Math.max(this.#position, page.position);
    return page;
  }

  async readRequest(requestId: string): Promise<InboxRequest> {
    return this.#get(`requests/${encodeURIComponent(requestId)}`, isRequest);
  }

  async readCounts(): Promise<InboxCounts> {
    return this.#get('counts', isCounts);
  }

  /** Sends answers; returns one outcome for each, in order. Rejects with a `RefusedError` if the whole request was refused. */
  async answer(answers: readonly Answer[]): Promise<InboxOutcome[]> {
    const { outcomes } = await this.#post('answers', { answers }, isOutcomes);
    return outcomes;
  }

  /** Performs another action on one request. */
  async act(action: Omit<InboxAction, 'viewer'>): Promise<InboxOutcome> {
    return this.#post('actions', action, isOutcome);
  }

  async #post<RESULT>(
    path: string,
    body: object,
    isResult: (value: unknown) => value is RESULT,
  ): Promise<RESULT> {
    const response = await this.#send(path, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ viewer: this.#viewer, ...body }),
    });
    const result: unknown = await response.json();
    if (!isResult(result)) throw new TypeError(foreign);
    return result;
  }

  async #get<RESULT extends { viewer: string; at: number }>(
    path: string,
    isResult: (value: unknown) => value is RESULT,
  ): Promise<RESULT> {
    const response = await this.#send(this.#withViewer(path), {});
    const result: unknown = await response.json();
    if (!isResult(result)) throw new TypeError(foreign);
    this.#ahead = result.at - this.#options.now();
    this.#viewer ??= result.viewer;
    if (result.viewer !== this.#viewer) this.#options.onOtherViewer();
    return result;
  }

  /* Another person who has signed in is refused. */
  #withViewer(path: string): string {
    if (this.#viewer === undefined) return path;
    const viewer = `viewer=${encodeURIComponent(this.#viewer)}`;
    return `${path}${path.includes('?') ? '&' : '?'}${viewer}`;
  }

  async #send(path: string, init: RequestInit): Promise<Response> {
    const { api, fetch } = this.#options;
    const response = await fetch(`${api}${path}`, { ...init, redirect: 'manual' });
    if (response.ok) return response;
    const refusal = await readRefusal(response);
    if (refusal.code === 'other-viewer') this.#options.onOtherViewer();
    throw new RefusedError(refusal, response.status);
  }
}

const foreign = 'Something else answered for the server.';

async function readRefusal(response: Response): Promise<InboxRefusal> {
  const body: unknown = await response.json().catch(() => undefined);
  const { status } = response;
  const message =
    status === redirected || status === 401
      ? signedOut.text
      : `The server refused this (${status}).`;
  return findRefusal(body) ?? { code: `http-${status}`, message };
}
