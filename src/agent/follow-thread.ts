import { checkMs } from '../content/check-settings.ts';
import { waitForTimer } from '../content/waiting.ts';
import type { AgentThread } from '../thread/agent-thread.ts';
import type { Agent } from './agent.ts';

/** Polling options for a thread that another worker runs. */
export interface PollingOptions {
  /** The polling interval in milliseconds, above 0 and below 2^31. Default 500. */
  pollMs?: number;
  /** Waits between polls; resolves early when the signal aborts. Default: a timer. */
  wait?: (milliseconds: number, signal: AbortSignal) => Promise<unknown>;
}

/** Throws a `TypeError` for a `pollMs` that no timer can keep. */
export function checkPolling({ pollMs }: PollingOptions): void {
  if (pollMs !== undefined) checkMs(pollMs, 'pollMs');
}

/** Yields the thread after each poll, until it is not running or the signal has aborted. */
export async function* followThread(
  agent: Pick<Agent, 'thread'>,
  threadId: string,
  { pollMs = 500, wait = waitForTimer, signal }: PollingOptions & { signal: AbortSignal },
): AsyncGenerator<AgentThread, void> {
  for (;;) {
    await wait(pollMs, signal);
    const thread = await agent.thread(threadId);
    yield thread;
    if (thread.status !== 'running' || signal.aborted) return;
  }
}
