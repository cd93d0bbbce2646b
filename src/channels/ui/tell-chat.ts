import type { UIMessageChunk } from 'ai';
import type { RunOptions } from '../../agent/run/run-options.ts';
import type { AgentStreamEvent } from '../../agent/agent-stream.ts';
import { HeldStream } from '../../agent/held-stream.ts';
import type { AgentThread } from '../../thread/agent-thread.ts';
import { follow } from './follow.ts';
import { broadcast } from './live-runs.ts';
import { tellRun } from './tell-run.ts';
import { type PageStand, ThreadTelling } from './thread-telling.ts';
import type { UiHandlerOptions } from './ui-handler-options.ts';

/** A run that has begun, and the page that is told of it. */
export interface BegunRun<RUNTIME_CONTEXT> {
  options: UiHandlerOptions<RUNTIME_CONTEXT>;
  runOptions: RunOptions<RUNTIME_CONTEXT>;
  thread: AgentThread;
  events: AsyncIterable<AgentStreamEvent>;
  stand: PageStand;
  /** The revision of the thread before it took what the page brought. */
  before: number;
  gone: AbortSignal;
}

/**
 * Tells a page what comes of what it brought. Where another worker runs the thread, that is followed; where that worker is
 * lost, the run is taken up here.
 */
export async function* tellChat<RUNTIME_CONTEXT>({
  options,
  runOptions,
  stand,
  before,
  gone,
  ...begun
}: BegunRun<RUNTIME_CONTEXT>): AsyncGenerator<UIMessageChunk, void> {
  const telling = new ThreadTelling(options);
  const held = new HeldStream(options.agent, options, gone);
  let { thread, events } = begun;
  try {
    yield* telling.begin(thread, stand, before);
    for (;;) {
      const status = yield* tellRun(broadcast(options.agent, thread, events), thread, telling);
      if (status === 'running') thread = yield* follow(options, telling, { thread, gone });
      else for await (thread of held.follow(thread)) yield* telling.news(thread);
      if (gone.aborted || (status !== 'running' && !held.hasResult(thread))) break;
      events = options.agent.stream([], thread, runOptions);
    }
    const isAgain = stand.type === 'nothing' && stand.isAgain === true;
    yield* isAgain ? telling.endAgain(thread, before) : telling.end(thread);
  } catch (error) {
    yield* telling.fail(thread, error);
  } finally {
    held.end();
  }
}
