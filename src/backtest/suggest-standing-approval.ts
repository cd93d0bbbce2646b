import { pickTerms, type Remember } from '../content/approval-terms.ts';
import { type ApprovalRequest, approvalRequestSchema } from '../content/approval.ts';
import { parseJson } from '../json/json-value.ts';
import { listRequesters } from '../content/requesters.ts';
import {
  type AskedCall,
  findBestStandingApproval,
  type StandingApproval,
} from './standing-approval.ts';
import { toCanonicalText } from '../policy/digest.ts';
import { coversInput, whyTooWide } from '../policy/match-grant.ts';
import { identifyStrictly, type PrincipalId } from '../policy/same-person.ts';
import type { StoredRequest, ThreadStoreRequests } from '../thread/thread-store-requests.ts';

/** So many decisions about a tool are looked at, the latest first. */
const mostDecisions = 200;
/** So many earlier approvals a standing one must have made unnecessary. */
const fewestSaved = 4;

/** What a person has approved just now, and where their earlier decisions are. */
interface Approved {
  requests: Pick<ThreadStoreRequests, 'list'>;
  principalId: PrincipalId;
  /** Who has approved it. */
  principal: unknown;
  /** The row of the request, which is decided. */
  row: StoredRequest;
}

/** What a person has decided alike, and the standing approval that would have asked them less. */
export interface SuggestedApproval {
  toolName: string;
  /** How many requests about the tool the person has decided lately, on the same terms. */
  decided: number;
  /** How many of them they have approved. */
  approved: number;
  /** When they last rejected one, in milliseconds since 1970. Absent: never. */
  rejectedAt?: number;
  /** The standing approval, for `agent.remember`. */
  remember: Remember;
  /** How many of the approved ones it would have made unnecessary. */
  covered: number;
}

/** A decided row with its request. */
interface DecidedRequest {
  row: StoredRequest;
  request: ApprovalRequest;
}

/**
 * The narrowest standing approval that would have saved a person the most questions like the one that they have approved just now; `undefined`
 * unless they have approved several alike and nobody has rejected or edited one that it would cover. It is never wider than their request
 * allows, and there is none for the highest risk. It is a hint: `agent.remember` checks what is made of it.
 */
export async function suggestStandingApproval({
  requests,
  principalId,
  principal,
  row,
}: Approved): Promise<SuggestedApproval | undefined> {
  const request = parseRequest(row);
  const { toolCall, remember: allowed } = request ?? {};
  const { toolName, decidedBy, agent } = row;
  if (request === undefined || toolCall === undefined || toolName === null || allowed === undefined)
    return undefined;
  if (row.state !== 'approved' || decidedBy === null || !mayBeRemembered(request)) return undefined;
  /* Rows name people without the agent's `principalId`: two people may have one name. */
  if (identifyStrictly(principal, principalId) !== decidedBy) return undefined;
  const rows = await requests.list({
    state: 'decided',
    kind: 'approval',
    agent,
    toolName,
    order: 'decided',
    limit: mostDecisions,
  });
  const terms = readTerms(request);
  const decided = rows.flatMap((each) => {
    const about = parseRequest(each);
    return about === undefined ? [] : [{ row: each, request: about }];
  });
  const alike = decided.filter((each) => readTerms(each.request) === terms);
  const own = alike.filter((each) => each.row.decidedBy === decidedBy);
  /* What others have approved is not this person's to go by; what anybody has rejected is. */
  const calls = alike
    .filter((each) => own.includes(each) || readDecision(each) !== 'approved')
    .flatMap(makeAskedCall);
  const best = findBestStandingApproval(calls, principalId, ({ match, scope }) => {
    const asked = makeRemember({ match, scope }, allowed);
    const isNamed = agent !== null || scope === 'thread';
    return (
      isNamed && coversInput({ match }, toolCall.input) && whyTooWide(asked, allowed) === undefined
    );
  });
  if (best === undefined || best.saved < fewestSaved) return undefined;
  const rejectedAt = own.find((each) => each.row.state === 'rejected')?.row.decidedAt;
  return {
    toolName,
    decided: own.length,
    approved: own.filter((each) => each.row.state === 'approved').length,
    ...(rejectedAt === undefined ? {} : { rejectedAt }),
    remember: makeRemember(best, allowed),
    covered: best.saved,
  };
}

/* The same as `agent.remember` demands, so that nothing is offered which is refused then. */
function mayBeRemembered({ path, edit, quorum = 1, risk }: ApprovalRequest): boolean {
  return path === undefined && edit === undefined && quorum === 1 && risk !== 'critical';
}

/** The request of a row, if it is one about a call and its text was not erased. */
function parseRequest({ text }: StoredRequest): ApprovalRequest | undefined {
  const { data } = approvalRequestSchema.safeParse(text === null ? undefined : parseJson(text));
  return data?.toolCall === undefined ? undefined : data;
}

function readTerms(request: ApprovalRequest): string {
  return toCanonicalText(pickTerms(request));
}

function readDecision({ row, request }: DecidedRequest): AskedCall['logged']['type'] {
  switch (row.state) {
    case 'approved':
      return request.edit === undefined ? 'approved' : 'edited';
    case 'rejected':
      return 'rejected';
    case 'open':
    case 'answered':
    case 'dismissed':
    case 'expired':
    case 'cancelled':
    case 'invalidated':
    case 'settled':
      return 'unanswered';
  }
}

function makeAskedCall(decided: DecidedRequest): AskedCall[] {
  const { row, request } = decided;
  const { threadId, agent, createdAt, decidedAt } = row;
  const { toolCall } = request;
  if (toolCall === undefined) return [];
  /* A row does not say at which revisions it was asked and answered. Its times are in the same order. */
  const proposed = { at: createdAt, revision: createdAt };
  const answered =
    decidedAt === undefined ? {} : { answered: { at: decidedAt, revision: decidedAt } };
  return [
    {
      threadId,
      agent: agent ?? undefined,
      toolName: toolCall.toolName,
      input: request.edit?.original.input ?? toolCall.input,
      requesters: listRequesters(request),
      terms: readTerms(request),
      logged: { type: readDecision(decided), proposed, ...answered },
    },
  ];
}

function makeRemember(
  { match, scope }: Pick<StandingApproval, 'match' | 'scope'>,
  { expiresAfterMs, uses }: Remember,
): Remember {
  return {
    scope,
    match: match.type === 'fields' ? Object.keys(match.fields) : match.type,
    ...(expiresAfterMs === undefined ? {} : { expiresAfterMs }),
    ...(uses === undefined ? {} : { uses }),
  };
}
