import { type Agent, digestViewer, type SeenRequest } from '../../agent.ts';
import { doesCallerWait } from '../../content/caller.ts';
import { parseJson } from '../../json/json-value.ts';
import { listRequesters } from '../../content/requesters.ts';
import { namePrincipal, renderNamedPerson } from '../../content/request-text.ts';
import { renderPublicError } from '../../http/error-response.ts';
import { checkSignIn } from '../../http/receive-request.ts';
import type { AgentThread } from '../../thread/agent-thread.ts';
import type { StoredRequest } from '../../thread/thread-store-requests.ts';
import type { FeedReader } from './feed-reader.ts';
import type { InboxAgents } from './inbox-agents.ts';
import type { InboxHandlerOptions } from './inbox-handler-options.ts';

/** An inbox: the app's options, and the state of the handler. See ADR 62. */
export interface InboxContext {
  readonly options: InboxHandlerOptions;
  readonly agents: InboxAgents;
  readonly feed: FeedReader;
}

/** The user of the inbox, made only from the result of `authorize`. */
export interface InboxUser {
  /** The answering person and channel, as passed to the agents. */
  readonly by: { principal: unknown; channel: string };
  readonly as: readonly string[] | undefined;
  /** Identifies the person for whom something was read, as an opaque text. */
  readonly viewer: string;
}

/** Identifies the sender of a request, or returns the response that refuses it. */
export async function authorizeUser(
  { options, agents }: InboxContext,
  request: Request,
): Promise<InboxUser | Response> {
  const { authorize, onError } = options;
  const host = { agent: agents.host, onError };
  const signIn = await checkSignIn(host, async () => authorize({ request }), {
    name: 'this inbox',
  });
  if (signIn instanceof Response) return signIn;
  const { principal, as, channel = 'inbox' } = signIn;
  const viewer = await digestViewer(agents.host, 'holdpoint/inbox', principal);
  if (viewer === undefined) {
    throw new TypeError(
      'authorize returned a principal that is not JSON, so that nothing tells it from others.',
    );
  }
  return { by: { principal, channel }, as, viewer };
}

/** Names a person in a row, for others to read. */
export function nameStored(
  { agents }: InboxContext,
  { agent }: Pick<StoredRequest, 'agent'>,
  name: string,
): string {
  /* For a principal without an id the row has its JSON, which may hold private data. */
  const principal = name.startsWith('{') ? parseJson(name) : undefined;
  if (principal === undefined) return name;
  const known = agents.findPeople(agent)?.identify(principal);
  return renderNamedPerson(principal) ?? known ?? 'somebody';
}

/** Reports a mistake in one of the app's functions. */
export function reportMistake({ options }: InboxContext, what: string, cause: unknown): void {
  renderPublicError(new Error(`${what} of the inbox failed.`, { cause }), options.onError);
}

/** Checks whether a person may see a request. */
export async function maySeeRequest(
  inbox: InboxContext,
  user: InboxUser,
  seen: SeenRequest,
): Promise<boolean> {
  return askToSee(inbox, user, seen.row, 'request', await seesByDefault(inbox, user, seen));
}

/** Checks whether a person may read the conversation that a request comes from. */
export async function maySeeConversation(
  inbox: InboxContext,
  user: InboxUser,
  row: StoredRequest,
): Promise<boolean> {
  return askToSee(inbox, user, row, 'conversation', false);
}

async function askToSee(
  inbox: InboxContext,
  { by: { principal } }: InboxUser,
  row: StoredRequest,
  what: 'request' | 'conversation',
  byDefault: boolean,
): Promise<boolean> {
  const { maySee } = inbox.options;
  if (maySee === undefined) return byDefault;
  return askApp(inbox, 'maySee', async () => maySee({ principal, row, what, byDefault }));
}

/** Checks whether a person may settle a lost call, or retry a stuck thread. */
export async function maySettle(
  inbox: InboxContext,
  { by: { principal } }: InboxUser,
  row: StoredRequest,
): Promise<boolean> {
  const { maySettle: ask } = inbox.options;
  if (ask === undefined || row.state !== 'open' || !isTrouble(row)) return false;
  return askApp(inbox, 'maySettle', async () => ask({ principal, row }));
}

/** Checks whether a person may have the approved call of a thread run, because no client waits for it. */
export function mayRun(
  { options, agents }: InboxContext,
  { row, couldAnswer }: SeenRequest,
  thread: AgentThread | undefined,
): boolean {
  const { caller, status } = thread ?? {};
  if (options.runNow === undefined || caller === undefined || !couldAnswer) return false;
  const isDue = row.state === 'approved' && status === 'due';
  return isDue && caller.state !== 'informed' && !doesCallerWait(caller, agents.host.now());
}

/** Checks whether a row is about a lost call or a stuck thread, which nobody answers. */
export function isTrouble({ kind }: Pick<StoredRequest, 'kind'>): boolean {
  return kind === 'lost-call' || kind === 'stuck-thread';
}

/** Asks a function of the app: only `true` allows. An error is reported, and refuses. */
async function askApp(
  inbox: InboxContext,
  what: string,
  ask: () => Promise<unknown>,
): Promise<boolean> {
  try {
    return (await ask()) === true;
  } catch (error) {
    reportMistake(inbox, what, error);
    return false;
  }
}

async function seesByDefault(
  inbox: InboxContext,
  user: InboxUser,
  seen: SeenRequest,
): Promise<boolean> {
  const { row, request, couldAnswer } = seen;
  if (isTrouble(row)) return maySettle(inbox, user, row);
  if (couldAnswer) return true;
  if (request === undefined) return false;
  const people = inbox.agents.findPeople(row.agent);
  const isUser = (principal: unknown): boolean =>
    people?.isSame(principal, user.by.principal) === true;
  if (listRequesters(request).some(isUser)) return true;
  const { votes = [] } = request.type === 'approval-request' ? request : {};
  if (votes.some((vote) => isUser(vote.principal))) return true;
  const { principal } = user.by;
  const names = [namePrincipal(principal), people?.identify(principal)];
  return row.decidedBy !== null && names.includes(row.decidedBy)
    ? hasDecided(inbox, row, isUser)
    : false;
}

/* The row has a name, which two people may have; the log has the principal. */
async function hasDecided(
  { agents }: InboxContext,
  { agent, threadId, requestId }: StoredRequest,
  isUser: (principal: unknown) => boolean,
): Promise<boolean> {
  const thread = await openThread(agents.find(agent), threadId);
  const decision = thread?.decisions.find(({ request }) => request.requestId === requestId);
  return decision !== undefined && isUser(decision.principal);
}

/** Checks whether a text has no NUL, which no text in a database has. */
export function hasNoNul(text: string): boolean {
  return !text.includes('\0');
}

/** Opens a thread for reading; `undefined` if it can't be read, which must not hide others. */
export async function openThread(
  agent: Agent | undefined,
  threadId: string,
): Promise<AgentThread | undefined> {
  try {
    return await agent?.thread(threadId);
  } catch {
    return undefined;
  }
}
