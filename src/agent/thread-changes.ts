import { describeClosedBy } from '../policy/same-person.ts';
import { readMessageId } from '../thread/app-messages.ts';
import type { AgentThread } from '../thread/agent-thread.ts';
import { type Decide, Proposal } from '../thread/proposal.ts';
import type { ThreadLog } from '../thread/thread-log.ts';
import { HoldpointError } from '../errors.ts';
import type { ThreadEvent } from '../thread/thread-event.ts';
import type { ThreadState } from '../thread/thread-state.ts';
import {
  type AgentResponse,
  listLatestDecisions,
  makeResponse,
  makeIdleEnd,
} from './agent-response.ts';
import { cancelEvents } from './calls/close-requests.ts';
import { type FollowUps, makeFollowUps } from './calls/expire-requests.ts';
import type { ParentCancellation } from './child-agent.ts';
import type { CheckedAnswers } from './calls/delegation.ts';
import type { EndingInput } from './input/accept-outcome.ts';
import { acceptInput } from './input/accept-input.ts';
import { allowEndings, allowInput } from './input/allow-input.ts';
import { recordBelow } from './input/answers-below.ts';
import type { ParsedInput, RefuseEnding, AnswerOptions, MayAnswer } from './input/parse-input.ts';
import type { AgentContext } from './run/agent-context.ts';
import { makeAbandonedEvents, makeStopRequest, waitUntilEnded } from './run/run-end.ts';
import { refuseRunning } from './thread-handles.ts';

/** Checks answers, and throws for the first that is refused. The result records them, and runs nothing. */
export async function checkAnswers(
  context: AgentContext,
  log: ThreadLog,
  input: ParsedInput,
  mayAnswer: MayAnswer | undefined,
): Promise<CheckedAnswers> {
  const tools = await context.definedTools();
  const accepting = { tools, whilePending: 'refuse', principalId: context.principalId } as const;
  const allowed = await allowInput(context, log, input, { ...accepting, mayAnswer });
  const accept = (proposal: Proposal, accepted: ParsedInput, followUps?: FollowUps): void => {
    acceptInput(proposal, accepted, { ...accepting, now: context.now(), followUps });
  };
  const proposal = new Proposal(log.state);
  accept(proposal, allowed);
  const record = async (): Promise<void> => {
    const recorded = await recordBelow(context, log, allowed);
    const left = { withoutTool: 'leave' } as const;
    const followUps = await makeFollowUps(context, tools, log.state, left);
    await context.commitCancelled(log, (decided) => accept(decided, recorded, followUps));
  };
  const { text, isRepeated } = allowed.passed?.[0] ?? {
    text: findAnsweredText(proposal, input),
    isRepeated: !proposal.events.some(isAnswer),
  };
  return { text: text ?? findAnsweredText(proposal, input), isRepeated, record };
}

function isAnswer({ type }: ThreadEvent): boolean {
  return type === 'request-answered' || type === 'request-voted';
}

/** The text of the request that is answered first, as the answers leave it. */
function findAnsweredText({ head }: Proposal, { answers }: ParsedInput): string | undefined {
  return [...head.openRequests, ...head.newlyPast.requests].find(
    ({ request }) => request.requestId === answers[0]?.requestId,
  )?.request.text;
}

/** Why a thread's work is cancelled, and by whom. */
interface Cancellation {
  reason: string;
  by: AnswerOptions;
}

/** Cancels the sub-agents of a thread, and then its open requests, deferred calls and unused approvals. Asks nobody. */
async function cancelOpen(
  context: AgentContext,
  log: ThreadLog,
  cancellation: Cancellation & { refuseEnding?: RefuseEnding },
): Promise<void> {
  await context.commitCancelled(log, makeCancellation(context, cancellation));
}

/** As `cancelOpen`, if the person may end every open request. Throws `not-allowed` for the first that they may not end. */
export async function cancelIfAllowed(
  context: AgentContext,
  thread: AgentThread,
  log: ThreadLog,
  { reason = 'The request was cancelled.', by }: { reason: string | undefined; by: AnswerOptions },
): Promise<AgentResponse> {
  const { mayAnswer } = context;
  for (;;) {
    const { state } = log;
    const ended = state.head.openRequests;
    const refuseEnding = await allowEndings(context, state, ended, { by, mayAnswer });
    try {
      await cancelOpen(context, log, { reason, by, refuseEnding });
      return makeCancelledResponse(thread, log.state);
    } catch (error) {
      /* A request opened meanwhile: it is asked about, too. */
      if (!HoldpointError.isInstance(error) || error.code !== 'requests-open') throw error;
    }
  }
}

