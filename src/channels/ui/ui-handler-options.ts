import type { Agent } from '../../agent/agent.ts';
import type { TellingOptions } from './telling-options.ts';
import type { ConvertDataPart } from './user-input.ts';

/** What a request may do in a thread, and as whom. */
export interface Authorized<RUNTIME_CONTEXT = Record<string, unknown>> {
  /** Who it is, as the app knows them: any JSON but `null`; kept in the log with each answer. */
  principal: unknown;
  /** Through what they were reached; kept likewise. Default `'ui'`. */
  channel?: string;
  /** For the rules of `toolApproval`. */
  runtimeContext?: RUNTIME_CONTEXT;
}

/** Says who a request is from, and whether they may see and run the thread. */
export type Authorize<RUNTIME_CONTEXT = Record<string, unknown>> = (asked: {
  /** Its body has been read. */
  request: Request;
  /** As the request says; nothing of the thread has been read. */
  threadId: string;
}) => Decision<RUNTIME_CONTEXT> | PromiseLike<Decision<RUNTIME_CONTEXT>>;

type Decision<RUNTIME_CONTEXT> = Authorized<RUNTIME_CONTEXT> | Response | undefined;

/** How a web page reaches an agent. */
export interface UiHandlerOptions<
  RUNTIME_CONTEXT = Record<string, unknown>,
> extends TellingOptions {
  agent: Pick<Agent<RUNTIME_CONTEXT>, 'thread' | 'stream' | 'deliver'>;
  /**
   * Called before anything of the thread is read. `undefined`, or no principal, is 403; a `Response` is sent as it is; what it
   * throws is 500.
   */
  authorize: Authorize<RUNTIME_CONTEXT>;
  /** Makes text or a file for the model of a user's data parts, as in the AI SDK. Default: they are left out. */
  convertDataPart?: ConvertDataPart;
  /** For every streamed response. */
  headers?: Record<string, string>;
  /** How long a body may be. Default 1 MiB. */
  maximumBodyBytes?: number;
  /** Whether a page that leaves ends the run. Default `false`: what was begun is brought to its end. */
  abortOnDisconnect?: boolean;
  /** How often a thread is looked at that another worker runs, in milliseconds. Default 500. */
  pollMs?: number;
  /** Waits between these looks; resolves early when the signal aborts. Default: a timer. */
  wait?: (milliseconds: number, signal: AbortSignal) => Promise<unknown>;
}
