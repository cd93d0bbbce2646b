import {
  type AgentThread,
  memoryStore,
  type RequestPlace,
  type RequestQuery,
  type StoredRequest,
  type ThreadStore,
  type UserInputRequestContent,
} from 'holdpoint';

/** The row of an open request. */
export function rowOf(
  request: UserInputRequestContent,
  { agent }: Pick<AgentThread, 'agent'> = { agent: undefined },
): StoredRequest {
  const { requestId, threadId, createdAt, expiresAt } = request;
  const terms = request.type === 'approval-request' ? request : undefined;
  return {
    requestId,
    threadId,
    agent: agent ?? null,
    tenant: null,
    kind: request.type === 'approval-request' ? 'approval' : 'question',
    toolName: request.toolCall?.toolName ?? null,
    requesters: [],
    approvers: terms?.approvers ?? [],
    risk: terms?.risk ?? null,
    createdAt,
    ...(expiresAt === undefined ? {} : { expiresAt }),
    votes: terms?.votes?.length ?? 0,
    quorum: terms?.quorum ?? 1,
    state: 'open',
    decidedBy: null,
    text: JSON.stringify(request),
  };
}

function isAfter(one: RequestPlace, other: RequestPlace): boolean {
  if (one.createdAt !== other.createdAt) return one.createdAt > other.createdAt;
  return one.requestId > other.requestId;
}

async function none(): Promise<never> {
  throw new Error('The test has no such part.');
}

/** A store in memory whose rows are those of a test, and how many of them were read. */
export function storeOfRows(rows: StoredRequest[] = []) {
  const reads = { rows: 0, queries: [] as RequestQuery[] };
  const list = async (query: RequestQuery): Promise<StoredRequest[]> => {
    const { state, approver, agent, before, after, limit = 100 } = query;
    const found = rows
      .filter((row) => state !== 'open' || row.state === 'open')
      .filter((row) => agent === undefined || row.agent === agent)
      .filter(
        ({ approvers }) =>
          approver === undefined ||
          approvers.length === 0 ||
          approvers.some((each) => approver.includes(each)),
      )
      .filter((row) => after === undefined || isAfter(row, after))
      .filter((row) => before === undefined || isAfter(before, row))
      .toSorted((one, other) => (isAfter(one, other) ? 1 : -1));
    const page = before === undefined ? found.slice(0, limit) : found.slice(-limit);
    reads.rows += page.length;
    reads.queries.push(query);
    return page;
  };
  const store: ThreadStore = memoryStore();
  store.requests = {
    list,
    count: none,
    get: none,
    fill: none,
    erase: none,
    changes: none,
    take: none,
    acknowledge: none,
    deleteChanges: none,
  };
  return { store, rows, reads };
}
