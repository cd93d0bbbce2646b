import { type Agent, type AgentThread, hidePrincipals, type ThreadStore } from 'holdpoint';
import type { Board, BoardEntry, ConversationLine } from './board.ts';
import { ownerPrefix, owns, type Person, personSchema } from './identity.ts';

interface ThreadPart {
  conversation: ConversationLine;
  entries: BoardEntry[];
}

const mostEnded = 12;

/** Creates a function that reads a person's board from their threads. */
export function boardReader({ agent, store }: { agent: Agent; store: ThreadStore }) {
  const parts = new Map<string, ThreadPart & { revision: number }>();

  return async function readBoard(person: Person): Promise<Board> {
    const read: ThreadPart[] = [];
    for (let after = { threadId: ownerPrefix(person), updatedAt: 0 }; ;) {
      const page = await store.list({ after });
      const own = page.filter(({ threadId }) => owns(person, threadId));
      for (const { threadId, revision } of own) read.push(await readPart(threadId, revision));
      const last = page.at(-1);
      if (last === undefined || own.length < page.length) return boardOf(person, read);
      after = last;
    }
  };

  async function readPart(threadId: string, revision: number): Promise<ThreadPart> {
    const known = parts.get(threadId);
    if (known?.revision === revision) return known;
    const thread = await agent.thread(threadId);
    const part = partOf(thread);
    parts.set(threadId, { ...part, revision: thread.revision });
    return part;
  }
}

function boardOf({ name }: Person, parts: readonly ThreadPart[]): Board {
  const entries = parts
    .flatMap((part) => part.entries)
    .toSorted((one, other) => other.askedAt - one.askedAt);
  const waiting = entries
    .filter(({ status }) => status === 'waiting')
    .toSorted((one, other) => rankOf(other) - rankOf(one));
  const ended = entries.filter(({ status }) => status !== 'waiting').slice(0, mostEnded);
  return {
    viewer: name,
    conversations: parts
      .map(({ conversation }) => conversation)
      .toSorted((one, other) => other.updatedAt - one.updatedAt),
    entries: [...waiting, ...ended],
  };
}

/** How risky a request is. A risk that nobody named is between low and high. */
function rankOf({ request }: BoardEntry): number {
  const { risk = 'medium' } = request.type === 'approval-request' ? request : {};
  return ['low', 'medium', 'high', 'critical'].indexOf(risk);
}

function partOf(thread: AgentThread): ThreadPart {
  const title = titleOf(thread);
  const entries = entriesOf(thread, title);
  return {
    conversation: {
      threadId: thread.id,
      title,
      updatedAt: thread.events.at(-1)?.at ?? 0,
      waiting: entries.filter(({ status }) => status === 'waiting').length,
    },
    entries,
  };
}

/** The requests of a thread. The event of a request does not contain the call; `thread.calls` has it. A sub-agent's request contains the call. */
function entriesOf(thread: AgentThread, title: string): BoardEntry[] {
  const entries = new Map<string, BoardEntry>();
  let steppedAt = 0;
  for (const event of thread.events) {
    if (event.type === 'step-finished') steppedAt = event.at;
    if (event.type === 'request-opened') {
      const { request } = event;
      entries.set(request.requestId, {
        request: { ...request },
        askedAt: event.place === undefined ? event.at : steppedAt,
        title,
        status: 'waiting',
      });
    } else if (event.type === 'request-answered') {
      const entry = entries.get(event.response.requestId);
      const name = personSchema.safeParse(event.principal).data?.name ?? 'somebody';
      if (entry === undefined) continue;
      entry.status = 'answered';
      entry.answer = { response: event.response, name, at: event.at };
    } else if (event.type === 'request-closed') {
      const entry = entries.get(event.requestId);
      if (entry !== undefined) entry.status = event.cause;
    }
  }
  for (const { requestId = '', toolCallId, toolName, input, outcome } of thread.calls) {
    const entry = entries.get(requestId);
    if (entry === undefined) continue;
    entry.request.toolCall = { toolCallId, toolName, input };
    if (outcome !== undefined) entry.outcome = outcome;
  }
  /* An open request has the votes and the edit so far. */
  for (const request of thread.activeRequests) {
    const entry = entries.get(request.requestId);
    if (entry !== undefined) entry.request = { ...request };
  }
  /* Who answered is named; their principals are for the server alone. */
  return [...entries.values()].map((entry) => ({
    ...entry,
    request: hidePrincipals(entry.request),
  }));
}

function titleOf(thread: AgentThread): string {
  const said = thread.messages.find(({ role }) => role === 'user')?.content;
  if (typeof said === 'string') return said;
  const text = said?.find((part) => part.type === 'text');
  return text?.type === 'text' ? text.text : 'A conversation';
}
