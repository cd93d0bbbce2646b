import type { UIMessageChunk } from 'ai';
import type { AgentStreamEvent } from '../../../agent/agent-stream.ts';
import { HeldStream } from '../../../agent/held-stream.ts';
import type { RunOptions } from '../../../agent/run.ts';
import type { AgentThread } from '../../../thread/agent-thread.ts';
import type { UiHandlerOptions } from '../ui-handler-options.ts';
import { followRun } from './follow-run.ts';
import { broadcast } from './follow-run.ts';
import { type PagePosition, runChunks, ThreadChunks } from './thread-chunks.ts';

/** A run that has begun, and the page that it is streamed to. */
export interface StartedRun<RUNTIME_CONTEXT> {
  options: UiHandlerOptions<RUNTIME_CONTEXT>;
  runOptions: RunOptions<RUNTIME_CONTEXT>;
  thread: AgentThread;
  events: AsyncIterable<AgentStreamEvent>;
  position: PagePosition;
  /** The thread's revision before it recorded what the page sent. */
  before: number;
  disconnected: AbortSignal;
}

/** The stream of a page's run. A run of another worker on the thread is followed; if that worker is lost, its run is resumed here. */
export async function* chatChunks<RUNTIME_CONTEXT>({
  options,
  runOptions,
  position,
  before,
  disconnected,
  ...started
}: StartedRun<RUNTIME_CONTEXT>): AsyncGenerator<UIMessageChunk, void> {
  const chunks = new ThreadChunks(options);
  const held = new HeldStream(options.agent, options, disconnected);
  let { thread, events } = started;
  try {
    yield* chunks.begin(thread, position, before);
    for (;;) {
      const status = yield* runChunks(broadcast(options.agent, thread, events), thread, chunks);
      if (status === 'running')
        thread = yield* followRun(options, chunks, { thread, disconnected });
      else for await (thread of held.follow(thread)) yield* chunks.update(thread);
      if (disconnected.aborted || (status !== 'running' && !held.hasResult(thread))) break;
      events = options.agent.stream([], thread, runOptions);
    }
    const isRegenerate = position.type === 'nothing' && position.isRegenerate === true;
    yield* isRegenerate ? chunks.endRegenerated(thread, before) : chunks.end(thread);
  } catch (error) {
    yield* chunks.fail(thread, error);
  } finally {
    held.end();
  }
}
