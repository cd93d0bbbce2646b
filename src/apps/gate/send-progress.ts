import type { ServerContext } from '@modelcontextprotocol/server';
import { quoteInertLine } from '../../content/inert-text.ts';
import type { GateContext } from './gate-context.ts';

/* The pause between two notifications, in milliseconds: with and without news from the server. */
const shortestPauseMs = 1_000;
const longestPauseMs = 5_000;

/** Sends progress of a call to its client until the signal aborts, if the client asked for it: without progress it may give up. */
export class ProgressSender {
  readonly #gate: GateContext;
  readonly #context: ServerContext;
  readonly #over: AbortSignal;
  #message: string;
  #news = new AbortController();
  #stopFollowing: (() => void) | undefined;

  constructor(
    gate: GateContext,
    context: ServerContext,
    call: { tool: string; over: AbortSignal },
  ) {
    this.#gate = gate;
    this.#context = context;
    this.#over = call.over;
    this.#message = `${quoteInertLine(call.tool)} waits for a person or runs.`;
    call.over.addEventListener('abort', () => this.#stopFollowing?.(), { once: true });
    void this.#send();
  }

  /** Passes on the server's progress of the call in this thread. */
  follow(threadId: string): void {
    this.#stopFollowing?.();
    if (this.#over.aborted) return;
    this.#stopFollowing = this.#gate.upstreams.progress.follow(threadId, (text) => {
      this.#message = text;
      this.#news.abort();
    });
  }

  async #send(): Promise<void> {
    const { mcpReq } = this.#context;
    const { _meta: { progressToken } = {} } = mcpReq;
    if (progressToken === undefined) return;
    for (let progress = 1; ; progress += 1) {
      await this.#wait(shortestPauseMs, this.#over);
      await this.#wait(
        longestPauseMs - shortestPauseMs,
        AbortSignal.any([this.#over, this.#news.signal]),
      );
      if (this.#over.aborted) return;
      this.#news = new AbortController();
      const params = { progressToken, progress, message: this.#message };
      await mcpReq.notify({ method: 'notifications/progress', params }).catch(() => {});
    }
  }

  async #wait(milliseconds: number, signal: AbortSignal): Promise<void> {
    if (!signal.aborted) await this.#gate.wait(milliseconds, signal).catch(() => {});
  }
}
