import type { UIMessageChunk } from 'ai';
import type { AgentThread } from '../../thread/agent-thread.ts';
import type { ThreadTelling } from './thread-telling.ts';
import type { UiHandlerOptions } from './ui-handler-options.ts';

/** Tells what another run appends, until the thread is not running, or the page has gone. Gives the thread as it is then. */
export async function* follow<RUNTIME_CONTEXT>(
  { agent, pollMs = 500, wait = timer }: UiHandlerOptions<RUNTIME_CONTEXT>,
  telling: ThreadTelling,
  { threadId, gone }: { threadId: string; gone: AbortSignal },
): AsyncGenerator<UIMessageChunk, AgentThread> {
  for (;;) {
    await wait(pollMs, gone);
    const thread = await agent.thread(threadId);
    yield* telling.news(thread);
    if (thread.status !== 'running' || gone.aborted) return thread;
  }
}

async function timer(milliseconds: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  await new Promise<void>((resolve) => {
    const end = (): void => {
      clearTimeout(handle);
      signal.removeEventListener('abort', end);
      resolve();
    };
    const handle = setTimeout(end, milliseconds);
    signal.addEventListener('abort', end, { once: true });
  });
}
