import type { UIMessageChunk } from 'ai';
import { lookUntilIdle } from '../../agent/look-until-idle.ts';
import type { AgentThread } from '../../thread/agent-thread.ts';
import type { ThreadTelling } from './thread-telling.ts';
import type { UiHandlerOptions } from './ui-handler-options.ts';

/** Tells what another run appends, until the thread is not running, or the page has gone. Gives the thread as it is then. */
export async function* follow<RUNTIME_CONTEXT>(
  { agent, ...options }: UiHandlerOptions<RUNTIME_CONTEXT>,
  telling: ThreadTelling,
  { thread: opened, gone }: { thread: AgentThread; gone: AbortSignal },
): AsyncGenerator<UIMessageChunk, AgentThread> {
  let thread = opened;
  for await (thread of lookUntilIdle(agent, opened.id, { ...options, signal: gone })) {
    yield* telling.news(thread);
  }
  return thread;
}
