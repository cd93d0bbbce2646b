import { awaitUntilAborted, startTimeLimit } from '../../content/waiting.ts';
import { quoteInertLine } from '../../content/inert-text.ts';
import { HoldpointError } from '../../errors.ts';
import type { AgentThread } from '../../thread/agent-thread.ts';
import { endTurn } from './calls-here.ts';
import type { ClientCall, GateContext } from './gate-context.ts';

/* A call uses up its approval even if no server gets it. So the server is reached before an approved call starts. */

/* A server may be a process that is started for each try. */
const firstPauseMs = 1_000;
/* The time that a person who runs a call waits for its server, in milliseconds. */
const patienceMs = 30_000;

/** Checks whether a call was approved, and has not started. */
export function isApproved({ status, calls: [call] }: AgentThread): boolean {
  return status === 'due' && call?.status === 'approved';
}

/**
 * Retries connecting to the server of a tool until `over` aborts. The returned signal aborts once it is connected, or at once if it already
 * was.
 */
export async function reachServer(
  { upstreams, wait }: GateContext,
  tool: string,
  over: AbortSignal,
): Promise<AbortSignal> {
  const ready = new AbortController();
  const reach = async (): Promise<void> => {
    for (let pauseMs = firstPauseMs; ; pauseMs *= 2) {
      try {
        await upstreams.connect(tool);
        return ready.abort();
      } catch {
        /* The connection has reported it. */
        await wait(pauseMs, over).catch(() => {});
        if (over.aborted) return;
      }
    }
  };
  void reach();
  await endTurn();
  return ready.signal;
}

/** Connects to the server of an approved call. Throws `not-allowed` if that fails or takes too long. */
export async function requireServer(
  { upstreams, wait, closing }: GateContext,
  { tool, upstream }: Pick<ClientCall, 'tool' | 'upstream'>,
): Promise<void> {
  const limit = startTimeLimit(patienceMs, wait);
  try {
    await awaitUntilAborted(upstreams.connect(tool), AbortSignal.any([limit.signal, closing]));
  } catch (error) {
    throw new HoldpointError(
      'not-allowed',
      `The MCP server ${quoteInertLine(upstream)} is not ready, so the call was not run. Its approval stands: run it again later, or let its client call again.`,
      { cause: error },
    );
  } finally {
    limit.stop();
  }
}
