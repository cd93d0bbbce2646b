import type { UIMessageChunk } from 'ai';
import type { RunOptions } from '../../../agent/run/run-options.ts';
import type { AgentStreamEvent } from '../../../agent/agent-stream.ts';
import { HeldStream } from '../../../agent/held-stream.ts';
import type { AgentThread } from '../../../thread/agent-thread.ts';
import { followRun } from './follow-run.ts';
import { broadcast } from './live-runs.ts';
import { runChunks } from './run-chunks.ts';
import { type PagePosition, ThreadChunks } from './thread-chunks.ts';
import type { UiHandlerOptions } from '../ui-handler-options.ts';

/** A run that has begun, and the page that is told of it. */
export interface StartedRun<RUNTIME_CONTEXT> {
  options: UiHandlerOptions<RUNTIME_CONTEXT>;
  runOptions: RunOptions<RUNTIME_CONTEXT>;
  thread: AgentThread;
  events: AsyncIterable<AgentStreamEvent>;
  position: PagePosition;
  /** The revision of the thread before it took what the page brought. */
  before: number;
  gone: AbortSignal;
}

/**
 * Tells a page what comes of what it brought. Where another worker runs the thread, that is followed; where that worker is
 * lost, the run is taken up here.
 */
export async function* chatChunks<RUNTIME_CONTEXT>({
  options,
  runOptions,
  position,
  before,
  gone,
  ...begun
}: StartedRun<RUNTIME_CONTEXT>): AsyncGenerator<UIMessageChunk, void> {
  const threadChunks = new ThreadChunks(options);
  const held = new HeldStream(options.agent, options, gone);
  let { thread, events } = begun;
  try {
    yield* threadChunks.begin(thread, position, before);
    for (;;) {
      const status = yield* runChunks(
        broadcast(options.agent, thread, events),
        thread,
        threadChunks,
      );
      if (status === 'running') thread = yield* followRun(options, threadChunks, { thread, gone });
      else for await (thread of held.follow(thread)) yield* threadChunks.news(thread);
      if (gone.aborted || (status !== 'running' && !held.hasResult(thread))) break;
      events = options.agent.stream([], thread, runOptions);
    }
    const isRegenerate = position.type === 'nothing' && position.isRegenerate === true;
    yield* isRegenerate ? threadChunks.endRegenerated(thread, before) : threadChunks.end(thread);
  } catch (error) {
    yield* threadChunks.fail(thread, error);
  } finally {
    held.end();
  }
}
