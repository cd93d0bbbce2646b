import type { Agent } from '../../agent/agent.ts';
import type { HoldOptions } from '../../agent/held-stream.ts';
import type { Authorize } from '../../http/authorize.ts';
import type { OriginOptions } from '../../http/foreign-origin.ts';
import type { ThreadViewOptions } from './telling-options.ts';

/** How an AG-UI client reaches an agent. */
export interface AgUiHandlerOptions<RUNTIME_CONTEXT = Record<string, unknown>>
  extends HoldOptions, OriginOptions, ThreadViewOptions {
  agent: Pick<Agent<RUNTIME_CONTEXT>, 'thread' | 'stream' | 'respond' | 'deliver'>;
  /**
   * Called before anything of the thread is read. `undefined`, or no principal, is 403; a `Response` is sent as it is; what it
   * throws is 500.
   */
  authorize: Authorize<RUNTIME_CONTEXT>;
  /**
   * After how many milliseconds in which a stream has told nothing it sends a comment, which clients skip, so that no proxy takes it
   * for dead: a tool may run for long. 0: never. Default 15,000.
   */
  keepAliveMs?: number;
  /** Waits between the looks, and while a stream is quiet; resolves early when the signal aborts. Default: a timer. */
  wait?: NonNullable<HoldOptions['wait']>;
  /** For every streamed response. */
  headers?: Record<string, string>;
  /** How long a body may be; clients send all of their history. Default 4 MiB. */
  maximumBodyBytes?: number;
  /** Whether a client that leaves ends the run. Default `false`: what was begun is brought to its end. */
  abortOnDisconnect?: boolean;
}
