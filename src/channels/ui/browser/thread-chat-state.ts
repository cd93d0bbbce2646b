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
  /** Waits between two attempts to reach the server; resolves early when the signal aborts. Default: a timer. */
  wait?: (milliseconds: number, signal: AbortSignal) => Promise<unknown>;
}

/** What a page has to say beside its messages. */
export type ThreadProblem =
  /** The server can't be reached. What was sent is sent again until it can. */
  | { type: 'away'; text: string }
  /** The server refused something, or never got it (`not-sent`); `unsaid` is the text that it did not take, for the input field. */
  | { type: 'refused'; text: string; code: string; unsaid?: string }
  /** The last run failed, or the thread could not be read; `tryAgain` resumes it or reads it, and a new message resumes it too. */
  | { type: 'failed'; text: string };

/** How a page stands beside its messages. */
export interface ThreadChatState {
  /** Whether the messages of the server are shown. */
  isLoaded: boolean;
  /** For the person at the page. Cleared by what is sent next. */
  problem: ThreadProblem | undefined;
  /** The requests whose answers are on their way: not recorded, as far as the page knows. */
  sending: ReadonlySet<string>;
}
