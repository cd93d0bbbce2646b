import { checkMs } from '../content/check-settings.ts';
import { waitForTimer } from '../content/waiting.ts';
import type { ToolCallRecord } from '../content/tool-call.ts';
import type { AgentThread } from '../thread/agent-thread.ts';
import type { Agent, PollingOptions } from '../agent.ts';

/** Options for a stream that is held open for calls that continue elsewhere. */
export interface HoldOptions extends PollingOptions {
  /**
   * The time for which a run that waits only for calls elsewhere holds its stream open, in milliseconds, below 2^31, in total: their
   * questions and outcomes are streamed in that time. Default 0: the stream ends, and the next run streams them.
   */
  holdOpenMs?: number;
  /** The tools whose calls the client runs. Such calls wait for the client and hold no stream open. */
  clientTools?: readonly string[];
}

/** Throws a `TypeError` for a `holdOpenMs` that no timer can keep. */
export function checkHold({ holdOpenMs = 0 }: HoldOptions): void {
  checkMs(holdOpenMs, 'holdOpenMs', 0);
}

/** A stream that may be held open. Its time starts with the first wait. */
export class HeldStream {
  readonly #agent: Pick<Agent, 'thread' | 'respond'>;
  readonly #options: HoldOptions;
  readonly #disconnected: AbortSignal;
  readonly #ended = new AbortController();
  #until: AbortSignal | undefined;
  /** The number of awaited calls when the thread was last followed. */
  #before = 0;

  constructor(
    agent: Pick<Agent, 'thread' | 'respond'>,
    options: HoldOptions,
    disconnected: AbortSignal,
  ) {
    this.#agent = agent;
    this.#options = options;
    this.#disconnected = disconnected;
  }

  /**
   * Yields the thread after each poll while it waits for calls elsewhere: until one of them ends or asks, the time is over, or the reader
   * has left. Yields nothing for a thread that waits for anything else.
   */
  async *follow(thread: AgentThread): AsyncGenerator<AgentThread, void> {
    const { holdOpenMs = 0, pollMs = 500, wait = waitForTimer } = this.#options;
    this.#before = this.#awaited(thread);
    if (holdOpenMs === 0 || this.#before === 0) return;
    this.#until ??= this.#end(holdOpenMs, wait);
    while (!this.#until.aborted) {
      await wait(pollMs, this.#until);
      const next = await this.#agent.thread(thread.id);
      /* Records the expiry of a call: there may be no worker to do it. */
      if (next.calls.some(expires)) await this.#agent.respond([], next);
      yield next;
      if (this.#awaited(next) !== this.#before) return;
    }
  }

  /** Checks whether a call has ended since then, so that a run can continue with its result. */
  hasResult(thread: AgentThread): boolean {
    return thread.activeRequests.length === 0 && this.#awaited(thread) < this.#before;
  }

  /** Ends all waits. */
  end(): void {
    this.#ended.abort();
  }

  #end(holdOpenMs: number, wait: NonNullable<PollingOptions['wait']>): AbortSignal {
    const over = new AbortController();
    const stop = (): void => over.abort();
    /* A wait that rejects when its signal aborts has ended, too. */
    void wait(holdOpenMs, this.#ended.signal).then(stop, stop);
    return AbortSignal.any([over.signal, this.#disconnected]);
  }

  #awaited({ activeRequests, calls }: AgentThread): number {
    const { clientTools = [] } = this.#options;
    const deferred = calls.filter(({ status }) => status === 'deferred');
    const isClients = deferred.some(({ toolName }) => clientTools.includes(toolName));
    return activeRequests.length > 0 || isClients ? 0 : deferred.length;
  }
}

function expires({ status, expiresAt }: ToolCallRecord): boolean {
  return status === 'deferred' && expiresAt !== undefined;
}
