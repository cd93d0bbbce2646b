import type { CallPlace } from '../../content/tool-call.ts';
import type { UserInputResponseContent } from '../../content/user-input.ts';
import { HoldpointError } from '../../errors.ts';
import { Proposal } from '../../thread/proposal.ts';
import {
  type EndedRequest,
  isExpired,
  isHeld,
  isSamePlace,
  type OpenRequest,
} from '../../thread/thread-head.ts';
import type { ThreadLog } from '../../thread/thread-log.ts';
import type { ThreadState } from '../../thread/thread-state.ts';
import { listCancelled, listUnstartedApprovals } from '../calls/close-requests.ts';
import type { ToolDefinitions } from '../calls/tool-definitions.ts';
import { decideInput, isJudged } from './decide-input.ts';
import { admitAnswer, type GivenAnswer } from './admit-answer.ts';
import { makeRejection, showBelow } from './answers-below.ts';
import type { AnswerContext } from './right-to-answer.ts';
import { listNewMessages } from './sent-messages.ts';
import type { AdmittedAnswer, AdmittedInput } from './admitted-input.ts';
import { type AskedEndings, isForEverybody, isRecorded } from './asked-endings.ts';
import type { ParsedInput, MayAnswer } from './parse-input.ts';
import {
  admitReleases,
  findInterrupted,
  listApprovalsBelow,
  listUnstarted,
  requirePerson,
} from './recorded-approvals.ts';
import { noteRefusal } from './collect-refusals.ts';
import { weighAnswer } from './weigh-answer.ts';
import { makeEndingRefusal, refuseChild } from './answer-errors.ts';

/** The rules for accepting an input, and for the people who may answer. */
interface Accepting {
  tools: ToolDefinitions;
  whilePending: 'refuse' | 'cancel';
  mayAnswer: MayAnswer | undefined;
}

/**
 * Checks the permission to answer the requests that an input answers, and to end those that its message cancels or its answer interrupts.
 * Rejects with `not-allowed`; the thread then shows what sub-agents have meanwhile recorded about their requests.
 */
export async function admitInput(
  context: AnswerContext,
  log: ThreadLog,
  input: ParsedInput,
  accepting: Accepting,
): Promise<AdmittedInput> {
  const { mayAnswer } = accepting;
  let admitted: AdmittedInput = { parsed: input };
  try {
    if (input.answers.length > 0)
      admitted = await allowAnswers(context, log.state, input, mayAnswer);
    if (input.unreadable !== undefined || admitted.refusals !== undefined) {
      const { principalId } = context;
      decideInput(new Proposal(log.state), admitted, {
        ...accepting,
        principalId,
        now: context.now(),
      });
    }
  } catch (error) {
    if (HoldpointError.isInstance(error)) await showBelow(context, log, input);
    throw error;
  }
  const ender = { by: input.by, above: input.above, mayAnswer };
  const { state } = log;
  const refuseRejection = async (ended: EndedRequest): Promise<void> =>
    refuseUnlessAllowed(context, state, ended, ender);
  admitted = { ...admitted, released: await admitReleases(context, state, input, refuseRejection) };
  if (mayInterrupt(input))
    admitted = { ...admitted, interrupted: await findInterrupted(state, refuseRejection) };
  const ended = await listEndedByInput(context, state, admitted, accepting);
  return { ...admitted, endings: await admitEndings(context, state, ended, ender) };
}

/**
 * Asks `mayAnswer` about each answer to an open request; for a mirrored request, the sub-agent checks the answer too. Prepares the answers
 * that count only together with others, or that say more than yes or no. Records in the input the requests, as an answer to one that opens
 * later is refused, and the refused answers. Rejects with any other error of `mayAnswer` or a sub-agent.
 */
async function allowAnswers(
  context: AnswerContext,
  state: Readonly<ThreadState>,
  input: ParsedInput,
  mayAnswer: MayAnswer | undefined,
): Promise<AdmittedInput> {
  const { openRequests } = state.head;
  const open = new Map(openRequests.map((each) => [each.request.requestId, each]));
  const isAsked = (answer: UserInputResponseContent): boolean =>
    isJudged(open.get(answer.requestId)?.request, answer);
  if (mayAnswer === undefined && !input.answers.some(isAsked)) return { parsed: input };
  const answers = new Map<string, AdmittedAnswer>();
  const refusals = new Map<string, HoldpointError>();
  for (const response of input.answers) {
    const { requestId } = response;
    const stored = open.get(requestId);
    if (stored === undefined) continue;
    const { by, above = {} } = input;
    const answering = { open: stored, by, above, mayAnswer, response };
    try {
      answers.set(requestId, await allowAnswer(context, state, answering));
    } catch (error) {
      noteRefusal(refusals, requestId, error);
    }
  }
  return { parsed: input, answers, ...(refusals.size > 0 && { refusals }) };
}

