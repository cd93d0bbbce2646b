import type { ToolCallRecord } from '../content/tool-call.ts';
import { describeClosedBy } from '../policy/same-person.ts';
import type { AgentThread } from '../thread/agent-thread.ts';
import { Proposal } from '../thread/proposal.ts';
import type { ThreadLog } from '../thread/thread-log.ts';
import type { ThreadEvent } from '../thread/thread-event.ts';
import type { ThreadState } from '../thread/thread-state.ts';
import { refuseRunning } from './acts/act-refusals.ts';
import { cancelWork } from './acts/end-turn.ts';
import { performAct } from './acts/acts.ts';
import {
  type AgentResponse,
  listLatestDecisions,
  makeResponse,
  makeIdleEnd,
} from './agent-response.ts';
import type { FollowUps } from './calls/expire-requests.ts';
import { cancelSomeEvents } from './calls/close-requests.ts';
import type { Cancellation, CheckedAnswers } from './calls/delegation.ts';
import type { CancelledAbove } from './child-agent.ts';
import { decideInput } from './input/decide-input.ts';
import { admitInput } from './input/admit-input.ts';
import { recordBelow } from './input/answers-below.ts';
import { prepareExpiry } from './input/prepare-expiry.ts';
import { listApprovalsBelow, listDelegatedCalls } from './input/recorded-approvals.ts';
import { untilSettled } from './input/ask-again.ts';
import { type AdmittedInput, listPassedDown } from './input/admitted-input.ts';
import type { ParsedInput, AnswerOptions, MayAnswer } from './input/parse-input.ts';
import type { AgentContext } from './run/agent-context.ts';
import { makeAbandonedEvents, waitUntilEnded } from './run/run-end.ts';
import { isRunning, isSamePlace } from '../thread/thread-head.ts';
import { findOpenRequest, listAskedDuring } from '../thread/open-requests.ts';

/** Checks answers, and throws for the first that is refused. The result records them, and runs nothing. */
export async function checkAnswers(
  context: AgentContext,
  log: ThreadLog,
  input: ParsedInput,
  mayAnswer: MayAnswer | undefined,
): Promise<CheckedAnswers> {
  const tools = await context.definedTools();
  const accepting = { tools, whilePending: 'refuse', principalId: context.principalId } as const;
  const admit = async (): Promise<AdmittedInput> =>
    admitInput(context, log, input, { ...accepting, mayAnswer });
  const accept = (proposal: Proposal, accepted: AdmittedInput, followUps?: FollowUps): void => {
    decideInput(proposal, accepted, { ...accepting, now: context.now(), followUps });
  };
  const { allowed, proposal } = await untilSettled(log, async () => {
    const admitted = await admit();
    const trial = new Proposal(log.state);
    accept(trial, admitted);
    return { allowed: admitted, proposal: trial };
  });
  let checked: AdmittedInput | undefined = allowed;
  const record = async (): Promise<void> =>
    untilSettled(log, async () => {
      const admitted = checked ?? (await admit());
      checked = undefined;
      const recorded = await recordBelow(context, log, admitted);
      const followUps = await prepareExpiry(context, log, { tools, withoutTool: 'leave' });
      await context.commitCancelled(log, (decided) => accept(decided, recorded, followUps));
    });
  const { text, isRepeated } = listPassedDown(allowed)[0] ?? {
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
  const { requestId = '' } = answers[0] ?? {};
  const found = findOpenRequest(head, requestId) ?? head.newlyPast.requests.get(requestId);
  return found?.request.text;
}

/** Stops a thread's run, or ends a turn that is due, and waits for the end; and those of its sub-agents. */
export async function stopThread(
  context: AgentContext,
  log: ThreadLog,
  by: AnswerOptions,
): Promise<void> {
  /*
   * Sub-agents first: if this process dies before the end, they start nothing that the log here records as stopped. A run ends its own. A
   * sub-agent that can't be reached does not keep this thread from being stopped.
   */
  const isReached =
    !isRunning(log.state.head, context.now()) &&
    (await stopBelow(context, log, by).then(
      () => true,
      () => false,
    ));
  const events = await performAct({ context, log, act: { type: 'stop' }, by });
  await waitUntilEnded(context, log);
  const hadRun = events.some(({ type }) => type === 'stop-requested');
  if (!isReached || hadRun) await stopBelow(context, log, by);
}

/** Stops the sub-agents of a thread, whose threads may be due without this one's being so. */
async function stopBelow(context: AgentContext, log: ThreadLog, by: AnswerOptions): Promise<void> {
  const delegated = listDelegatedCalls(context, log.state);
  const stopping = delegated.map(async ({ delegation, call }) => delegation.stop(call, by));
  for (const each of await Promise.allSettled(stopping))
    if (each.status === 'rejected') throw each.reason;
}

/**
 * Cancels a thread's work with the call of the parent thread that it was for, and ends its run. The parent's agent has checked the
 * permission.
 */
export async function cancelUnasked(
  context: AgentContext,
  log: ThreadLog,
  { reason, by }: Cancellation,
): Promise<void> {
  await context.commitCancelled(log, (proposal) => cancelWork(context, proposal, { reason, by }));
  await stopThread(context, log, by);
}

/**
 * Cancels the requests of a child thread that people have cancelled in the thread above. Its other requests stay: permission was not asked
 * for them.
 */
export async function cancelRequests(
  context: AgentContext,
  log: ThreadLog,
  { reason, cancelledBy }: CancelledAbove,
): Promise<void> {
  const { now, principalId } = context;
  const senders = new Map(
    [...cancelledBy].map(([requestId, by]) => [requestId, describeClosedBy(by, principalId)]),
  );
  const approved = await listApprovalsBelow(context, log.state);
  await context.commitCancelled(log, (proposal) => {
    const { head } = proposal;
    const isOver = (call: ToolCallRecord): boolean =>
      call.status === 'deferred' &&
      listAskedDuring(head, call).every(({ request }) => senders.has(request.requestId)) &&
      approved.every(({ asking }) => !isSamePlace(asking.beside, call));
    proposal.add(...cancelSomeEvents(head, senders, { reason, at: now(), isOver }));
  });
}

/** The response to a cancellation. */
export function makeCancelledResponse(
  thread: AgentThread,
  state: Readonly<ThreadState>,
): AgentResponse {
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
  const cancelling = { reason: 'The thread is deleted.', by: {} };
  const decide = (proposal: Proposal): void => cancelWork(context, proposal, cancelling);
  await context.commitCancelled(log, decide, async (refuseUncancelled) => {
    await log.delete((state) => {
      check(state);
      refuseUncancelled(new Proposal(state));
    });
    return [];
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
  /* Recorded as a fact: otherwise the log refuses a thread of another owner. */
  await log.commit(adopt, { isFact: true });
}
