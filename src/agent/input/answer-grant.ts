import { isKeptByStore } from '../../content/approval-terms.ts';
import type { ApprovalRequest, ApprovalResponseContent } from '../../content/approval.ts';
import type { Vote, Voter } from '../../content/vote.ts';
import type { Grant, StandingAnswer } from '../../content/grant.ts';
import { listRequesters } from '../../content/requesters.ts';
import { HoldpointError } from '../../errors.ts';
import { digestShown, digestTerms } from '../../policy/digest.ts';
import { matchFor, whyTooWide } from '../../policy/match-grant.ts';
import { findSoleRequester, identifyStrictly, type Person } from '../../policy/same-person.ts';
import type { ThreadEvent } from '../../thread/thread-event.ts';
import type { OpenRequest } from '../../thread/thread-head.ts';
import { makeMissingToolError, type ToolDefinitions } from '../calls/tool-definitions.ts';
import { makeOwnRunner } from '../calls/make-request.ts';
import type { AnswerContext } from './call-may-answer.ts';
import { listPeopleBehind } from './answer-voter.ts';
import type { AnswerOptions } from './parse-input.ts';

/** What a standing approval is made from. */
interface GrantAnswer {
  open: OpenRequest;
  request: ApprovalRequest;
  response: ApprovalResponseContent;
  voter: Voter;
  by: AnswerOptions;
  tools: ToolDefinitions;
}

/** Makes the event of a standing approval, of an answer that decides together with these votes. */
type MakeGrant = (input: unknown, at: number, votes: readonly Vote[]) => ThreadEvent[];

/**
 * Prepares the event of the standing approval that an answer asks for. What it returns makes that event for the input as it was decided on,
 * or none if the answer asks for no standing approval. Throws `invalid-answer` if the request allows none that wide, or if the store keeps none.
 */
export async function makeGrantMaker(
  context: AnswerContext,
  { open, request, response, voter, by, tools }: GrantAnswer,
): Promise<MakeGrant> {
  const { remember, requestId, approved, reason } = response;
  if (remember === undefined) return () => [];
  const { scope, match, expiresAfterMs, uses } = remember;
  const { toolCall, threadId, requestedBy, path } = request;
  const why = await whyNotRemembered(context, { open, request, response, tools });
  if (why !== undefined) throw makeGrantRefusal(requestId, why);
  /* The sub-agent makes it. */
  if (path !== undefined || open.place === undefined || toolCall === undefined) return () => [];
  const definition = tools.get(toolCall.toolName);
  if (definition === undefined) throw makeMissingToolError(request, toolCall.toolName);
  const terms = await digestTerms(request);
  const person =
    scope === 'principal' ? findSoleRequester(request, context.principalId) : undefined;
  const grantId = context.generateId();
  return (input, at, votes) => {
    const covered = matchFor(match, input);
    if (covered === undefined)
      throw makeGrantRefusal(
        requestId,
        `the input lacks a field of its match, ${JSON.stringify(match)}`,
      );
    const grant = {
      grantId,
      decision: approved ? ('approved' as const) : ('rejected' as const),
      ...(reason === undefined ? {} : { reason }),
      scope,
      ...(context.name === undefined ? {} : { agent: context.name }),
      toolName: toolCall.toolName,
      definition: definition.digest,
      terms,
      match: covered,
      ...(person === undefined ? {} : { person, requestedBy }),
      ...(request.notRequester === true
        ? listAnswerers(
            [...votes, { ...voter, ...by }].flatMap((each) =>
              listPeopleBehind(context, request, each),
            ),
          )
        : {}),
      ...answersOf(request, [...votes, { ...voter, ...by, reason }]),
      ...by,
      threadId,
      requestId,
      createdAt: at,
      ...(expiresAfterMs === undefined ? {} : { expiresAt: at + expiresAfterMs }),
      ...(uses === undefined ? {} : { uses }),
    };
    return [{ type: 'grant-created', at, grant }];
  };
}

/** Why an answer can't decide later calls too, as widely as it asks for; `undefined` if it can. */
export async function whyNotRemembered(
  context: AnswerContext,
  { open, request, response, tools }: Omit<GrantAnswer, 'voter' | 'by'>,
): Promise<string | undefined> {
  const { remember } = response;
  if (remember === undefined) return undefined;
  const why =
    whyTooWide(remember, request.remember) ??
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

/** The answers behind a standing approval, where its `principal` does not say it all. */
function answersOf(
  { reassignments }: ApprovalRequest,
  answers: readonly (StandingAnswer & Voter)[],
): Pick<Grant, 'answers'> {
  const [first] = answers;
  const isPlain = first?.principal !== undefined && first.onBehalfOf === undefined;
  if (answers.length === 1 && isPlain) return {};
  return {
    answers: answers.map(({ principal, channel, reason, onBehalfOf }) => ({
      ...(principal === undefined ? {} : { principal }),
      ...(channel === undefined ? {} : { channel }),
      ...(reason === undefined ? {} : { reason }),
      ...(onBehalfOf === undefined ? {} : { reassignments }),
    })),
  };
}

/** Everyone who voted, or for whom somebody did. */
function listAnswerers(people: readonly Person[]): Pick<Grant, 'answeredBy' | 'answerers'> {
  const known = people.map(({ principal }) => principal).filter((each) => each !== undefined);
  return { answeredBy: [...new Set(people.map(({ name }) => name))], answerers: known };
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
