import { type ApprovalRequest, undoEdit } from '../../content/approval.ts';
import type { UserInputRequest, UserInputResponseContent } from '../../content/user-input.ts';
import type { Right } from '../../content/vote.ts';
import { HoldpointError } from '../../errors.ts';
import { isEqualJson } from '../../policy/digest.ts';
import { withEdit } from '../../thread/events.ts';
import type { ThreadEvent } from '../../thread/thread-event.ts';
import type { ThreadLog } from '../../thread/thread-log.ts';
import {
  findAskingDelegation,
  type MirroredCall,
  readShownRequests,
  type Reporting,
  type CheckedAnswers,
  type MayEnd,
  type PassedOn,
} from '../calls/delegation.ts';
import {
  type AnswerContext,
  holdsRight,
  listPossibleRights,
  type AskedBy,
  makeAskedAnswer,
  type Answering,
  findRevokedVoters,
} from './right-to-answer.ts';
import { makeMayAnswerRefusal } from './answer-errors.ts';
import { makeEdit } from './answer-edit.ts';
import { type AdmittedInput, listPassedDown } from './admitted-input.ts';
import { releaseBelow } from './recorded-approvals.ts';

/** An answer to a request of a sub-agent. */
interface AnsweringBelow extends Pick<Answering, 'by' | 'above' | 'mayAnswer'> {
  request: UserInputRequest;
  response: UserInputResponseContent;
  asked: AskedBy;
}

/** A sub-agent's check of answers. See ADR 46. */
interface Below {
  check: (passedOn: PassedOn) => Promise<CheckedAnswers>;
  now: () => number;
}

/**
 * Has a sub-agent check an answer to its request, with the facts of this agent and those above: the right in which the sender answers, the
 * approvals that no longer count, and the deadline. The answer is given in one right, which all agents allow. Throws `not-allowed` if there
 * is none, or the error of the sub-agent.
 */
export async function checkBelow(
  answering: AnsweringBelow,
  { check, now }: Below,
): Promise<CheckedAnswers> {
  const { request, asked, above, mayAnswer } = answering;
  const revoked =
    request.type === 'approval-request'
      ? await findRevokedVoters(mayAnswer, request, above)
      : above.revoked;
  const until = Math.min(request.expiresAt ?? Infinity, above.until ?? Infinity);
  return useRightBelow({ request, asked, mayAnswer, within: above.right }, async (right) => {
    const { onlyIfUnspent, isEnding } = above;
    const mayEnd = isEnding === true ? undefined : makeMayEnd(answering, right);
    const passed = { right, revoked, until, onlyIfUnspent, isEnding, mayEnd };
    const checked = await check({ ...asked(), ...passed });
    const edited = await askAboutEdit(answering, { text: checked.text, at: now() });
    if (edited === undefined || (await holdsRight(mayAnswer, { request, asked, edited }, right)))
      return checked;
    throw makeMayAnswerRefusal(request.threadId, request.requestId, ' with this edit');
  });
}

/** Asks this agent, and those above, whether the sender may end other requests of the sub-agent; `undefined` if anybody may. */
function makeMayEnd({ by, above, mayAnswer }: AnsweringBelow, right: Right): MayEnd | undefined {
  if (mayAnswer === undefined) return above.mayEnd;
  return async (request) => {
    const asked = makeAskedAnswer(request, makeRejection(request), by);
    if (!(await holdsRight(mayAnswer, { request, asked }, right)))
      throw makeMayAnswerRefusal(request.threadId, request.requestId);
    await above.mayEnd?.(request);
  };
}

/** Makes the plain rejection of a request, with which the right to end it is checked. */
export function makeRejection({ type, requestId }: UserInputRequest): UserInputResponseContent {
  return type === 'question-request'
    ? { type: 'question-response', requestId, status: 'dismissed' }
    : { type: 'approval-response', requestId, approved: false };
}

/**
 * Passes a person's act to a sub-agent in the first right that both allow, the person's own before that of others. Throws `not-allowed` if
 * there is none, and any other error of the sub-agent.
 */
