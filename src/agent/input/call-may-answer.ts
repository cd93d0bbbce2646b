import type { ToolSet } from 'ai';
import type { ApprovalResponseContent, ApprovalRequest } from '../../content/approval.ts';
import { makeAnswerable } from '../../content/answerable.ts';
import { copyPlain } from '../../content/json-value.ts';
import type { SettingFailure } from '../../content/check-settings.ts';
import { pickToolCall, type RequestPath } from '../../content/tool-call.ts';
import {
  type AskedAnswer,
  type UserInputRequest,
  type UserInputResponseContent,
} from '../../content/user-input.ts';
import { HoldpointError } from '../../errors.ts';
import { InputReads, describeUndeclared } from '../../policy/input-reads.ts';
import type { OpenRequest } from '../../thread/thread-head.ts';
import type { AgentRules } from '../calls/decide-calls.ts';
import type { ToolsBelow } from '../calls/delegation.ts';
import type { GrantSources, MayStand } from '../calls/find-grant.ts';
import type { ToolDefinitions } from '../calls/tool-definitions.ts';
import type { AnswerOptions, MayAnswer, ParsedInput } from './parse-input.ts';
import { makeMayAnswerRefusal } from './answer-refusals.ts';

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
  /** What the agents of the threads above say of the sender, of those who answered before, and of the time that is left. */
  above: Pick<ParsedInput, 'onBehalfOf' | 'revoked' | 'until'>;
  /** Says who may answer the request with an edit too; `undefined` if everybody may, or the agent of the parent thread has asked. */
  mayAnswer: MayAnswer | undefined;
}

/** Makes what `mayAnswer` is asked about a request, with other approvers than the request's own, or about another person, if given. */
export type AskedBy = (instead?: {
  approvers?: readonly string[];
  by?: AnswerOptions;
}) => AskedAnswer;

/**
 * On whose behalf somebody may answer: `undefined` on their own, otherwise the person who had asked them to answer instead. Of an edited
 * request, `edited` makes what is asked besides: they must be allowed to answer both. Throws what `refuse` makes for somebody who may not.
 */
export async function findAllowedPerson(
  mayAnswer: MayAnswer | undefined,
  { request, asked, edited }: { request: UserInputRequest; asked: AskedBy; edited?: AskedBy },
  refuse: () => HoldpointError,
): Promise<string | undefined> {
  const answers = edited === undefined ? [asked] : [asked, edited];
  if (await isAllowed(mayAnswer, answers)) return undefined;
  const { reassignments = [] } = request.type === 'approval-request' ? request : {};
  for (const { from, to } of reassignments) {
    if (!(await isAllowed(mayAnswer, answers, { approvers: [to] }))) continue;
    /* The first of a person's reassignments is their own. They must still be allowed to answer. */
    const { principal, channel } = reassignments.find((other) => other.from === from) ?? {};
    if (await isAllowed(mayAnswer, answers, { by: { principal, channel } })) return from;
  }
  throw refuse();
}

/** Whether `mayAnswer` allows all of these answers, with other approvers than their requests' own, or of another person, if given. */
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

/** Makes what `mayAnswer` is asked about an answer. */
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

/** The app's `mayAnswer`, which lets nobody answer where it has read a field of the input that the tool doesn't have. */
export function guardMayAnswer(
  mayAnswer: MayAnswer | undefined,
  definedTools: () => ToolsBelow | Promise<ToolsBelow>,
  report: (failure: SettingFailure) => void,
): MayAnswer | undefined {
  if (mayAnswer === undefined) return undefined;
  return async (asked) => {
    const { request } = asked;
    const { toolCall, path } = request.type === 'approval-request' ? request : {};
    if (toolCall === undefined) return mayAnswer(asked);
    const { toolName, input } = toolCall;
    const tools = await findToolsAt(path, await definedTools());
    const reads = new InputReads(tools?.get(toolName)?.inputSchema);
    const answer = await reads.during(input, (copy) => {
      toolCall.input = copy;
      return mayAnswer(asked);
    });
    const problem = describeUndeclared(reads, toolName);
    if (problem === undefined) return answer === true;
    const { threadId } = request;
    const call = { ...pickToolCall(toolCall), input };
    report({ threadId, setting: 'mayAnswer', kind: 'unknown-field', problem, toolCall: call });
    return false;
  };
}

/** The tools of the agent that asks: of a sub-agent, if the request has come through delegated calls; `undefined` if they can't be known. */
export async function findToolsAt(
  path: RequestPath | undefined,
  own: ToolsBelow,
): Promise<ToolsBelow | undefined> {
  let tools: ToolsBelow | undefined = own;
  for (const { toolName } of path ?? [])
    tools = await tools?.get(toolName)?.delegation?.definedTools?.();
  return tools;
}

/**
 * The people whose earlier approvals of a request no longer count: `mayAnswer` would refuse them now, or an agent above says so. Throws what
 * `mayAnswer` throws.
 */
export async function findRevokedVoters(
  mayAnswer: MayAnswer | undefined,
  request: ApprovalRequest,
  above: Pick<ParsedInput, 'revoked'>,
): Promise<ReadonlySet<string>> {
  const { votes = [], requestId, threadId } = request;
  const revoked = new Set(above.revoked);
  if (mayAnswer === undefined) return revoked;
  for (const { person, principal, channel, reason, remember } of votes) {
    const said = { ...(reason === undefined ? {} : { reason }), ...(remember && { remember }) };
    const response = { type: 'approval-response', requestId, approved: true, ...said } as const;
    const asked = makeAskedAnswer(request, response, { principal, channel });
    const refusal = makeMayAnswerRefusal(threadId, requestId);
    try {
      await findAllowedPerson(mayAnswer, { request, asked }, () => refusal);
    } catch (error) {
      if (error !== refusal) throw error;
      revoked.add(person);
    }
  }
  return revoked;
}

/** Asks `mayAnswer` whether those who gave the answers behind a standing approval may still give them. */
export function makeStandingCheck(mayAnswer: MayAnswer): MayStand {
  return async ({ request: asked, answers, response }) => {
    const { threadId, requestId } = asked;
    const refusal = makeMayAnswerRefusal(threadId, requestId);
    for (const { principal, channel, reason, reassignments } of answers) {
      const request = { ...asked, ...(reassignments === undefined ? {} : { reassignments }) };
      const given = { ...response, ...(reason === undefined ? {} : { reason }) };
      const by = { principal, ...(channel === undefined ? {} : { channel }) };
      try {
        await findAllowedPerson(
          mayAnswer,
          { request, asked: makeAskedAnswer(request, given, by) },
          () => refusal,
        );
      } catch (error) {
        if (error !== refusal) throw error;
        return false;
      }
    }
    return true;
  };
}

/** Whether answers stand here and in the threads above. */
export function standsEverywhere(
  own: MayStand | undefined,
  above: MayStand | undefined,
): MayStand | undefined {
  if (own === undefined || above === undefined) return own ?? above;
  return async (standing) => (await own(standing)) && above(standing);
}
