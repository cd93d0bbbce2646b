import { DBOS } from '@dbos-inc/dbos-sdk';
import type { Agent } from '../../agent/agent.ts';
import type { ThreadStore, ThreadSummary } from '../../thread/thread-store.ts';

/** The attribute of an agent's workflow that names its thread. */
export const threadAttribute = 'holdpointThread';

/* How long a thread is due before its workflow is taken over, in milliseconds. */
const overdueMs = 10_000;

/** A workflow of DBOS, and its queue if it has one. */
interface QueuedWorkflow {
  workflowID: string;
  queueName?: string;
}

/** The workflows of overdue threads, with their runs on a queue. */
export async function findOverdueWorkflows({
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
  let page: ThreadSummary[] = [];
  do {
    const after = page.at(-1);
    const query = { agent: agent.name ?? null, dueBefore };
    page = await store.list({ ...query, ...(after === undefined ? {} : { after }) });
    for (const { threadId, nextDeadline = 0, updatedAt } of page) {
      if (Math.max(nextDeadline, updatedAt) > dueBefore) continue;
      found.push(...(await findStartedWorkflows(name, threadId)));
    }
  } while (page.length > 0);
  return found;
}

/**
 * The started workflows of a thread: if their process is gone, nobody continues them. None if a run waits for its turn on the queue: then
 * the queue is full.
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
