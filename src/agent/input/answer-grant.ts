import { isKeptByStore, type Remember } from '../../content/approval-terms.ts';
import type { ApprovalRequest, ApprovalResponseContent } from '../../content/approval.ts';
import type { Vote, Voter } from '../../content/vote.ts';
import type { Grant, StandingAnswer } from '../../content/grant.ts';
import type { ToolCallRecord } from '../../content/tool-call.ts';
import { listRequesters } from '../../content/requesters.ts';
import { HoldpointError } from '../../errors.ts';
import { digestShown, digestTerms } from '../../policy/digest.ts';
import { matchFor, whyTooWide } from '../../policy/match-grant.ts';
import { findSoleRequester, identifyStrictly, type Person } from '../../policy/same-person.ts';
import type { ThreadEvent } from '../../thread/thread-event.ts';
import type { OpenRequest } from '../../thread/thread-head.ts';
import { findAnyCall, type ThreadState } from '../../thread/thread-state.ts';
import { makeMissingToolError, type ToolDefinitions } from '../calls/tool-definitions.ts';
import { makeOwnRunner } from '../calls/make-request.ts';
import type { AnswerContext } from './right-to-answer.ts';
import { listPeopleBehind } from './find-voter.ts';
import type { AnswerOptions } from './parse-input.ts';

/** The answer that a standing approval is made from. */
interface GrantAnswer {
  open: OpenRequest;
  request: ApprovalRequest;
  response: ApprovalResponseContent;
  voter: Voter;
  by: AnswerOptions;
  tools: ToolDefinitions;
}

/** A standing approval that an answer asks for, before the input, the time and the other people of the decision are known. */
export interface GrantDraft {
  remember: Remember;
  made: Pick<
    Grant,
    'grantId' | 'agent' | 'toolName' | 'definition' | 'terms' | 'person' | 'requestedBy'
  >;
  /** The types of the call's input. A request whose input can be edited has none. */
  inputTypes: ToolCallRecord['inputTypes'];
}

/**
 * Drafts the standing approval that an answer asks for; `undefined` if it asks for none, or if a sub-agent makes it. Throws
 * `invalid-answer` if the request allows none that wide, or if the store keeps none.
 */
export async function draftGrant(
  context: AnswerContext,
  state: Readonly<ThreadState>,
  { open, request, response, voter, tools }: Omit<GrantAnswer, 'by'>,
): Promise<GrantDraft | undefined> {
  const { remember, requestId } = response;
  if (remember === undefined) return undefined;
  const { toolCall, requestedBy, path } = request;
  const why = await whyNotRemembered(context, { open, request, response, voter, tools });
  if (why !== undefined) throw makeGrantRefusal(requestId, why);
  if (path !== undefined || open.place === undefined || toolCall === undefined) return undefined;
  const definition = tools.get(toolCall.toolName);
  if (definition === undefined) throw makeMissingToolError(request, toolCall.toolName);
  const { principalId, name, generateId } = context;
  const person =
    remember.scope === 'principal' ? findSoleRequester(request, principalId) : undefined;
  const made = {
    grantId: generateId(),
    ...(name === undefined ? {} : { agent: name }),
    toolName: toolCall.toolName,
    definition: definition.digest,
    terms: await digestTerms(request),
    ...(person === undefined ? {} : { person, requestedBy }),
  };
  return { remember, made, inputTypes: findAnyCall(state, open.place)?.inputTypes };
}

/** The answer that decided, and the votes beside it. */
interface DecidingAnswer {
  request: ApprovalRequest;
  response: ApprovalResponseContent;
  voter: Voter;
  by: AnswerOptions;
  votes: readonly Vote[];
  /** The input that was decided on. */
  input: unknown;
  at: number;
}

/**
 * The event of a drafted standing approval, once it is decided; none without a draft. Throws `invalid-answer` if it does not fit the input.
 */
