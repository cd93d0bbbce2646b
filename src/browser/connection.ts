/**
 * The reachability of a server, shared by all conversations of a page. A failed request of one marks the server as unreachable for all; a
 * response to one makes the others retry at once.
 */
export class Connection {
  readonly #listeners = new Set<(isReachable: boolean) => void>();
  #isReachable = true;
  #pause = new AbortController();
  /** True if a page follows a thread through it: a server that stays silent is noticed then. */
  isWatched = false;

  get isReachable(): boolean {
    return this.#isReachable;
  }

  /** Aborts when the next attempt should start earlier than planned. */
  get pause(): AbortSignal {
    return this.#pause.signal;
  }

  /** Calls the listener with each change until the signal aborts. */
  subscribe(listener: (isReachable: boolean) => void, signal: AbortSignal): void {
    this.#listeners.add(listener);
    signal.addEventListener('abort', () => this.#listeners.delete(listener), { once: true });
  }

  /** Called with the outcome of each request, and when the browser reports that it is offline. */
  report(isReachable: boolean): void {
    if (isReachable === this.#isReachable) return;
    this.#isReachable = isReachable;
    for (const listener of this.#listeners) listener(isReachable);
    if (isReachable) this.retryNow();
  }

  /** Ends all pauses between attempts. */
  retryNow(): void {
    const pause = this.#pause;
    this.#pause = new AbortController();
    pause.abort();
  }
}

const connections = new WeakMap<object, Map<string, Connection>>();

/** The connection to a route, which all conversations share that reach it through the same `fetch`. */
export function shareConnection(fetch: object, api: string): Connection {
  const routes = connections.get(fetch) ?? new Map<string, Connection>();
  connections.set(fetch, routes);
  const connection = routes.get(api) ?? new Connection();
  routes.set(api, connection);
  return connection;
}
