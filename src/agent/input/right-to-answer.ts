import type { ToolSet } from 'ai';
import {
  type ApprovalResponseContent,
  type ApprovalRequest,
  approvalRequestSchema,
  approvalResponseSchema,
} from '../../content/approval.ts';
import { makeAnswerable } from '../../content/answerable.ts';
import { copyPlain } from '../../json/json-value.ts';
import type { SettingFailure } from '../../content/check-settings.ts';
import { questionRequestSchema } from '../../content/question.ts';
import { pickToolCall, toolCallSchema } from '../../content/tool-call.ts';
import {
  type AskedAnswer,
  type UserInputRequest,
  type UserInputResponseContent,
} from '../../content/user-input.ts';
import { type Right, readRight } from '../../content/vote.ts';
import type { HoldpointError } from '../../errors.ts';
import { InputReads, describeUndeclared } from '../../policy/input-reads.ts';
import {
  callNames,
  type NamesOf,
  ParameterReads,
  type PassedNames,
} from '../../policy/watched-reads.ts';
import type { OpenRequest } from '../../thread/thread-head.ts';
import type { AgentRules } from '../calls/decide-calls.ts';
import type { GrantSources, MayStand } from '../calls/find-grant.ts';
import type { ToolDefinitions } from '../calls/tool-definitions.ts';
import type { Above, AnswerOptions, MayAnswer } from './parse-input.ts';

/** The agent's part of checking answers. */
export interface AnswerContext extends GrantSources, AgentRules {
  mayAnswer: MayAnswer | undefined;
  tools: ToolSet;
  definedTools: () => ToolDefinitions | Promise<ToolDefinitions>;
  generateId: () => string;
}

/** An answer that is to be weighed. */
export interface Answering {
  open: OpenRequest;
  response: ApprovalResponseContent;
  by: AnswerOptions;
  /** The verdict of the agents of the threads above on the sender and on those who answered before, and the time that is left. */
  above: Above;
  /** The `mayAnswer` for the request with an edit; `undefined` if everybody may, or the agent of the parent thread has asked. */
  mayAnswer: MayAnswer | undefined;
}

/** Makes the parameter of `mayAnswer` for a request, with other approvers than the request's own, or for another person, if given. */
export type AskedBy = (instead?: {
  approvers?: readonly string[];
  by?: AnswerOptions;
}) => AskedAnswer;

/** The questions before an answer counts. For an edited request, `edited` is the second one: the person must be allowed to answer both. */
interface AskedRight {
  request: UserInputRequest;
  asked: AskedBy;
  edited?: AskedBy;
}

/**
 * Finds the right in which a person may answer, their own before that of others; `within` is the only one that the agent of the thread
 * above allows. Throws the error of `refuse` if there is none.
 */
export async function findRight(
  mayAnswer: MayAnswer | undefined,
  { within, ...about }: AskedRight & { within: Right | undefined },
  refuse: () => HoldpointError,
): Promise<Right> {
  for (const right of within === undefined ? listPossibleRights(about.request) : [within])
    if (await holdsRight(mayAnswer, about, right)) return right;
  throw refuse();
}

/** The rights in which a request may be answered: one's own, and those of the people who asked others to answer instead. */
export function listPossibleRights(request: UserInputRequest): Right[] {
  const { reassignments = [] } = request.type === 'approval-request' ? request : {};
  const lent = new Set(reassignments.map(({ from }) => from));
  return [{ of: 'self' }, ...[...lent].map((from): Right => ({ of: 'reassigned', from }))];
}

/** Checks whether a person may answer in this right, now. A lent right ends when the person who lent it may no longer answer. */
export async function holdsRight(
  mayAnswer: MayAnswer | undefined,
  { request, asked, edited }: AskedRight,
  right: Right,
): Promise<boolean> {
  const answers = edited === undefined ? [asked] : [asked, edited];
  if (right.of === 'self') return isAllowed(mayAnswer, answers);
  const { reassignments = [] } = request.type === 'approval-request' ? request : {};
  const lent = reassignments.filter(({ from }) => from === right.from);
  /* The first of a person's reassignments is their own. */
  const [own] = lent;
  if (own === undefined) return false;
  const { principal, channel } = own;
  if (!(await isAllowed(mayAnswer, answers, { by: { principal, channel } }))) return false;
  for (const { to } of lent)
    if (await isAllowed(mayAnswer, answers, { approvers: [to] })) return true;
  return false;
}

/**
 * Checks whether `mayAnswer` allows all of these answers, with other approvers than their requests' own, or of another person, if given.
 */
export async function isAllowed(
  mayAnswer: MayAnswer | undefined,
  answers: readonly AskedBy[],
  instead?: Parameters<AskedBy>[0],
): Promise<boolean> {
  for (const asked of answers) {
    /* Without types it may return anything. */
    const answer: unknown = mayAnswer === undefined || (await mayAnswer(asked(instead)));
    if (answer !== true) return false;
  }
  return true;
}

/** Makes the parameter of `mayAnswer` for an answer. */
export function makeAskedAnswer(
  stored: UserInputRequest,
  response: UserInputResponseContent,
  sender: AnswerOptions,
): AskedBy {
  return ({ approvers, by: { principal, channel } = sender } = {}) => {
    const request = makeAnswerable(
      stored.type === 'approval-request' && approvers !== undefined
        ? { ...stored, approvers: [...approvers] }
        : stored,
    );
    const by = { principal: copyPlain(principal), channel };
    return { ...by, request, response: structuredClone(response) };
  };
}