export function makeGrantEvents(
  context: Pick<AnswerContext, 'principalId'>,
  draft: GrantDraft | undefined,
  { request, response, voter, by, votes, input, at }: DecidingAnswer,
): ThreadEvent[] {
  if (draft === undefined) return [];
  const { requestId, threadId } = request;
  const { approved, reason } = response;
  const { scope, match, expiresAfterMs, uses } = draft.remember;
  const covered = matchFor(match, { input, inputTypes: draft.inputTypes });
  if (covered === undefined)
    throw makeGrantRefusal(
      requestId,
      `the input lacks a field of its match, ${JSON.stringify(match)}`,
    );
  const answers = [...votes, { ...voter, ...by }];
  const grant = {
    ...draft.made,
    decision: approved ? ('approved' as const) : ('rejected' as const),
    ...(reason === undefined ? {} : { reason }),
    scope,
    match: covered,
    ...(request.notRequester === true
      ? listAnswerers(answers.flatMap((each) => listPeopleBehind(context, request, each)))
      : {}),
    ...listStandingAnswers([...votes, { ...by, reason }]),
    ...by,
    threadId,
    requestId,
    createdAt: at,
    ...(expiresAfterMs === undefined ? {} : { expiresAt: at + expiresAfterMs }),
    ...(uses === undefined ? {} : { uses }),
  };
  return [{ type: 'grant-created', at, grant }];
}

/** Finds the reason why an answer can't decide later calls too, as widely as it asks for; `undefined` if it can. */
export async function whyNotRemembered(
  context: AnswerContext,
  { open, request, response, voter, tools }: Omit<GrantAnswer, 'by'>,
): Promise<string | undefined> {
  const { remember } = response;
  if (remember === undefined) return undefined;
  const why =
    whyTooWide(remember, request.remember) ??
    whyNotOwn(voter) ??
    whyNotOne(request, response) ??
    whyNotKept(context, request, remember);
  const { toolCall, path } = request;
  /* A sub-agent compares the tool itself. */
  if (why !== undefined || path !== undefined || toolCall === undefined) return why;
  const definition = tools.get(toolCall.toolName);
  if (definition === undefined) throw makeMissingToolError(request, toolCall.toolName);
  if (open.place === undefined) return undefined;
  const shown = await digestShown(request, open.place, makeOwnRunner(definition).digest);
  if (shown !== request.digest) {
    return `the tool '${definition.name}' is not the one that was asked about`;
  }
  return undefined;
}

/** Lists the answers behind a standing approval; none if its `principal` already names the only one. */
function listStandingAnswers(answers: readonly StandingAnswer[]): Pick<Grant, 'answers'> {
  const [first] = answers;
  if (answers.length === 1 && first?.principal !== undefined) return {};
  return {
    answers: answers.map(({ principal, channel, reason }) => ({
      ...(principal === undefined ? {} : { principal }),
      ...(channel === undefined ? {} : { channel }),
      ...(reason === undefined ? {} : { reason }),
    })),
  };
}

/** Lists everyone who voted, or for whom another person did. */
function listAnswerers(people: readonly Person[]): Pick<Grant, 'answeredBy' | 'answerers'> {
  const known = people.map(({ principal }) => principal).filter((each) => each !== undefined);
  return { answeredBy: [...new Set(people.map(({ name }) => name))], answerers: known };
}

function whyNotOwn({ onBehalfOf }: Voter): string | undefined {
  return onBehalfOf === undefined
    ? undefined
    : `it is given for '${onBehalfOf}', who lent the right to answer this request alone`;
}

/* A rejection decides alone, for this call. For later ones it would, too. */
function whyNotOne(
  { quorum = 1 }: ApprovalRequest,
  { approved }: ApprovalResponseContent,
): string | undefined {
  if (approved || quorum === 1) return undefined;
  return `its rule wants ${quorum} people, so one person can't reject later calls: reject without remember`;
}

function whyNotKept(
  { grants, name, principalId }: AnswerContext,
  request: ApprovalRequest,
  { scope }: NonNullable<ApprovalResponseContent['remember']>,
): string | undefined {
  if (request.path !== undefined) return undefined;
  if (isKeptByStore(scope) && name === undefined) {
    return `the scope '${scope}' needs an agent with a name: give this one a name`;
  }
  if (isKeptByStore(scope) && grants === undefined) {
    return `the agent's store keeps no standing approvals of the scope '${scope}'`;
  }
  if (scope !== 'principal' || findSoleRequester(request, principalId) !== undefined)
    return undefined;
  const requesters = listRequesters(request);
  if (requesters.includes(null))
    return "the scope 'principal' is for one person, and not everybody who asked for this is known: pass the principal with each message";
  return requesters.some((each) => identifyStrictly(each, principalId) === undefined)
    ? "the scope 'principal' can't identify a principal that is an object: give the agent a principalId"
    : "the scope 'principal' is for one person, and several people asked for this";
}

function makeGrantRefusal(requestId: string, why: string): HoldpointError {
  return new HoldpointError(
    'invalid-answer',
    `The answer to request ${requestId} can't be remembered: ${why}. The request stays open.`,
    { requestId },
  );
}