export async function useRightBelow<RESULT>(
  {
    request,
    asked,
    mayAnswer,
    within,
  }: Pick<AnsweringBelow, 'request' | 'asked' | 'mayAnswer'> & { within: Right | undefined },
  use: (right: Right) => Promise<RESULT>,
): Promise<RESULT> {
  let refusal = makeMayAnswerRefusal(request.threadId, request.requestId);
  for (const right of within === undefined ? listPossibleRights(request) : [within]) {
    if (!(await holdsRight(mayAnswer, { request, asked }, right))) continue;
    try {
      return await use(right);
    } catch (error) {
      if (!HoldpointError.isInstance(error) || error.code !== 'not-allowed') throw error;
      refusal = error;
    }
  }
  throw refusal;
}

/**
 * Asks `mayAnswer` a second time, about an edit of a sub-agent's request; `undefined` for an answer without an edit. The sub-agent has
 * checked the edit, and has given the text of the request with it.
 */
async function askAboutEdit(
  { request, response, by }: AnsweringBelow,
  { text, at }: { text: string | undefined; at: number },
): Promise<AskedBy | undefined> {
  if (request.type !== 'approval-request' || response.type !== 'approval-response')
    return undefined;
  const { input, approved } = response;
  if (!approved || input === undefined || isEqualJson(input, request.toolCall?.input))
    return undefined;
  const edit = await makeEdit(undoEdit(request), input, text ?? request.text);
  const made: ApprovalRequest = { ...withEdit(request, { edit, ...by, at }), votes: [] };
  return makeAskedAnswer(made, response, by);
}

/**
 * Has the sub-agents record the checked answers to their requests before this thread shows them: they decide. If the process dies in
 * between, this thread shows what was recorded once it is resumed or the request is answered again.
 */
export async function recordBelow(
  context: AnswerContext,
  log: ThreadLog,
  input: AdmittedInput,
): Promise<AdmittedInput> {
  await releaseBelow(input.released, input.parsed.by);
  const passed = listPassedDown(input);
  if (passed.length === 0) return input;
  try {
    for (const { record } of passed) await record();
  } catch (error) {
    await showBelow(context, log, input.parsed);
    throw error;
  }
  return { ...input, reported: await readMirrors(log, passed) };
}

/** An input that names requests, as its answers do. */
interface AboutRequests {
  answers: readonly { requestId: string }[];
}

/** Shows what sub-agents have recorded about the requests that an input answers. Never rejects: the next answer or run shows it too. */
export async function showBelow(
  context: AnswerContext,
  log: ThreadLog,
  input: AboutRequests,
): Promise<void> {
  try {
    const below = callsBelow(context, log, input);
    if (below.length === 0) return;
    const mirror = await readMirrors(log, below);
    await log.commit((proposal) => proposal.add(...mirror(proposal, context.now())));
  } catch {}
}

/** Reads what the sub-agents of some answers have recorded. */
async function readMirrors(
  { state }: ThreadLog,
  below: readonly MirroredCall[],
): Promise<Reporting> {
  const calls = new Map(below.map((each) => [each.call.idempotencyKey, each]));
  const mirrors = await Promise.all(
    [...calls.values()].map(async ({ delegation, call, beside }) =>
      delegation.mirror(call, readShownRequests(state.head, beside)),
    ),
  );
  return (proposal, at) => mirrors.flatMap((events) => events(proposal, at));
}

/** The delegated calls whose sub-agents made the requests that an input answers. */
function callsBelow(
  { tools }: AnswerContext,
  { state: { threadId, head } }: ThreadLog,
  { answers }: AboutRequests,
): MirroredCall[] {
  const answered = new Set(answers.map(({ requestId }) => requestId));
  return head.openRequests.flatMap((open) =>
    answered.has(open.request.requestId)
      ? (findAskingDelegation(tools, { threadId, head }, open) ?? [])
      : [],
  );
}

/** Shows what a sub-agent has recorded about one of its requests, after a person changed it there. */
export async function commitMirror(
  { now }: Pick<AnswerContext, 'now'>,
  log: ThreadLog,
  asking: MirroredCall,
): Promise<readonly ThreadEvent[]> {
  const mirror = await readMirrors(log, [asking]);
  return log.commit((proposal) => proposal.add(...mirror(proposal, now())));
}
