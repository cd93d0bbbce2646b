import type { Tool } from 'ai';
import type { CallbackKeys } from './callback-url.ts';
import type { Poster } from './post-json.ts';

/** The tool server of a remote tool, as the agent's side knows it. */
export interface RemoteServer extends Poster {
  endpoint: URL;
  /** The URL that cancellations are posted to. */
  cancelUrl: URL;
  /** The URL for asking whether the server still has a call. */
  statusUrl: URL;
  /** The app's own URL for callbacks, without what `keys` adds for each call. */
  callbackUrl: URL;
  keys: CallbackKeys;
  /** The origins that answers may be sent to. */
  origins: ReadonlySet<string>;
  onDismiss: 'cancel' | 'default';
  /** Waits before an answer is sent again. */
  wait: (milliseconds: number, signal: AbortSignal) => Promise<unknown>;
}

/** The key under which a remote tool keeps its server, for the callback handler. */
export const remote: unique symbol = Symbol.for('holdpoint.remote');

/** The tool server of a tool; `undefined` for a tool that is not remote. */
export function readRemoteServer(tool: Tool): RemoteServer | undefined {
  const value: unknown = Reflect.get(tool, remote);
  return isServer(value) ? value : undefined;
}

function isServer(value: unknown): value is RemoteServer {
  return typeof value === 'object' && value !== null && 'keys' in value && 'origins' in value;
}