async function allowAnswer(
  context: AnswerContext,
  state: Readonly<ThreadState>,
  answering: GivenAnswer,
): Promise<AdmittedAnswer> {
  const { response } = answering;
  const { voter, passed } = await admitAnswer(context, state, answering);
  if (passed !== undefined) return { as: 'passed', below: passed };
  if (voter === undefined || response.type !== 'approval-response')
    return { as: 'plain', response };
  const weighed = await weighAnswer(context, state, { ...answering, response, voter });
  return { as: 'weighed', weighed };
}

/** The requests that an input ends without answering them, and those whose approvals it takes back. */
async function listEndedByInput(
  context: AnswerContext,
  state: Readonly<ThreadState>,
  admitted: AdmittedInput,
  { tools, whilePending }: Accepting,
): Promise<(OpenRequest | EndedRequest)[]> {
  const { now, principalId } = context;
  const { parsed: input, released } = admitted;
  const isMessage =
    whilePending === 'cancel' && listNewMessages(state, input, principalId).length > 0;
  if (!isMessage && !mayInterrupt(input)) return [];
  const below = await listApprovalsBelow(context, state);
  const at = now();
  const { head } = state;
  const trial = new Proposal(state);
  const accepting = { tools, principalId, now: at, whilePending };
  if (input.answers.length > 0)
    decideInput(trial, { ...admitted, parsed: { ...input, messages: [] } }, accepting);
  if (!isMessage) {
    const isEnded = (place: CallPlace): boolean =>
      trial.events.some((event) => event.type === 'call-ended' && isSamePlace(place, event));
    const undone = below.filter(({ asking }) => isEnded(asking.beside));
    return [...listCancelled(trial.events, head.openRequests), ...undone.map(({ ended }) => ended)];
  }
  const held = listUnstartedApprovals({ state, head }).filter(
    (ended) => isHeld(ended) && released?.has(ended.request.requestId) !== true,
  );
  return [
    ...trial.head.openRequests.filter(({ request }) => !isExpired(request, at)),
    ...held,
    ...below.map(({ ended }) => ended),
  ];
}

/* Only the tool of a question can say whether its answer ends the turn. */
function mayInterrupt({ answers }: ParsedInput): boolean {
  return answers.some(({ type }) => type === 'question-response');
}

/** The person who ends requests, and what the agents of the threads above say of them. */
type Ender = Pick<ParsedInput, 'by' | 'above'>;
type FullEnder = Ender & { mayAnswer: MayAnswer | undefined };

/**
 * Ending an open request is an answer to it, and so is taking back a recorded approval: allowed exactly where a plain rejection by the same
 * person would be accepted. Asks about each of the requests, and throws `not-allowed` for the first that the person may not end.
 */
export async function admitEndings(
  context: AnswerContext,
  state: Readonly<ThreadState>,
  asked: readonly (OpenRequest | EndedRequest)[],
  ender: FullEnder,
): Promise<AskedEndings> {
  for (const ended of asked) await refuseUnlessAllowed(context, state, ended, ender);
  return { asked, isAnybodys: isDecidedByNobody(ender) };
}

/* Neither this agent nor those above restrict who may answer. */
function isDecidedByNobody({ mayAnswer, above }: FullEnder): boolean {
  return mayAnswer === undefined && above?.mayEnd === undefined;
}

/**
 * Checks whether the sender may end a request of a sub-agent, or take back its recorded approval, for the agent of the parent thread.
 * Throws `not-allowed`.
 */
export async function admitEnding(
  context: AnswerContext,
  state: Readonly<ThreadState>,
  requestId: string,
  ender: Ender,
): Promise<void> {
  const approvals = await listUnstarted(context, state);
  const ended = [...state.head.openRequests, ...approvals.map((each) => each.ended)];
  const found = ended.find(({ request }) => request.requestId === requestId);
  const { mayAnswer } = context;
  if (found !== undefined)
    await refuseUnlessAllowed(context, state, found, { ...ender, mayAnswer });
}

async function refuseUnlessAllowed(
  context: AnswerContext,
  state: Readonly<ThreadState>,
  ended: OpenRequest | EndedRequest,
  ender: FullEnder,
): Promise<void> {
  const { request } = ended;
  const { requestId, path } = request;
  const { above, by, mayAnswer } = ender;
  if (isRecorded(ended)) requirePerson(context, ended, ender);
  /* The agents above also decide, and can't be asked here. */
  if (above === undefined) refuseChild(state);
  if (isDecidedByNobody(ender) && isForEverybody(request)) return;
  const response = makeRejection(request);
  const asking = { open: ended, response, by, above: { ...above, isEnding: true }, mayAnswer };
  try {
    await above?.mayEnd?.(request);
    await allowAnswer(context, state, asking);
  } catch (error) {
    if (!HoldpointError.isInstance(error)) throw error;
    if (error.code === 'not-allowed') throw makeEndingRefusal(requestId, error);
    /* The sub-agent can't be asked, or no longer asks this: nothing of it is ended that this agent's `mayAnswer` has not allowed. */
    if (path === undefined) throw error;
  }
}
