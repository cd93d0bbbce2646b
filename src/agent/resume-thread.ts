import type { AgentThread } from '../thread/agent-thread.ts';
import type { Agent } from './agent.ts';
import type { AgentResponse } from './agent-response.ts';

/** The delay before a thread that is due, but could not be run, is woken again, in milliseconds. */
export const soonestMs = 1_000;

/** The result of a wake-up. */
export interface ResumedThread {
  /** The thread as the run left it; `thread.nextDeadline` is the time to wake it next. */
  thread: AgentThread;
  /** Absent if the run failed or was aborted. */
  response?: AgentResponse;
  /** The error of the run, or the reason of the abort. It is in the log, with the time of the next attempt. */
  error?: unknown;
}

interface ResumeOptions {
  /** Ends the run: `abortSignal` of `agent.run`. */
  abortSignal?: AbortSignal | undefined;
}

/**
 * Runs a thread if it is due: for a job of a queue or a step of an engine, which may be woken too often or too early. A run that fails is
 * retried at a time in the log, so the promise resolves then too, and the queue's own retries are not needed. It rejects if the log does
 * not say when to resume, for example because the store can't be reached: then wake the thread again. See ADR 37.
 *
 * @example
 * const { thread } = await resumeThread(agent, job.threadId);
 * if (thread.nextDeadline !== undefined) await queue.add({ threadId: thread.id }, { at: thread.nextDeadline });
 */
export async function resumeThread(
  agent: Pick<Agent, 'thread' | 'run'>,
  threadId: string,
  options: ResumeOptions = {},
): Promise<ResumedThread> {
  const { abortSignal } = options;
  const abort = abortSignal === undefined ? {} : { abortSignal };
  const thread = await agent.thread(threadId);
  return runRecorded(thread, () => agent.run([], thread, { ...abort, onlyWhenDue: true }));
}

/** Performs a run of the thread. Rejects only if the log does not say that it failed. */
export async function runRecorded(
  thread: AgentThread,
  run: () => Promise<AgentResponse>,
): Promise<ResumedThread> {
  const { revision } = thread;
  try {
    return { thread, response: await run() };
  } catch (error) {
    const isRecorded = thread.revision > revision && thread.status !== 'running';
    if (!isRecorded) throw error;
    return { thread, error };
  }
}
