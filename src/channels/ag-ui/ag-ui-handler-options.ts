import type { Agent } from '../../agent.ts';
import type { HoldOptions } from '../../view/held-stream.ts';
import type { Authorize, OriginOptions } from '../../http/receive-request.ts';
import type { ErrorTextOptions } from '../../http/error-response.ts';

/** Options for the view that a client has of a thread. */
export interface AgUiViewOptions extends ErrorTextOptions {
  /**
   * The tools whose calls the client runs: those of the agent without `execute`. Their results are read from the client's tool messages.
   * The tools that a client lists itself are ignored. Default none.
   */
  clientTools?: readonly string[];
  /** Default `true`. */
  sendReasoning?: boolean;
}

/** The options of `createAgUiHandler`. */
export interface AgUiHandlerOptions<RUNTIME_CONTEXT = Record<string, unknown>>
  extends HoldOptions, OriginOptions, AgUiViewOptions {
  /** The agent that the clients talk to. */
  agent: Pick<Agent<RUNTIME_CONTEXT>, 'thread' | 'rights' | 'stream' | 'respond' | 'deliver'>;
  /**
   * Called before anything of the thread is read. A result without a principal, or `undefined`, is refused with 403; a `Response` is sent
   * unchanged; an error that it throws becomes a 500.
   */
  authorize: Authorize<RUNTIME_CONTEXT>;
  /**
   * The silence, in milliseconds, after which a stream sends a comment, which clients skip, so that no proxy closes the connection during a
   * long tool call. 0: never. Default 15,000.
   */
  keepAliveMs?: number;
  /** Waits between polls, and while a stream is silent; resolves early when the signal aborts. Default: a timer. */
  wait?: NonNullable<HoldOptions['wait']>;
  /**
   * The treatment of earlier messages that a client sends for a thread without events: `refuse`, the default, with `invalid-input`; or
   * `import`, as the beginning of the thread. The client may have made them up: a forged message can mislead the model, but nothing in it
   * can answer or run anything. Texts and calls are imported; calls without a result are closed.
   */
  history?: 'refuse' | 'import';
  /** Sent with every streamed response. */
  headers?: Record<string, string>;
  /** The maximum size of a body; clients send all of their history. Default 4 MiB. */
  maximumBodyBytes?: number;
  /** True if the run ends when the client disconnects. Default `false`: the run continues to its end. */
  abortOnDisconnect?: boolean;
}

/** The names of these options, and no others. */
export const agUiHandlerSettings = {
  agent: true,
  authorize: true,
  keepAliveMs: true,
  wait: true,
  history: true,
  headers: true,
  maximumBodyBytes: true,
  abortOnDisconnect: true,
  allowedOrigins: true,
  holdOpenMs: true,
  clientTools: true,
  pollMs: true,
  sendReasoning: true,
  onError: true,
  redactToolErrors: true,
} satisfies Record<keyof AgUiHandlerOptions, true>;
