import { type AgentOptions, createAgent, type Agent } from '../agent.ts';
import type { UserInputRequestContent } from '../content/user-input.ts';

/** Options of `listOpenRequests`. The first three are those of `holdPoint`: pass the same object. */
interface OpenRequestsOptions extends Pick<AgentOptions, 'name' | 'now'> {
  /** The store in which `holdPoint` keeps the threads. */
  store: NonNullable<AgentOptions['store']>;
  /** Only the requests of this thread. Without it, those of all threads: pass nothing, as `undefined` is refused. */
  threadId?: string;
}

/**
 * Lists the open requests of a thread, or of all threads, approvals and questions: for a loop that has no result to read them from, because
 * its process died or another process asked. Writes nothing. Each names its `threadId`; answer it with `answerMessage` in a call for that
 * thread.
 *
 * Those of one thread are read from its log, in the order in which they were made; a thread that does not exist has none. Those of all
 * threads are all that the store keeps as open for `name`, the oldest first: for pages, and for one person's requests, use
 * `agent.requests`. The caller is not checked; every answer is.
 *
 * Rejects with a `TypeError` for a `threadId` that is not a non-empty string, and without one if the store keeps no requests.
 *
 * @example
 * for (const request of await listOpenRequests({ store, threadId: 'trip-42' })) console.log(request.text);
 */
export async function listOpenRequests(
  options: OpenRequestsOptions,
): Promise<UserInputRequestContent[]> {
  const { store, name, now } = options;
  const agent = createAgent({
    model: 'none',
    store,
    name,
    now,
  });
  if (!('threadId' in options)) return listAll(agent);
  const thread = await agent.thread(checkThreadId(options.threadId));
  return thread.activeRequests.filter(({ expiresAt = Infinity }) => agent.now() < expiresAt);
}

/* `undefined` must not list everybody's requests where one thread's were meant. */
function checkThreadId(threadId: unknown): string {
  if (typeof threadId === 'string' && threadId !== '') return threadId;
  throw new TypeError(
    `threadId must be a non-empty string; got ${String(threadId)}. Leave it out to list the requests of all threads.`,
  );
}

async function listAll(agent: Agent): Promise<UserInputRequestContent[]> {
  const found: UserInputRequestContent[] = [];
  for (let after; ;) {
    const page = await agent.requests({ include: 'all', after });
    found.push(...page.requests.flatMap(({ request }) => request ?? []));
    if (page.next === undefined) return found;
    after = page.next;
  }
}
