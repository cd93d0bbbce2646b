import type { ModelMessage } from 'ai';
import type { SeenRequest } from '../../agent.ts';
import { HoldpointError } from '../../errors.ts';
import type { AgentThread } from '../../thread/agent-thread.ts';
import type { StoredRequest } from '../../thread/thread-store-requests.ts';
import type { InboxRequest } from './inbox-api.ts';
import { seeInboxRows, syncClock } from './inbox-agents.ts';
import {
  hasNoNul,
  type InboxContext,
  type InboxUser,
  mayRun,
  maySeeConversation,
  maySeeRequest,
  nameStored,
  openThread,
} from './inbox-context.ts';
import { describeEntry, findSecrets, maskSecretsOf } from './shown-entry.ts';
import { shortenEarlier } from './shorten-lists.ts';

const mostEarlier = 10;
/* The number of earlier rows to read at once, as they may be long, and the maximum number of reads. */
const earlierRows = 20;
const mostEarlierReads = 5;
const mostMessages = 100;
const longestMessage = 20_000;

/**
 * Finds the row of a request as a person sees it. Throws `not-found` for one that does not exist, and also for one that they may not see:
 * nobody learns which ids exist.
 */
export async function findSeenRequest(
  inbox: InboxContext,
  user: InboxUser,
  { requestId, threadId }: { requestId: string; threadId?: string },
): Promise<SeenRequest> {
  const { agents } = inbox;
  await syncClock(agents);
  const row = hasNoNul(requestId) ? await agents.requests.get(requestId) : undefined;
  const [seen] = row === undefined ? [] : await seeInboxRows(agents, [row], user.by);
  const isMeant = threadId === undefined || seen?.row.threadId === threadId;
  if (seen !== undefined && isMeant && (await maySeeRequest(inbox, user, seen))) return seen;
  throw new HoldpointError('not-found', `There is no request ${requestId} that this user may see.`);
}

/** Reads one request in full, with earlier decisions about calls of its tool. */
export async function readFullRequest(
  inbox: InboxContext,
  user: InboxUser,
  requestId: string,
): Promise<InboxRequest> {
  const seen = await findSeenRequest(inbox, user, { requestId });
  const entry = await describeEntry(inbox, user, seen);
  const earlier = await listEarlier(inbox, user, seen);
  const thread = await openThread(inbox.agents.find(seen.row.agent), seen.row.threadId);
  const conversation = await readConversation(inbox, user, seen, thread);
  const { state, until } = thread?.caller ?? {};
  const { viewer } = user;
  const at = inbox.agents.host.now();
  return {
    entry,
    earlier,
    ...(conversation && { conversation }),
    ...(state && { caller: { state, ...(until !== undefined && { until }) } }),
    mayRun: mayRun(inbox, seen, thread),
    viewer,
    at,
  };
}

/** Lists the latest decisions about calls of the same tool that the person may see. */
async function listEarlier(
  inbox: InboxContext,
  user: InboxUser,
  { row: { requestId, agent, toolName } }: SeenRequest,
): Promise<InboxRequest['earlier']> {
  const { agents } = inbox;
  if (toolName === null) return [];
  const query = { state: 'decided', order: 'decided', kind: 'approval', agent, toolName } as const;
  const earlier: InboxRequest['earlier'] = [];
  let after: StoredRequest | undefined;
  for (let read = 0; read < mostEarlierReads; read += 1) {
    const rows = await agents.requests.list({ ...query, limit: earlierRows, after });
    for (const each of await seeInboxRows(agents, rows, user.by)) {
      if (earlier.length === mostEarlier) return shortenEarlier(earlier);
      if (each.row.requestId === requestId || !(await maySeeRequest(inbox, user, each))) continue;
      earlier.push(await describeEarlier(inbox, each));
    }
    after = rows.at(-1);
    if (rows.length < earlierRows) break;
  }
  return shortenEarlier(earlier);
}

async function describeEarlier(
  inbox: InboxContext,
  seen: SeenRequest,
): Promise<InboxRequest['earlier'][number]> {
  const { requestId, threadId, agent, state, decidedAt, decidedBy } = seen.row;
  const thread = await openThread(inbox.agents.find(agent), threadId);
  const decision = thread?.decisions.find(({ request }) => request.requestId === requestId);
  const { response } = decision ?? {};
  const given = response?.type === 'approval-response' ? response.reason : undefined;
  const { secrets } = await findSecrets(inbox, seen);
  return {
    requestId,
    threadId,
    state,
    decidedBy: decidedBy === null ? null : nameStored(inbox, seen.row, decidedBy),
    ...(decidedAt === undefined ? {} : { decidedAt }),
    ...(given === undefined ? {} : { reason: secrets.maskText(given) }),
    input: secrets.maskInput(seen.request?.toolCall?.input).value,
  };
}

/** Reads the latest messages of the conversation, if the app lets this person read it. */
async function readConversation(
  inbox: InboxContext,
  user: InboxUser,
  seen: SeenRequest,
  thread: AgentThread | undefined,
): Promise<InboxRequest['conversation']> {
  const { row } = seen;
  if (thread === undefined || !(await maySeeConversation(inbox, user, row))) return undefined;
  const { secrets } = await findSecrets(inbox, seen);
  const mask = await maskSecretsOf(inbox, row.agent, thread.calls);
  return thread.messages
    .slice(-mostMessages)
    .flatMap(describeMessage)
    .map(({ role, text }) => ({
      role,
      text: mask(secrets.maskText(text)).slice(0, longestMessage),
    }));
}

type Message = NonNullable<InboxRequest['conversation']>[number];

/** Describes a message as text: its words, and the results of tools. Content for the model alone is left out. */
function describeMessage(message: ModelMessage): Message[] {
  const { role, content } = message;
  if (role === 'system') return [];
  const parts = typeof content === 'string' ? [content] : content.flatMap(describePart);
  const text = parts.join('\n');
  return text === '' ? [] : [{ role, text }];
}

function describePart(part: Exclude<ModelMessage['content'], string>[number]): string[] {
  if (part.type === 'text') return [part.text];
  if (part.type === 'tool-result') return [`${part.toolName}: ${JSON.stringify(part.output)}`];
  /* Without its input, which may have secrets of its own. */
  if (part.type === 'tool-call') return [`(a call of ${part.toolName})`];
  return part.type === 'file' ? ['(a file)'] : [];
}
