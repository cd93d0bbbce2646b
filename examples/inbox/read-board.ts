import {
  type Agent,
  type AgentThread,
  hidePrincipals,
  type ListedRequest,
  type RequestListQuery,
  type ThreadStore,
  type ThreadSummary,
} from 'holdpoint';
import type { Board, BoardEntry, ConversationLine } from './board.ts';
import { ownerPrefix, owns, type Person } from './identity.ts';

/** A person's conversations by id. */
type Conversations = ReadonlyMap<string, { summary: ThreadSummary; thread: AgentThread }>;

const mostEnded = 12;

/** Creates a function that reads a person's board: their requests from the rows of the store, and their conversations from the threads. */
export function boardReader({ agent, store }: { agent: Agent; store: ThreadStore }) {
  const threads = new Map<string, AgentThread>();

  return async function readBoard(person: Person): Promise<Board> {
    const conversations = new Map<string, { summary: ThreadSummary; thread: AgentThread }>();
    for (const summary of await listOwn(person)) {
      const { threadId, revision } = summary;
      conversations.set(threadId, { summary, thread: await findThread(threadId, revision) });
    }
    const of = { principal: person.name, requester: person.name };
    const waiting = await listAll({ ...of, order: 'risk' });
    const decided = { ...of, state: 'decided', order: 'decided', limit: mostEnded } as const;
    const { requests: ended } = await agent.requests(decided);
    return {
      viewer: person.name,
      conversations: [...conversations.values()]
        .map(toLine)
        .toSorted((one, other) => other.updatedAt - one.updatedAt),
      entries: [
        ...order(waiting, conversations).flatMap((each) => toEntry(each, conversations)),
        ...ended.flatMap((each) => toEntry(each, conversations)),
      ],
    };
  };

  /** The person's threads, which are one range of ids. */
  async function listOwn(person: Person): Promise<ThreadSummary[]> {
    const found: ThreadSummary[] = [];
    for (let after = { threadId: ownerPrefix(person), updatedAt: 0 }; ;) {
      const page = await store.list({ after });
      const own = page.filter(({ threadId }) => owns(person, threadId));
      found.push(...own);
      const last = page.at(-1);
      if (last === undefined || own.length < page.length) return found;
      after = last;
    }
  }

  /** All pages of what waits for the person. */
  async function listAll(query: RequestListQuery): Promise<ListedRequest[]> {
    const { requests, next: after } = await agent.requests(query);
    if (after === undefined) return requests;
    return [...requests, ...(await listAll({ ...query, after }))];
  }

  async function findThread(threadId: string, revision: number): Promise<AgentThread> {
    const known = threads.get(threadId);
    if (known?.revision === revision) return known;
    const thread = await agent.thread(threadId);
    threads.set(threadId, thread);
    return thread;
  }
}

function toLine({
  summary,
  thread,
}: {
  summary: ThreadSummary;
  thread: AgentThread;
}): ConversationLine {
  const { threadId, updatedAt, openRequests: waiting } = summary;
  return { threadId, title: titleOf(thread), updatedAt, waiting };
}

/** The riskiest first; of equal risk, those of the conversation that asked last, in the model's order. */
function order(waiting: readonly ListedRequest[], conversations: Conversations): ListedRequest[] {
  const latest = new Map<string, number>();
  for (const { threadId, createdAt } of waiting.map(({ row }) => row)) {
    latest.set(threadId, Math.max(createdAt, latest.get(threadId) ?? 0));
  }
  const latestOf = ({ row }: ListedRequest): number => latest.get(row.threadId) ?? 0;
  const placeOf = ({ row: { threadId, requestId } }: ListedRequest): number =>
    conversations
      .get(threadId)
      ?.thread.activeRequests.findIndex((request) => request.requestId === requestId) ?? 0;
  return waiting.toSorted(
    (one, other) =>
      rankOf(other) - rankOf(one) ||
      latestOf(other) - latestOf(one) ||
      placeOf(one) - placeOf(other),
  );
}

/** How risky a request is. A risk that nobody named is between low and high. */
function rankOf({ row: { risk } }: ListedRequest): number {
  return ['low', 'medium', 'high', 'critical'].indexOf(risk ?? 'medium');
}

/** The entry of a request; none for a lost call. Who answered is named; principals are for the server alone. */
function toEntry({ row, request }: ListedRequest, conversations: Conversations): BoardEntry[] {
  const { requestId, threadId, state, decidedBy, decidedAt = 0 } = row;
  const thread = conversations.get(threadId)?.thread;
  if (request === undefined || thread === undefined) return [];
  const response = thread.decisions.find((each) => each.request.requestId === requestId)?.response;
  const outcome = thread.calls.find((call) => call.requestId === requestId)?.outcome;
  return [
    {
      request: hidePrincipals(request),
      title: titleOf(thread),
      status: statusOf(state),
      ...(response && { answer: { response, name: decidedBy ?? 'somebody', at: decidedAt } }),
      ...(outcome && { outcome }),
    },
  ];
}

function statusOf(state: ListedRequest['row']['state']): BoardEntry['status'] {
  switch (state) {
    case 'open':
      return 'waiting';
    case 'expired':
    case 'cancelled':
    case 'invalidated':
      return state;
    case 'approved':
    case 'rejected':
    case 'answered':
    case 'dismissed':
    case 'settled':
      return 'answered';
  }
}

function titleOf(thread: AgentThread): string {
  const said = thread.messages.find(({ role }) => role === 'user')?.content;
  if (typeof said === 'string') return said;
  const text = said?.find((part) => part.type === 'text');
  return text?.type === 'text' ? text.text : 'A conversation';
}
