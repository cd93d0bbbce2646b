import type { Tool } from 'ai';
import type { CallbackKeys } from './callback-url.ts';
import type { Poster } from './post-json.ts';

/** What the runtime knows of the server of a remote tool. */
export interface RemoteServer extends Poster {
  endpoint: URL;
  /** Where it hears that a call is not wanted any more. */
  cancelUrl: URL;
  /** Where it says whether it still has a call. */
  statusUrl: URL;
  keys: CallbackKeys;
  /** Where it may want answers sent. */
  origins: ReadonlySet<string>;
  onDismiss: 'cancel' | 'default';
  /** Waits before an answer is sent again. */
  wait: (milliseconds: number, signal: AbortSignal) => Promise<unknown>;
}

/** Where a remote tool keeps its server, for the handler of its callbacks. */
export const remote: unique symbol = Symbol.for('holdpoint.remote');

/** The server of a tool; `undefined` for a tool that is not remote. */
export function serverOf(tool: Tool): RemoteServer | undefined {
  const value: unknown = Reflect.get(tool, remote);
  return isServer(value) ? value : undefined;
}

function isServer(value: unknown): value is RemoteServer {
  return typeof value === 'object' && value !== null && 'keys' in value && 'origins' in value;
}
