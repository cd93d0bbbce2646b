import { DBOS, type WorkflowHandle } from '@dbos-inc/dbos-sdk';
import type { UserModelMessage } from 'ai';
import { readPages } from '../content/read-pages.ts';
import {
  type Agent,
  type AgentResponse,
  type ResumedThread,
  resumeThread,
  runRecorded,
  soonestMs,
} from '../agent.ts';
import { checkMs } from '../content/check-settings.ts';
import { HoldpointError } from '../errors.ts';
import type { OnWake } from '../stores/postgres.ts';
import type { ThreadStore, ThreadSummary } from '../thread/thread-store.ts';

/** Options of `agentWorkflow`. */
interface AgentWorkflowOptions {
  /** The agent; its store has `wakeWorkflow` as its `onWake`, in every process that appends. */
  agent: Pick<Agent, 'name' | 'now' | 'thread' | 'run'>;
  /** The agent's store, in which `sweep` finds the threads that are overdue. */
  store: Pick<ThreadStore, 'list'>;
  /** The name of the workflow in DBOS. It must stay the same while workflows sleep. */
  name: string;
  /**
   * The DBOS queue on which the agent's runs are performed, each as a child workflow. Its limits then apply to runs, and not to workflows
   * that sleep. Without it, the workflow performs them itself.
   */
  queueName?: string;
  /** The longest sleep, in milliseconds, after which the workflow checks its thread without a wake. Default 3,600,000. */
  checkEveryMs?: number;
}

/** The input of an agent's workflow. DBOS stores it, so it is JSON. */
interface AgentWorkflowInput {
  /** The thread to run. */
  threadId: string;
  /** The message to reply to. Without one, the workflow resumes the thread. */
  message?: string | UserModelMessage;
  /** The person who sends the message, as in `agent.run`. */
  principal?: unknown;
  /** The channel of the message, as in `agent.run`. */
  channel?: string;
}

/** The end of an agent's workflow. */
interface AgentWorkflowResult {
  /** The thread that was run. */
  threadId: string;
  /** The end of its turn. */
  status: 'completed' | 'cancelled' | 'max-steps';
  /** The model's latest text. */
  text: string;
}

/** The parameters of `DBOS.startWorkflow`, such as `workflowID` and `timeoutMS`. */
type AgentWorkflowParameters = NonNullable<Parameters<typeof DBOS.startWorkflow>[1]>;

/** A workflow that is registered with DBOS. */
export interface AgentWorkflow {
  /**
   * Starts the workflow. The same `workflowID` starts it once, and is the id of the message, so that its turn is not repeated either. Also
   * from other workflows, as their child.
   */
  start(
    input: AgentWorkflowInput,
    parameters?: AgentWorkflowParameters,
  ): Promise<WorkflowHandle<AgentWorkflowResult>>;
  /**
   * Takes over the workflows of processes that never return: those whose thread has been due for 10 seconds and is not being run. Any
   * process of the same `applicationVersion` continues them. It is a DBOS workflow: schedule it every minute.
   *
   * @example
   * const schedule = { scheduleName: 'trips-sweep', workflowFn: trips.sweep, schedule: '* * * * *' };
   * await DBOS.applySchedules([schedule]); // after DBOS.launch()
   */
  readonly sweep: (scheduledAt: Date) => Promise<void>;
}

/** The state of a thread after a run. */
interface RunState {
  status: AgentResponse['status'];
  text: string;
  /** The time that the workflow sleeps if it is not woken, in milliseconds. */
  sleepMs: number;
}

/** A run of the thread: with the message, or a later one. */
type RunPart = AgentWorkflowInput & { messageId?: string };

const topic = 'holdpoint';

/*
 * The workflows whose run is in progress here. Work that a tool started keeps the context of its workflow after the run, when the workflow
 * sleeps.
 */
const running = new Set<string | undefined>();