/** Cancels a thread's work with the call of the parent thread that it was for. The agent of that thread has asked who may. */
export async function cancelUnasked(
  context: AgentContext,
  log: ThreadLog,
  { reason, by, stops = false }: ParentCancellation,
): Promise<void> {
  await cancelOpen(context, log, { reason, by });
  if (stops) await stopRun(context, log, by);
}

/** Stops a thread's run, or ends a turn that is due, and waits for the end. */
export async function stopRun(
  context: AgentContext,
  log: ThreadLog,
  by: AnswerOptions,
): Promise<void> {
  await log.commit((proposal) => proposal.add(...makeStopRequest(context, proposal.state, by)));
  await waitUntilEnded(context, log);
}

/** The inputs for recording an outcome from outside. */
export async function makeEndingInput(context: AgentContext, log: ThreadLog): Promise<EndingInput> {
  const { now, generateId, commitCancelled, mayAnswer, report, principalId } = context;
  const allow: EndingInput['allowEndings'] = async (ended, by) =>
    allowEndings(context, log.state, ended, { by, mayAnswer });
  const making = { now, generateId, mayAnswer, report, principalId, allowEndings: allow };
  return { log, tools: await context.definedTools(), commitCancelled, ...making };
}

/** The response to a cancellation. */
function makeCancelledResponse(thread: AgentThread, state: Readonly<ThreadState>): AgentResponse {
  const { messages } = state;
  const covered = {
    messages,
    messagesBefore: messages.length,
    decisions: listLatestDecisions(state),
  };
  return makeResponse(thread, covered, makeIdleEnd('cancelled'));
}

/** Cancels the sub-agents of a thread, and deletes it. */
export async function deleteThread(context: AgentContext, log: ThreadLog): Promise<void> {
  const check = (state: Readonly<ThreadState>): void => refuseRunning(state, context.now());
  check(log.state);
  const deleting = makeCancellation(context, { reason: 'The thread is deleted.', by: {} });
  await context.commitCancelled(log, deleting, async (refuseUncancelled) => {
    await log.delete((state) => {
      check(state);
      refuseUncancelled(new Proposal(state));
    });
    return [];
  });
}

function makeCancellation(
  { now, principalId }: AgentContext,
  { reason, by, refuseEnding }: Cancellation & { refuseEnding?: RefuseEnding },
): Decide {
  return (proposal) => {
    if (refuseEnding !== undefined) proposal.head.openRequests.forEach(refuseEnding);
    const cancelled = { reason, at: now(), by: describeClosedBy(by, principalId) };
    proposal.add(...cancelEvents(proposal.head, cancelled));
  };
}

/** Retracts the app's last message. */
export async function retractMessage(
  context: AgentContext,
  log: ThreadLog,
  { messageId, by }: { messageId: string | undefined; by: AnswerOptions },
): Promise<void> {
  await log.commit((proposal) => {
    const at = context.now();
    refuseRunning(proposal.state, at);
    refuseRetraction(proposal.state, messageId);
    proposal.add(...makeAbandonedEvents(context, proposal.state));
    proposal.add({ type: 'message-retracted', at, ...by });
  });
}

/** Makes this agent the owner of a thread. */
export async function adoptThread(context: AgentContext, log: ThreadLog): Promise<void> {
  const { name, now } = context;
  const adopt = (proposal: Proposal): void => {
    const { head } = proposal;
    if (!head.created || head.agent === name) return;
    refuseRunning(proposal.state, now());
    /* A stalled run of the old owner must not continue. */
    proposal.add(...makeAbandonedEvents(context, proposal.state));
    const owner = name === undefined ? {} : { agent: name };
    proposal.add({ type: 'agent-changed', at: now(), ...owner });
  };
  /* A fact: else the log refuses a thread of another owner. */
  await log.commit(adopt, { isFact: true });
}

/** Throws `not-allowed` unless the last message came from the app, has no reply, and has the `messageId`, if given. */
function refuseRetraction(
  { threadId, head, messages }: Readonly<ThreadState>,
  messageId: string | undefined,
): void {
  const last = messages.at(-1);
  const isMeant = messageId === undefined || (last && readMessageId(last)) === messageId;
  if (head.unanswered.length > 0 && isMeant) return;
  const which = messageId === undefined ? 'The last message' : `Message ${messageId}`;
  throw new HoldpointError(
    'not-allowed',
    `${which} of thread ${threadId} can't be retracted: only the last message can be, while it has no reply. Send a new message instead.`,
  );
}
