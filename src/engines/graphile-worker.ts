import type { JobHelpers, Task, TaskList } from 'graphile-worker';
import { z } from 'zod';
import { readPages } from '../content/read-pages.ts';
import { type Agent, resumeThread, soonestMs } from '../agent.ts';
import { callGuarded } from '../content/app-errors.ts';
import type { OnWake } from '../stores/postgres.ts';
import type { AgentThread } from '../thread/agent-thread.ts';
import type { ThreadStore, ThreadSummary } from '../thread/thread-store.ts';

/** Options of `addResumeJob`. */
interface ResumeJobOptions {
  /** The schema of graphile-worker. Default `graphile_worker`. */
  schema?: string;
  /** The priority of the jobs; lower numbers run first. Default 0. */
  priority?: number;
}

/** Options of `resumeTasks`. */
interface ResumeTasksOptions {
  /** The agent whose threads are run. Give each agent on a store a name: it is part of the names of its tasks. */
  agent: Pick<Agent, 'name' | 'now' | 'thread' | 'run'>;
  /** The agent's store. */
  store: Pick<ThreadStore, 'list'>;
  /** Called after each run that failed. Errors that it throws or rejects with are ignored. */
  onError?: (error: unknown, threadId: string) => unknown;
}

/* A thread has at most one waiting job. A running job does not count: it may run an outdated state. */
const jobKey = (threadId: string): string => `holdpoint:${threadId}`;
const taskName = (agent: string | undefined, name = 'holdpoint'): string =>
  agent === undefined ? name : `${name}:${agent}`;

/* The time for which a thread is due before the sweep adds a job for it, in milliseconds. */
const overdueMs = 10_000;

/**
 * Makes the `onWake` of a store on the database of graphile-worker: an append that makes a thread due adds a job for `resumeTasks`, in its
 * own transaction, for the time at which the thread is due. The tables of graphile-worker must exist, and the role of the store needs its
 * `add_job`.
 *
 * @example
 * const store = postgresStore(pool, { onWake: addResumeJob() });
 */
export function addResumeJob({
  schema = 'graphile_worker',
  priority = 0,
}: ResumeJobOptions = {}): OnWake {
  const text = `select "${schema.replaceAll('"', '""')}".add_job($1, json_build_object('threadId', $2::text),
    run_at => greatest(now(), to_timestamp($3::float8 / 1000)), job_key => $4, priority => $5)`;
  return async ({ threadId, agent, nextDeadline }, transaction) => {
    if (nextDeadline === undefined) return;
    const values = [taskName(agent), threadId, nextDeadline, jobKey(threadId), priority];
    await transaction.query(text, values);
  };
}

/**
 * Makes the tasks that run an agent's threads: `holdpoint`, which runs one thread when it is due, and `holdpoint-sweep`, which adds jobs
 * for threads that are overdue because a process died or appended without `onWake`. Run the sweep every minute. For an agent with a name
 * they are `holdpoint:name` and `holdpoint-sweep:name`.
 *
 * @example
 * await run({ pgPool, taskList: resumeTasks({ agent, store }), crontab: '* * * * * holdpoint-sweep' });
 */
export function resumeTasks({ agent, store, onError }: ResumeTasksOptions): TaskList {
  const resume: Task = async (payload, helpers) => {
    const { threadId } = payloadSchema.parse(payload);
    const resumed = await resumeThread(agent, threadId, { abortSignal: helpers.abortSignal });
    if (resumed.error !== undefined) {
      void callGuarded((error: unknown) => onError?.(error, threadId), resumed.error);
    }
    await addNext(agent, resumed.thread, helpers);
  };
  const sweep: Task = async (_payload, { addJobs }) => {
    const query = { agent: agent.name ?? null, dueBefore: agent.now() - overdueMs };
    const readPage = async (after?: ThreadSummary) => store.list({ ...query, after });
    for await (const page of readPages(readPage)) {
      await addJobs(
        page.map(({ threadId, nextDeadline = 0, updatedAt }) => ({
          identifier: taskName(agent.name),
          payload: { threadId },
          jobKey: jobKey(threadId),
          /* A job may wait for a later time. An overdue job keeps its place among the others, even if it is swept several times. */
          runAt: new Date(Math.max(nextDeadline, updatedAt)),
        })),
      );
    }
  };
  return {
    [taskName(agent.name)]: resume,
    [taskName(agent.name, 'holdpoint-sweep')]: sweep,
  };
}

const payloadSchema = z.object({ threadId: z.string() });

/**
 * Adds the next job. The run's last append has done so already, unless there was no run: this job came too early. A waiting job keeps its
 * time, as an append after the run may have added it.
 */
async function addNext(
  agent: ResumeTasksOptions['agent'],
  { id: threadId, nextDeadline }: AgentThread,
  { addJob }: JobHelpers,
): Promise<void> {
  if (nextDeadline === undefined) return;
  const now = agent.now();
  const runAt = new Date(nextDeadline > now ? nextDeadline : now + soonestMs);
  const waiting = { jobKey: jobKey(threadId), jobKeyMode: 'preserve_run_at' } as const;
  await addJob(taskName(agent.name), { threadId }, { ...waiting, runAt });
}