/**
 * Registers a workflow that runs a thread until its turn is over. While the thread waits for people, deadlines or retries, the workflow
 * sleeps, for days if necessary, without occupying a process. Call it before `DBOS.launch()`.
 *
 * A run that fails is retried at the time in the log. The workflow fails only if its message is refused, with the `HoldpointError`.
 *
 * @example
 * const trips = agentWorkflow({ agent, store, name: 'trips' });
 * await DBOS.launch();
 * const handle = await trips.start({ threadId: 'trip-42', message: 'Book me a flight to Paris.' });
 * const { text } = await handle.getResult();
 */
export function agentWorkflow(options: AgentWorkflowOptions): AgentWorkflow {
  const { agent, store, name, queueName, checkEveryMs = 3_600_000 } = options;
  checkMs(checkEveryMs, 'checkEveryMs');

  const runStep = async (part: RunPart): Promise<RunState> =>
    DBOS.runStep(async () => runAndReadState(agent, part, checkEveryMs), {
      name: part.messageId === undefined ? 'resume' : 'run',
      retriesAllowed: true,
      maxAttempts: 10,
      shouldRetry: (error) => !HoldpointError.isInstance(error) || error.code === 'thread-busy',
    });
  const runOnQueue =
    queueName === undefined ? undefined : DBOS.registerWorkflow(runStep, { name: `${name}.run` });

  const run = async (part: RunPart): Promise<RunState> => {
    if (runOnQueue === undefined || queueName === undefined) return runStep(part);
    return (await DBOS.startWorkflow(runOnQueue, { queueName })(part)).getResult();
  };

  const workflow = async (input: AgentWorkflowInput): Promise<AgentWorkflowResult> => {
    const { threadId, message } = input;
    const messageId = message === undefined ? undefined : DBOS.workflowID;
    let state = await run(messageId === undefined ? { threadId } : { ...input, messageId });
    /* Without a message nothing may have been appended, and an append that began before the workflow did not wake it: it checks again. */
    if (message === undefined) state = { ...state, sleepMs: soonestMs };
    for (;;) {
      const { status, text, sleepMs } = state;
      if (isOver(status)) return { threadId, status, text };
      await DBOS.recv(topic, { timeoutSeconds: sleepMs / 1000 });
      state = await run({ threadId });
    }
  };
  const registered = DBOS.registerWorkflow(workflow, { name });
  const findOverdue = async () => findOverdueWorkflows({ agent, store, name });
  const sweep = async (): Promise<void> => {
    for (const { workflowID, ...queue } of await DBOS.runStep(findOverdue, { name: 'find' })) {
      await DBOS.resumeWorkflow(workflowID, queue);
    }
  };

  return {
    sweep: DBOS.registerWorkflow(sweep, { name: `${name}.sweep` }),
    start: async (input, { workflowAttributes, ...parameters } = {}) =>
      DBOS.startWorkflow(registered, {
        ...parameters,
        workflowAttributes: { ...workflowAttributes, [threadAttribute]: input.threadId },
      })(input),
  };
}

interface WakeOptions {
  /** The schema of the tables of DBOS. Default `dbos`. */
  schema?: string;
}

/**
 * Makes the `onWake` of a store in the system database of DBOS: each append that a sleeping workflow may wait for wakes it, in its own
 * transaction. The tables of DBOS must exist (`DBOS.launch` or `DBOS.migrate`), and the role of the store needs to read its
 * `workflow_status` and call its `send_message`.
 *
 * @example
 * const store = postgresStore(pool, { onWake: wakeWorkflow() });
 */
export function wakeWorkflow({ schema = 'dbos' }: WakeOptions = {}): OnWake {
  const quoted = `"${schema.replaceAll('"', '""')}"`;
  /* A workflow whose run appends, its own or that of its child on a queue, is awake. */
  const text = `
    select ${quoted}.send_message(workflow_uuid, '{}'::json, '${topic}')
    from ${quoted}.workflow_status
    where attributes @> jsonb_build_object('${threadAttribute}', $1::text)
      and status in ('PENDING', 'ENQUEUED', 'DELAYED')
      and ($2::text is null or not starts_with($2 || '-', workflow_uuid || '-'))`;
  return async ({ threadId }, transaction) => {
    const { workflowID } = DBOS;
    await transaction.query(text, [threadId, running.has(workflowID) ? workflowID : null]);
  };
}