const callPlaces = { toolName: 'request.toolCall.toolName', input: 'request.toolCall.input' };

const ofAsked: PassedNames = {
  part: 'its parameter',
  names: { principal: true, channel: true, request: true, response: true } satisfies Record<
    keyof AskedAnswer,
    true
  >,
  others: {
    ...callPlaces,
    user: 'principal',
    toolCall: 'request.toolCall',
    approvers: 'request.approvers',
    requesters: 'request.requesters',
    approved: 'response.approved',
  },
};

/* Made at the first use: to read the schemas when this file is loaded would keep them in every bundle. */
let parts: ReturnType<typeof describeParts> | undefined;

function describeParts() {
  return {
    request: {
      part: 'request',
      names: { ...approvalRequestSchema.shape, ...questionRequestSchema.shape },
      others: { ...callPlaces, args: callPlaces.input, principal: 'request.requestedBy' },
    },
    toolCall: { part: 'request.toolCall', names: toolCallSchema.shape, others: callNames },
    response: {
      part: 'response',
      names: {
        ...approvalResponseSchema.shape,
        status: true,
        answers: true,
        metadata: true,
      } satisfies Record<NamesOf<UserInputResponseContent>, unknown>,
    },
  };
}

/** Wraps the parameter of `mayAnswer` in views that record which absent names it reads. */
function watchAsked(
  parameters: ParameterReads,
  asked: AskedAnswer,
  { request: ofRequest, response: ofResponse }: ReturnType<typeof describeParts>,
): AskedAnswer {
  const request = parameters.watch(asked.request, ofRequest);
  const response = parameters.watch(asked.response, ofResponse);
  return parameters.watch({ ...asked, request, response }, ofAsked);
}

/**
 * Wraps the app's `mayAnswer`: a result counts as no if the function has read a name that its parameter, the request or the input does not
 * have. The request says which fields the input has.
 */
export function guardMayAnswer(
  mayAnswer: MayAnswer | undefined,
  report: (failure: SettingFailure) => void,
): MayAnswer | undefined {
  if (mayAnswer === undefined) return undefined;
  return async (asked) => {
    const { request } = asked;
    const approval = request.type === 'approval-request' ? request : undefined;
    const { toolCall, inputNames } = approval ?? {};
    const { toolName = '', input } = toolCall ?? {};
    const reads = new InputReads(inputNames);
    const parameters = new ParameterReads();
    const names = (parts ??= describeParts());
    const answer = await reads.during(input, (copy, isWatched) => {
      if (approval !== undefined && toolCall !== undefined) {
        const call = { ...toolCall, input: copy };
        approval.toolCall = isWatched ? parameters.watch(call, names.toolCall) : call;
      }
      return mayAnswer(isWatched ? watchAsked(parameters, asked, names) : asked);
    });
    const problem = parameters.problem ?? describeUndeclared(reads, toolName);
    if (problem === undefined) return answer === true;
    const { threadId } = request;
    const call = toolCall && { ...pickToolCall(toolCall), input };
    report({ threadId, setting: 'mayAnswer', kind: 'unknown-field', problem, toolCall: call });
    return false;
  };
}

/**
 * The people whose earlier approvals of a request no longer count: the right in which they were given no longer stands, or an agent above
 * says so. Another right that the person has now does not revive them. Throws the errors of `mayAnswer`.
 */
export async function findRevokedVoters(
  mayAnswer: MayAnswer | undefined,
  request: ApprovalRequest,
  above: Above,
): Promise<ReadonlySet<string>> {
  const { votes = [], requestId } = request;
  const revoked = new Set(above.revoked);
  if (mayAnswer === undefined) return revoked;
  for (const vote of votes) {
    const { person, principal, channel, reason, remember } = vote;
    const said = { ...(reason === undefined ? {} : { reason }), ...(remember && { remember }) };
    const response = { type: 'approval-response', requestId, approved: true, ...said } as const;
    const asked = makeAskedAnswer(request, response, { principal, channel });
    if (!(await holdsRight(mayAnswer, { request, asked }, readRight(vote)))) revoked.add(person);
  }
  return revoked;
}

/**
 * Asks `mayAnswer` whether the people behind a standing approval may give their answers to the new request, as its rule made it, each in
 * their own right: a right that was lent for one request does not apply to others.
 */
export function makeStandingCheck(mayAnswer: MayAnswer): MayStand {
  return async ({ request, answers, response }) => {
    for (const { principal, channel, reason } of answers) {
      const given = { ...response, ...(reason === undefined ? {} : { reason }) };
      const by = { principal, ...(channel === undefined ? {} : { channel }) };
      const asked = makeAskedAnswer(request, given, by);
      if (!(await holdsRight(mayAnswer, { request, asked }, { of: 'self' }))) return false;
    }
    return true;
  };
}

/** Checks whether answers stand here and in the threads above. */
export function standsEverywhere(
  own: MayStand | undefined,
  above: MayStand | undefined,
): MayStand | undefined {
  if (own === undefined || above === undefined) return own ?? above;
  return async (standing) => (await own(standing)) && above(standing);
}
