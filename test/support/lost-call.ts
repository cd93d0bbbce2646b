import { type AgentOptions, memoryStore, type ThreadStore, type ThreadSummary } from 'holdpoint';
import { scriptedModel } from './scripted-model.ts';
import { book, travelTools, travelWorld } from './travel-world.ts';

/** How long the runs of these worlds hold a thread. */
export const leaseMs = 1_000;

/**
 * Threads whose process died in the call that a person had approved: the log says that the call was started, nobody knows what came of
 * it, and the lease is over.
 */
export async function lostCalls(
  threadIds: readonly string[],
  options: Partial<AgentOptions> = {},
  store: ThreadStore = memoryStore(),
  approvers: readonly unknown[] = [undefined],
  requester?: string,
) {
  const clock = { now: 1_000 };
  const script = [{ calls: [book('c1', 'Paris')] }, { text: 'Done.' }];
  const agent = (over: Partial<AgentOptions> = {}) => {
    const world = travelWorld(scriptedModel([{ text: 'Done.' }], { repeat: true }), () => store);
    return { ...world, agent: world.agent({ leaseMs, now: () => clock.now, ...options, ...over }) };
  };
  for (const threadId of threadIds) {
    const { promise: started, resolve } = Promise.withResolvers<void>();
    const world = travelWorld(scriptedModel(script), () => store);
    const dying = world.agent({
      leaseMs,
      now: () => clock.now,
      ...options,
      tools: neverEnding(options, resolve),
    });
    const { approvalRequests, thread } = await dying.run('Book', await dying.thread(threadId), {
      principal: requester,
    });
    const answers = approvalRequests.map((request) => request.approve({ reason: 'Yes.' }));
    for (const principal of approvers) void dying.run(answers, thread, { principal });
    await started;
  }
  clock.now += leaseMs;
  return { store, clock, agent };
}

/* The process that dies is one whose tools never come back. */
function neverEnding({ tools = travelTools([]) }: Partial<AgentOptions>, onStart: () => void) {
  const execute = async () => {
    onStart();
    return new Promise<never>(() => {});
  };
  return Object.fromEntries(
    Object.entries(tools).map(([name, tool]) => [name, { ...tool, execute }]),
  );
}

/** The ids of the threads with a status. */
export async function idsWith(
  store: ThreadStore,
  status: ThreadSummary['status'],
): Promise<string[]> {
  const ids: string[] = [];
  for (let after: ThreadSummary | undefined; ;) {
    const page = await store.list({ status, ...(after && { after }) });
    ids.push(...page.map(({ threadId }) => threadId));
    after = page.at(-1);
    if (after === undefined) return ids;
  }
}
