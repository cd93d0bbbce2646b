import type { UserInputRequest, UserInputResponseContent } from '../../content/user-input.ts';
import { HoldpointError } from '../../errors.ts';
import { Proposal } from '../../thread/proposal.ts';
import { isExpired, type OpenRequest } from '../../thread/thread-head.ts';
import type { ThreadLog } from '../../thread/thread-log.ts';
import type { ThreadState } from '../../thread/thread-state.ts';
import { listCancelled } from '../calls/close-requests.ts';
import type { ToolDefinitions } from '../calls/tool-definitions.ts';
import { acceptInput, isJudged } from './accept-input.ts';
import { admitAnswer } from './admit-answer.ts';
import { showBelow } from './answers-below.ts';
import type { AnswerContext } from './call-may-answer.ts';
import { listNewMessages } from './sent-messages.ts';
import type { ParsedInput, PassedDown, RefuseEnding, Weigh, MayAnswer } from './parse-input.ts';
import { weighAnswer } from './weigh-answer.ts';
import { makeEndingRefusal, makeUnaskedEndingError } from './answer-refusals.ts';

/** How an input is accepted, and who may answer. */
interface Accepting {
  tools: ToolDefinitions;
  whilePending: 'refuse' | 'cancel';
  mayAnswer: MayAnswer | undefined;
}

/**
 * Asks who may answer the requests that an input answers, and who may end those that it ends: those that a message cancels, and those that
 * an answer interrupts. Rejects with `not-allowed`; the thread then shows what sub-agents have recorded about their requests meanwhile.
 */
export async function allowInput(
  context: AnswerContext,
  log: ThreadLog,
  input: ParsedInput,
  accepting: Accepting,
): Promise<ParsedInput> {
  const { mayAnswer } = accepting;
  let allowed = input;
  try {
    if (input.answers.length > 0)
      allowed = await allowAnswers(context, log.state, input, mayAnswer);
  } catch (error) {
    if (HoldpointError.isInstance(error)) await showBelow(context, log, input);
    throw error;
  }
  const { by, onBehalfOf, revoked, until } = allowed;
  const ended = listEndedByInput(context, log.state, allowed, accepting);
  const ender = { by, onBehalfOf, revoked, until, mayAnswer };
  return { ...allowed, refuseEnding: await allowEndings(context, log.state, ended, ender) };
}

/**
 * Asks `mayAnswer` about each answer to an open request; for a mirrored request, the sub-agent checks the answer too. Prepares the answers
 * that count only together with others, or that say more than yes or no. Notes the requests in the input: an answer to one that opens
 * later is refused. Throws `not-allowed` for the first refused answer, or what `mayAnswer` or the sub-agent throws.
 */
async function allowAnswers(
  context: AnswerContext,
  state: Readonly<ThreadState>,
  input: ParsedInput,
  mayAnswer: MayAnswer | undefined,
): Promise<ParsedInput> {
  const { head } = state;
  const open = new Map(head.openRequests.map((each) => [each.request.requestId, each]));
  const isAsked = (answer: UserInputResponseContent): boolean =>
    isJudged(open.get(answer.requestId)?.request, answer);
  if (mayAnswer === undefined && !input.answers.some(isAsked)) return input;
  const allowedRequests = new Set<string>();
  const weighed = new Map<string, Weigh>();
  const passed: PassedDown[] = [];
  for (const response of input.answers) {
    const { requestId } = response;
    const stored = open.get(requestId);
    if (stored === undefined) continue;
    const answering = { open: stored, by: input.by, above: input, mayAnswer };
    const admitted = await admitAnswer(context, state, { ...answering, response });
    allowedRequests.add(requestId);
    if (admitted.passed !== undefined) {
      passed.push(admitted.passed);
      /* The sub-agent counts it, and this thread repeats what it recorded. */
      weighed.set(requestId, () => []);
    }
    const { voter } = admitted;
    if (voter === undefined || response.type !== 'approval-response') continue;
    weighed.set(requestId, await weighAnswer(context, state, { ...answering, response, voter }));
  }
  return {
    ...input,
    allowedRequests,
    ...(weighed.size === 0 ? {} : { weighed }),
    ...(passed.length === 0 ? {} : { passed }),
  };
}

/** The requests that an input ends without answering them. */
function listEndedByInput(
  { now, principalId }: AnswerContext,
  state: Readonly<ThreadState>,
  input: ParsedInput,
  { tools, whilePending }: Accepting,
): OpenRequest[] {
  const isMessage = whilePending === 'cancel' && listNewMessages(state, input).length > 0;
  if (!isMessage && !mayInterrupt(input)) return [];
  const at = now();
  const answered = new Set(input.answers.map(({ requestId }) => requestId));
  const others = state.head.openRequests.filter(
    ({ request }) => !answered.has(request.requestId) && !isExpired(request, at),
  );
  if (isMessage || others.length === 0) return others;
  const trial = new Proposal(state);
  const accepting = { tools, principalId, now: at, whilePending };
  acceptInput(trial, { ...input, messages: [], refuseEnding: undefined }, accepting);
  return listCancelled(trial.events, { openRequests: others });
}

/* Only the tool of a question can say whether its answer ends the turn. */
function mayInterrupt({ answers }: ParsedInput): boolean {
  return answers.some(({ type }) => type === 'question-response');
}

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
    throw makeUnaskedEndingError(threadId, requestId);
  };
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
  const rejection = { messages: [], answers: [makeRejection(request)], ...ender };
  try {
    await allowAnswers(context, state, rejection, mayAnswer);
  } catch (error) {
    if (!HoldpointError.isInstance(error)) throw error;
    if (error.code === 'not-allowed') throw makeEndingRefusal(requestId, error);
    /* The sub-agent can't be asked, or no longer asks this: nothing of it is ended that this agent's `mayAnswer` has not allowed. */
    if (path === undefined) throw error;
  }
}

function makeRejection({ type, requestId }: UserInputRequest): UserInputResponseContent {
  return type === 'question-request'
    ? { type: 'question-response', requestId, status: 'dismissed' }
    : { type: 'approval-response', requestId, approved: false };
}
