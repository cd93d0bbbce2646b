import type { Agent } from '../../agent/agent.ts';
import type { HoldOptions } from '../../agent/held-stream.ts';
import type { Authorize } from '../../http/authorize.ts';
import type { OriginOptions } from '../../http/foreign-origin.ts';
import type { ThreadViewOptions } from './output/thread-view-options.ts';
import type { ConvertDataPart } from './input/user-message.ts';

/** How a web page reaches an agent. */
export interface UiHandlerOptions<RUNTIME_CONTEXT = Record<string, unknown>>
  extends ThreadViewOptions, HoldOptions, OriginOptions {
  agent: Pick<
    Agent<RUNTIME_CONTEXT>,
    'now' | 'thread' | 'stream' | 'respond' | 'deliver' | 'stop' | 'retract'
  >;
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
}
