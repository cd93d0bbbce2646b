import type { Agent } from '../../agent/agent.ts';
import { digestViewer } from '../../agent/known-people.ts';
import { couldAnswer } from '../../agent/list-requests.ts';
import { inertLine } from '../../content/inert-text.ts';
import { renderNamedPerson } from '../../content/request-text.ts';
import type { AnswerRefusal, RequestRights } from '../../content/request-rights.ts';
import type { RequestDecision, UserInputRequest } from '../../content/user-input.ts';
import type { AgentThread } from '../../thread/agent-thread.ts';
import type { ToolFormats } from '../../view/field-format.ts';
import type { LinkClaims } from './link-token.ts';
import { makeMaskedRequest, type MaskedRequest } from './masked-request.ts';

/** What links need of an agent. */
export type LinkAgent = Pick<Agent, 'name' | 'now' | 'thread' | 'rights' | 'respond'>;

/** The request of a link, in the thread that has it. */
export interface LinkedRequest {
  agent: LinkAgent;
  thread: AgentThread;
}

/** What a link's request is for its person, as the log has it. */
export type LinkState =
  | { type: 'open'; request: UserInputRequest; shown: MaskedRequest; rights: RequestRights }
  /** It waits, and not for this person. */
  | { type: 'closed-to-person'; request: UserInputRequest; refusal: AnswerRefusal }
  /** It is another one than the link was made for: somebody has edited it. */
  | { type: 'changed' }
  /** It is over, and this person is none of those who could answer it now, or have. */
  | { type: 'closed' }
  | DecidedRequest;

/** A request that is over. */
export interface DecidedRequest {
  type: 'decided';
  decision: RequestDecision;
  /** Who decided, as a line that is safe to show; `undefined` for nobody who is known. */
  person: string | undefined;
  /** When, in milliseconds since 1970. */
  at: number | undefined;
}

/** The request of a link; `undefined` if none of the agents has it. */
export async function findLinkedRequest(
  agents: readonly LinkAgent[],
  { threadId, requestId }: Pick<LinkClaims, 'threadId' | 'requestId'>,
): Promise<LinkedRequest | undefined> {
  for (const agent of agents) {
    const thread = await agent.thread(threadId);
    const has = (request: { requestId: string }): boolean => request.requestId === requestId;
    const isHere =
      thread.activeRequests.some(has) || thread.decisions.some(({ request }) => has(request));
    if (isHere && thread.agent === agent.name) return { agent, thread };
  }
  return undefined;
}

/** For whom a request is read, and what of it is secret. */
export interface LinkReading {
  by: { principal: unknown; channel: string };
  formats: ToolFormats | undefined;
}

/** What the request of a link is for its person now. Asks `mayAnswer`, and records nothing. */
export async function readLinkState(
  { agent, thread }: LinkedRequest,
  { requestId, threadId, digest }: Pick<LinkClaims, 'requestId' | 'threadId' | 'digest'>,
  { by, formats }: LinkReading,
): Promise<LinkState> {
  const request = thread.activeRequests.find((each) => each.requestId === requestId);
  if (request === undefined) return readDecided({ agent, thread }, requestId, by);
  const [rights] = await agent.rights([{ requestId, threadId }], by);
  /* The rights first: who has none learns nothing about what has become of it. */
  if (rights?.mayAnswer !== true) {
    return { type: 'closed-to-person', request, refusal: rights?.refusal ?? 'not-approver' };
  }
  const shown = await makeMaskedRequest(agent, request, formats);
  if (shown.digest !== digest) return { type: 'changed' };
  /* Whoever edits sends the whole input, of which they don't have the secrets. */
  const mayEdit = rights.mayEdit && shown.masked === 0;
  return { type: 'open', request, shown, rights: { ...rights, mayEdit } };
}

/** How a request ended, for somebody who has answered it, or could now if it were still open: others learn nothing of it. */
async function readDecided(
  { agent, thread }: LinkedRequest,
  requestId: string,
  by: LinkReading['by'],
): Promise<LinkState> {
  const decision = thread.decisions.find(({ request }) => request.requestId === requestId);
  if (decision === undefined) throw new TypeError(`The thread has no request ${requestId}.`);
  const { request } = decision;
  const isAllowed =
    (await hasAnswered(agent, decision, by)) || (await couldAnswer(agent, request, by));
  return isAllowed ? describeDecided(thread, decision) : { type: 'closed' };
}

async function hasAnswered(
  agent: LinkAgent,
  { request, response, principal }: RequestDecision,
  by: LinkReading['by'],
): Promise<boolean> {
  const votes = request.type === 'approval-request' ? (request.votes ?? []) : [];
  const answered = response === undefined ? [] : [principal];
  const people = [...votes.map((vote) => vote.principal), ...answered];
  return isOneOf(agent, request.threadId, by.principal, people);
}

/** Whether a person is one of these. */
export async function isOneOf(
  agent: LinkAgent,
  threadId: string,
  principal: unknown,
  people: readonly unknown[],
): Promise<boolean> {
  const [own, ...others] = await Promise.all(
    [principal, ...people].map(async (each) => digestViewer(agent, threadId, each ?? null)),
  );
  return own !== undefined && others.includes(own);
}

function describeDecided({ events }: AgentThread, decision: RequestDecision): DecidedRequest {
  const { requestId } = decision.request;
  const end = events.find(
    (event) =>
      (event.type === 'request-answered' && event.response.requestId === requestId) ||
      (event.type === 'request-closed' && event.requestId === requestId),
  );
  const named = end !== undefined && 'person' in end ? end.person : undefined;
  const { principal } = decision.closedBy ?? decision;
  const person = renderNamedPerson(principal) ?? (named === undefined ? named : inertLine(named));
  return { type: 'decided', decision, person, at: end?.at };
}
