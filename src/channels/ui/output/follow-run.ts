import type { UIMessageChunk } from 'ai';
import { EventBuffer } from '../../../content/event-buffer.ts';
import { timer } from '../../../content/timer.ts';
import type { AgentThread } from '../../../thread/agent-thread.ts';
import type { UiHandlerOptions } from '../ui-handler-options.ts';
import { type LiveEvent, nextStepOf, subscribe } from './live-runs.ts';
import type { ThreadChunks } from './thread-chunks.ts';

/** When a page that follows a run reads the thread: at events of a run in this process, and when it is time to poll. */
type Signal = LiveEvent | { type: 'poll' } | { type: 'failed'; error: unknown };

/**
 * Streams what another run records, until the thread is not running or the page has disconnected; for a run in this process also what the
 * model streams. Returns the thread as it is then.
 */
export async function* followRun<RUNTIME_CONTEXT>(
  { agent, pollMs = 500, wait = timer }: UiHandlerOptions<RUNTIME_CONTEXT>,
  chunks: ThreadChunks,
  { thread: opened, disconnected }: { thread: AgentThread; disconnected: AbortSignal },
): AsyncGenerator<UIMessageChunk, AgentThread> {
  const signals = new EventBuffer<Signal>();
  signals.open();
  const drop = (): void => signals.drop();
  if (disconnected.aborted) drop();
  disconnected.addEventListener('abort', drop);
  const unsubscribe = subscribe(agent, opened.id, (event) => signals.push(event));
  const poll = (): void => void pushAfter(wait(pollMs, disconnected), signals);
  let thread = opened;
  let step = nextStepOf(thread);
  try {
    poll();
    for (;;) {
      const { value: signal } = await signals.next();
      if (signal === undefined) return thread;
      if (signal.type === 'failed') throw signal.error;
      if (signal.type !== 'provisional' || signal.step > step) {
        thread = await agent.thread(opened.id);
        step = nextStepOf(thread);
        yield* chunks.update(thread);
      }
      if (signal.type === 'provisional' && signal.step === step) {
        yield* chunks.ofProvisional(signal.event);
      }
      if (signal.type === 'ended' || thread.status !== 'running') yield* chunks.reset();
      if (thread.status !== 'running') return thread;
      if (signal.type === 'poll') poll();
    }
  } finally {
    unsubscribe();
    disconnected.removeEventListener('abort', drop);
  }
}

async function pushAfter(waiting: Promise<unknown>, signals: EventBuffer<Signal>): Promise<void> {
  try {
    await waiting;
    signals.push({ type: 'poll' });
  } catch (error) {
    signals.push({ type: 'failed', error });
  }
}
