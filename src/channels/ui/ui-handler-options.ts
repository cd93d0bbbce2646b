import type { ToolSet } from 'ai';
import type { Agent } from '../../agent.ts';
import type { HoldOptions } from '../../view/held-stream.ts';
import type { Authorize, OriginOptions } from '../../http/receive-request.ts';
import type { ErrorTextOptions } from '../../http/error-response.ts';
import type { ConvertDataPart } from './input/user-message.ts';

/** Options for the view that a page has of a thread. Those that the AI SDK has too mean the same here. */
export interface ThreadViewOptions extends ErrorTextOptions {
  /** The agent's tools, which say which calls are dynamic and give them their titles and metadata. */
  tools?: ToolSet;
  /** Default `true`. */
  sendReasoning?: boolean;
  /** The sources that the model cited, below the step that cites them. Default `true`. */
  sendSources?: boolean;
  /** The tools whose calls the page itself runs: those without `execute`. Default none. */
  clientTools?: readonly string[];
}

/** The options of `createUiHandler`. */
export interface UiHandlerOptions<RUNTIME_CONTEXT = Record<string, unknown>>
  extends ThreadViewOptions, HoldOptions, OriginOptions {
  /** The agent that the page talks to. */
  agent: Pick<
    Agent<RUNTIME_CONTEXT>,
    | 'now'
    | 'thread'
    | 'rights'
    | 'stream'
    | 'respond'
    | 'deliver'
    | 'stop'
    | 'withdraw'
    | 'reassign'
  >;
  /**
   * Called before anything of the thread is read. A result without a principal, or `undefined`, is refused with 403; a `Response` is sent
   * unchanged; an error that it throws becomes a 500.
   */
  authorize: Authorize<RUNTIME_CONTEXT>;
  /**
   * The treatment of earlier messages that a page sends for a thread without events: `refuse`, the default, with `invalid-input`; or
   * `import`, as the beginning of the thread. The page may have made them up: a forged message can mislead the model, but nothing in it can
   * answer or run anything. Texts, files and calls are imported; calls without a result are closed.
   */
  history?: 'refuse' | 'import';
  /** Converts a user's data parts into text or files for the model, as in the AI SDK. Default: they are left out. */
  convertDataPart?: ConvertDataPart;
  /** Sent with every streamed response. */
  headers?: Record<string, string>;
  /** The maximum size of a body. Default 1 MiB. */
  maximumBodyBytes?: number;
  /**
   * The time that the route holds the request of a page that follows an unchanged thread, in milliseconds, below 2^31. Default 25,000. 0:
   * it responds at once, and the page polls every 1.5 seconds; for hosts where an open request is costly.
   */
  followMs?: number;
  /** True if the run ends when the page disconnects. Default `false`: the run continues to its end. */
  abortOnDisconnect?: boolean;
}

/** The names of these options, and no others. */
export const uiHandlerSettings = {
  agent: true,
  authorize: true,
  history: true,
  convertDataPart: true,
  headers: true,
  maximumBodyBytes: true,
  abortOnDisconnect: true,
  allowedOrigins: true,
  followMs: true,
  holdOpenMs: true,
  clientTools: true,
  pollMs: true,
  wait: true,
  tools: true,
  sendReasoning: true,
  sendSources: true,
  onError: true,
  redactToolErrors: true,
} satisfies Record<keyof UiHandlerOptions, true>;
