import type { UserInputRequest, UserInputResponseContent } from '../../content/user-input.ts';
import { HoldpointError } from '../../errors.ts';
import { Proposal } from '../../thread/proposal.ts';
import type { ThreadLog } from '../../thread/thread-log.ts';
import { isExpired, type OpenRequest } from '../../thread/thread-head.ts';
import type { ThreadState } from '../../thread/thread-state.ts';
import { cancelledIn } from '../calls/close-requests.ts';
import type { ToolDefinitions } from '../calls/tool-definitions.ts';
import { acceptInput } from './accept-input.ts';
import { withAllowedAnswers } from './allowed-answers.ts';
import type { AnswerContext } from './answer-context.ts';
import { allowAnswers } from './answers-below.ts';
import { newMessages } from './new-messages.ts';
import type { ParsedInput, RefuseEnding } from './parse-input.ts';
import type { MayAnswer } from './run-input.ts';

/** Who ends requests, and what the agents of the threads above say of them. */
type Ender = Pick<ParsedInput, 'by' | 'onBehalfOf' | 'revoked' | 'until'>;

/**
 * Ending an open request is an answer to it: allowed exactly where a plain rejection by the same person would be accepted. Asks about each
 * of the requests, and throws `not-allowed` for the first that the person may not end. The result throws for a request that was not asked
 * about.
 */
export async function allowEndings(
  context: AnswerContext,
  state: Readonly<ThreadState>,
  ended: readonly OpenRequest[],
  { mayAnswer, ...ender }: Ender & { mayAnswer: MayAnswer | undefined },
): Promise<RefuseEnding> {
  const asked = new Set<string>();
  for (const { request } of ended) {
    if (isForEverybody(request, mayAnswer)) continue;
    await refuseUnlessAllowed(context, state, request, { mayAnswer, ...ender });
    asked.add(request.requestId);
  }
  return ({ request }) => {
    const { requestId, threadId } = request;
    if (isForEverybody(request, mayAnswer) || asked.has(requestId)) return;
    throw new HoldpointError(
      'requests-open',
      `Request ${requestId} of thread ${threadId} opened just now, and would have been ended unasked. Nothing was cancelled; send it again.`,
      { requestId },
    );
  };
}

/** How an input is accepted, and who may answer. */
interface Accepting {
  tools: ToolDefinitions;
  whilePending: 'refuse' | 'cancel';
  mayAnswer: MayAnswer | undefined;
}

/**
 * Asks who may answer the requests that an input answers, and who may end those that it ends: those that a message cancels, and those that
 * an answer interrupts. `undefined` for an input that does neither. Rejects with `not-allowed`.
 */
export function allowInput(
  context: AnswerContext,
  log: ThreadLog,
  input: ParsedInput,
  accepting: Accepting,
): Promise<ParsedInput> | undefined {
  const mayCancel = input.messages.length > 0 && accepting.whilePending === 'cancel';
  if (input.answers.length === 0 && !mayCancel) return undefined;
  return allow(context, log, input, accepting);
}

async function allow(
  context: AnswerContext,
  log: ThreadLog,
  input: ParsedInput,
  accepting: Accepting,
): Promise<ParsedInput> {
  const { mayAnswer } = accepting;
  const answering =
    input.answers.length === 0 ? input : await allowAnswers(context, log, input, mayAnswer);
  const { by, onBehalfOf, revoked, until } = answering;
  const ended = endedBy(context, log.state, answering, accepting);
  const ender = { by, onBehalfOf, revoked, until, mayAnswer };
  return { ...answering, refuseEnding: await allowEndings(context, log.state, ended, ender) };
}

/** The requests that an input ends without answering them. */
function endedBy(
  { now, principalId }: AnswerContext,
  state: Readonly<ThreadState>,
  input: ParsedInput,
  { tools, whilePending }: Accepting,
): OpenRequest[] {
  const isMessage = whilePending === 'cancel' && newMessages(state, input).length > 0;
  /* Only the tool of a question can say whether its answer ends the turn. */
  if (!isMessage && input.answers.every(({ type }) => type !== 'question-response')) return [];
  const at = now();
  const answered = new Set(input.answers.map(({ requestId }) => requestId));
  const others = state.head.openRequests.filter(
    ({ request }) => !answered.has(request.requestId) && !isExpired(request, at),
  );
  if (isMessage || others.length === 0) return others;
  const trial = new Proposal(state);
  const accepting = { tools, principalId, now: at, whilePending };
  acceptInput(trial, { ...input, messages: [], refuseEnding: undefined }, accepting);
  return cancelledIn(trial.events, { openRequests: others });
}

/* Whether anybody may reject a request: it names nobody, and neither this agent nor a sub-agent decides who may. */
function isForEverybody(request: UserInputRequest, mayAnswer: MayAnswer | undefined): boolean {
  if (mayAnswer !== undefined || request.path !== undefined) return false;
  if (request.type === 'question-request') return true;
  return request.approvers === undefined && request.notRequester === undefined;
}

async function refuseUnlessAllowed(
  context: AnswerContext,
  state: Readonly<ThreadState>,
  request: UserInputRequest,
  { mayAnswer, ...ender }: Ender & { mayAnswer: MayAnswer | undefined },
): Promise<void> {
  const { requestId, path } = request;
  const rejection = { messages: [], answers: [rejectionOf(request)], ...ender };
  try {
    await withAllowedAnswers(context, state, rejection, mayAnswer);
  } catch (error) {
    if (!HoldpointError.isInstance(error)) throw error;
    if (error.code === 'not-allowed') {
      const message = `Ending a request is an answer to it, so nothing was cancelled. ${error.message}`;
      throw new HoldpointError('not-allowed', message, { requestId, cause: error });
    }
    /* The sub-agent can't be asked, or no longer asks this: nothing of it is ended that this agent's `mayAnswer` has not allowed. */
    if (path === undefined) throw error;
  }
}

function rejectionOf({ type, requestId }: UserInputRequest): UserInputResponseContent {
  return type === 'question-request'
    ? { type: 'question-response', requestId, status: 'dismissed' }
    : { type: 'approval-response', requestId, approved: false };
}
