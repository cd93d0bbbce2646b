import { type ApprovalRequest, undoEdit } from '../../content/approval.ts';
import type { UserInputRequest, UserInputResponseContent } from '../../content/user-input.ts';
import { isEqualJson } from '../../policy/digest.ts';
import { withEdit } from '../../thread/events.ts';
import type { ThreadLog } from '../../thread/thread-log.ts';
import {
  findAskingDelegation,
  type MirroredCall,
  readShownRequests,
  type Reporting,
  type CheckedAnswers,
  type PassedOn,
} from '../calls/delegation.ts';
import {
  type AnswerContext,
  findAllowedPerson,
  type AskedBy,
  makeAskedAnswer,
  type Answering,
  findRevokedVoters,
} from './call-may-answer.ts';
import { makeMayAnswerRefusal } from './answer-refusals.ts';
import { makeEdit } from './answer-edit.ts';
import type { ParsedInput } from './parse-input.ts';

/** An answer to a request of a sub-agent. */
interface AnsweringBelow extends Pick<Answering, 'by' | 'above' | 'mayAnswer'> {
  /** The person who had asked the sender to answer instead, as this agent says. */
  onBehalfOf: string | undefined;
  request: UserInputRequest;
  response: UserInputResponseContent;
  asked: AskedBy;
}

/** How a sub-agent checks answers. */
interface Below {
  check: (passedOn: PassedOn) => Promise<CheckedAnswers>;
  now: () => number;
}

/**
 * Has a sub-agent check an answer to its request, with what this agent and those above know: on whose behalf the sender answers, whose
 * approvals no longer count, and when it is too late. Throws `not-allowed` for an edit that this agent's `mayAnswer` refuses, or what the
 * sub-agent throws.
 */
export async function checkBelow(
  answering: AnsweringBelow,
  { check, now }: Below,
): Promise<CheckedAnswers> {
  const { request, asked, above, mayAnswer, onBehalfOf } = answering;
  const revoked =
    request.type === 'approval-request'
      ? await findRevokedVoters(mayAnswer, request, above)
      : above.revoked;
  const until = Math.min(request.expiresAt ?? Infinity, above.until ?? Infinity);
  const checkFor = async (person: string | undefined): Promise<CheckedAnswers> =>
    check({ ...asked(), onBehalfOf: person ?? above.onBehalfOf, revoked, until });
  const checked = await checkFor(onBehalfOf);
  const edit = await checkEditBelow(answering, { text: checked.text, at: now() });
  /* Somebody who may answer the request as it stands may need another's right for what it would be. */
  return edit === undefined || edit.onBehalfOf === onBehalfOf ? checked : checkFor(edit.onBehalfOf);
}

/**
 * On whose behalf somebody may edit a sub-agent's request; `undefined` for an answer that doesn't. Throws `not-allowed` for an edit that this
 * agent's `mayAnswer` refuses. The sub-agent has checked the edit, and has given the text of the request with it.
 */
async function checkEditBelow(
  { request, response, asked, by, mayAnswer }: AnsweringBelow,
  { text, at }: { text: string | undefined; at: number },
): Promise<{ onBehalfOf: string | undefined } | undefined> {
  if (request.type !== 'approval-request' || response.type !== 'approval-response')
    return undefined;
  const { input, approved } = response;
  if (!approved || input === undefined || isEqualJson(input, request.toolCall?.input))
    return undefined;
  const edit = await makeEdit(undoEdit(request), input, text ?? request.text);
  const made: ApprovalRequest = { ...withEdit(request, { edit, ...by, at }), votes: [] };
  const both = { request, asked, edited: makeAskedAnswer(made, response, by) };
  const onBehalfOf = await findAllowedPerson(mayAnswer, both, () =>
    makeMayAnswerRefusal(request.threadId, request.requestId, ' with this edit'),
  );
  return { onBehalfOf };
}

/**
 * Has the sub-agents record the checked answers to their requests before this thread shows them: they decide. If the process dies in
 * between, this thread shows what was recorded once it is resumed or the request is answered again.
 */
export async function recordBelow(
  context: AnswerContext,
  log: ThreadLog,
  input: ParsedInput,
): Promise<ParsedInput> {
  const { passed } = input;
  if (passed === undefined) return input;
  try {
    for (const { record } of passed) await record();
  } catch (error) {
    await showBelow(context, log, input);
    throw error;
  }
  return { ...input, reported: await readMirrors(log, passed) };
}

/** Shows what sub-agents have recorded about the requests that an input answers. Never rejects: the next answer or run shows it too. */
export async function showBelow(
  context: AnswerContext,
  log: ThreadLog,
  input: ParsedInput,
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
  { answers }: ParsedInput,
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
): Promise<void> {
  const mirror = await readMirrors(log, [asking]);
  await log.commit((proposal) => proposal.add(...mirror(proposal, now())));
}
