import { type Agent, digestViewer, couldAnswer } from '../../agent.ts';
import { inertLine } from '../../content/inert-text.ts';
import { renderNamedPerson } from '../../content/request-text.ts';
import type { AnswerRefusal } from '../../content/refusal-words.ts';
import type { RequestRights } from '../../content/request-rights.ts';
import type { RequestDecision, UserInputRequest } from '../../content/user-input.ts';
import type { AgentThread } from '../../thread/agent-thread.ts';
import { isRequestEvent, readRequestId } from '../../thread/request-events.ts';
import type { ToolFormats } from '../../view/field-format.ts';
import type { LinkClaims } from './link-token.ts';
import { makeMaskedRequest, type MaskedRequest } from './masked-request.ts';

/** The part of an agent that links need. */
export type LinkAgent = Pick<Agent, 'name' | 'now' | 'thread' | 'rights' | 'respond'>;

/** The request of a link, in the thread that has it. */
export interface LinkedRequest {
  agent: LinkAgent;
  thread: AgentThread;
}

/** The state of a link's request for its person, as the log has it. */
export type LinkState =
  | { type: 'open'; request: UserInputRequest; shown: MaskedRequest; rights: RequestRights }
  /** It is open, but not for this person. */
  | { type: 'closed-to-person'; request: UserInputRequest; refusal: AnswerRefusal }
  /** Another person has edited it since the link was made. */
  | { type: 'changed' }
  /** It is over, and this person neither answered it nor could answer it now. */
  | { type: 'closed' }
  | DecidedRequest;

/** A request that is over. */
export interface DecidedRequest {
  type: 'decided';
  decision: RequestDecision;
  /** The person who decided, as a line that is safe to show; `undefined` if unknown. */
  person: string | undefined;
  /** The time of the decision, in milliseconds since 1970. */
  at: number | undefined;
}

/** Finds the request of a link; `undefined` if none of the agents has it. */
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

/** The person for whom a request is read, and its secrets. */
export interface LinkReading {
  by: { principal: unknown; channel: string };
  formats: ToolFormats | undefined;
}

/** Reads the current state of a link's request for its person. Asks `mayAnswer`, and records nothing. */
export async function readLinkState(
  { agent, thread }: LinkedRequest,
  { requestId, threadId, digest }: Pick<LinkClaims, 'requestId' | 'threadId' | 'digest'>,
  { by, formats }: LinkReading,
): Promise<LinkState> {
  const request = thread.activeRequests.find((each) => each.requestId === requestId);
  if (request === undefined) return readDecided({ agent, thread }, requestId, by);
  const [rights] = await agent.rights([{ requestId, threadId }], by);
  /* Rights come first: a person without any learns nothing about the outcome. */
  if (rights?.mayAnswer !== true) {
    return { type: 'closed-to-person', request, refusal: rights?.refusal ?? 'not-approver' };
  }
  const shown = await makeMaskedRequest(agent, request, formats);
  if (shown.digest !== digest) return { type: 'changed' };
  /* An edit sends the whole input, and this person doesn't have its secrets. */
  const mayEdit = rights.mayEdit && shown.masked === 0;
  return { type: 'open', request, shown, rights: { ...rights, mayEdit } };
}

/** Reads the end of a request, for a person who has answered it, or could if it were still open: others learn nothing of it. */
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

/** Checks whether a person is one of these. */
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
    (event) => isRequestEvent(event, 'ends') && readRequestId(event) === requestId,
  );
  const named = end !== undefined && 'person' in end ? end.person : undefined;
  const { principal } = decision.closedBy ?? decision;
  const person = renderNamedPerson(principal) ?? (named === undefined ? named : inertLine(named));
  return { type: 'decided', decision, person, at: end?.at };
}