/** Performs a run, and returns the state of the thread after it. */
async function runAndReadState(
  agent: AgentWorkflowOptions['agent'],
  part: RunPart,
  checkEveryMs: number,
): Promise<RunState> {
  const { workflowID } = DBOS;
  running.add(workflowID);
  const { response } = await runPart(agent, part).finally(() => running.delete(workflowID));
  /* Opened again: appends since the run's end have not woken the workflow. */
  const { nextDeadline = Infinity } = await agent.thread(part.threadId);
  const wait = nextDeadline - agent.now();
  return {
    status: response?.status ?? 'waiting',
    text: response?.text ?? '',
    sleepMs: wait > 0 ? Math.min(wait, checkEveryMs) : soonestMs,
  };
}

async function runPart(
  agent: AgentWorkflowOptions['agent'],
  { threadId, message, principal, channel, messageId }: RunPart,
): Promise<ResumedThread> {
  const signal = DBOS.stepStatus?.cancelSignal;
  const abort = signal === undefined ? {} : { abortSignal: signal };
  if (message === undefined) return resumeThread(agent, threadId, abort);
  const sender = channel === undefined ? { principal } : { principal, channel };
  const thread = await agent.thread(threadId);
  const id = messageId === undefined ? {} : { messageId };
  return runRecorded(thread, () => agent.run(message, thread, { ...abort, ...sender, ...id }));
}

function isOver(status: RunState['status']): status is AgentWorkflowResult['status'] {
  return status === 'completed' || status === 'cancelled' || status === 'max-steps';
}

/** The attribute of an agent's workflow that names its thread. */
const threadAttribute = 'holdpointThread';

/* The time for which a thread is due before its workflow is taken over, in milliseconds. */
const overdueMs = 10_000;

/** A workflow of DBOS, and its queue if it has one. */
interface QueuedWorkflow {
  workflowID: string;
  queueName?: string;
}

/** The workflows of overdue threads, with their runs on a queue. */
async function findOverdueWorkflows({
  agent,
  store,
  name,
}: {
  agent: Pick<Agent, 'name' | 'now'>;
  store: Pick<ThreadStore, 'list'>;
  name: string;
}): Promise<QueuedWorkflow[]> {
  const dueBefore = agent.now() - overdueMs;
  const found: QueuedWorkflow[] = [];
  const query = { agent: agent.name ?? null, dueBefore };
  const readPage = async (after?: ThreadSummary) => store.list({ ...query, after });
  for await (const page of readPages(readPage)) {
    for (const { threadId, nextDeadline = 0, updatedAt } of page) {
      if (Math.max(nextDeadline, updatedAt) > dueBefore) continue;
      found.push(...(await findStartedWorkflows(name, threadId)));
    }
  }
  return found;
}

/**
 * Finds the started workflows of a thread: if their process is gone, nothing continues them. None if a run waits for its turn on the queue:
 * then the queue is full.
 */
async function findStartedWorkflows(name: string, threadId: string): Promise<QueuedWorkflow[]> {
  const listed = { loadInput: false, loadOutput: false };
  const attributes = { [threadAttribute]: threadId };
  const workflows = await DBOS.listWorkflows({
    ...listed,
    workflowName: name,
    status: 'PENDING',
    attributes,
  });
  if (workflows.length === 0) return [];
  const runs = await DBOS.listWorkflows({
    ...listed,
    parentWorkflowID: workflows.map(({ workflowID }) => workflowID),
    status: ['PENDING', 'ENQUEUED', 'DELAYED'],
  });
  if (runs.some(({ status }) => status !== 'PENDING')) return [];
  return [...runs, ...workflows].map(({ workflowID, queueName }) =>
    queueName === undefined ? { workflowID } : { workflowID, queueName },
  );
}
