import type { CallPlace, ToolCallRecord } from '../../content/tool-call.ts';
import { HoldpointError } from '../../errors.ts';
import { describeClosedBy } from '../../policy/same-person.ts';
import { readMessageId } from '../../thread/app-messages.ts';
import type { Proposal } from '../../thread/proposal.ts';
import {
  callAt,
  type EndedRequest,
  isRunning,
  isUnfinished,
  type OpenRequest,
  type ThreadHead,
} from '../../thread/thread-head.ts';
import type { ThreadState } from '../../thread/thread-state.ts';
import { cancelEvents, listUnstartedApprovals } from '../calls/close-requests.ts';
import { findDelegation } from '../calls/delegation.ts';
import { admitEndings } from '../input/admit-input.ts';
import { type AskedEndings, refuseUnasked } from '../input/asked-endings.ts';
import type { AgentContext } from '../run/agent-context.ts';
import { makeAbandonedEvents, makeStopRequest } from '../run/run-end.ts';
import type { AnswerOptions } from '../input/parse-input.ts';
import { listApprovalsBelow, takeBackBelow } from '../input/recorded-approvals.ts';
import { refuseRunning } from './act-refusals.ts';
import { type ActRow, admitAnybody } from './act.ts';

/* Acts on a turn: stopping it, cancelling its open requests and calls, and taking back the message that began it. */

/** Stops the thread's run, or ends a turn that is due. What people have approved is held. */
export const stop: ActRow<'stop'> = {
  admit: admitAnybody,
  decide(proposal, { context, by }) {
    proposal.add(...makeStopRequest(context, proposal.state, by));
  },
};

/** Cancels what the person may reject: every request that is open, or approved and unused. Throws `not-allowed` if there is another. */
export const cancel: ActRow<'cancel', AskedEndings> = {
  async admit({ context, log: { state }, act: { reason }, by }) {
    const below = await listApprovalsBelow(context, state);
    const own = listCancellable({ state, head: state.head });
    const ended = [...own, ...below.map((each) => each.ended)];
    const found = await admitEndings(context, state, ended, { by, mayAnswer: context.mayAnswer });
    /* The calls of the other requests end with this, and their sub-agents with them. */
    const atWork = below.filter(({ asking }) => isAtWork(state.head, asking.beside, context.now()));
    await takeBackBelow(atWork, { reason, by });
    return { found };
  },
  decide(proposal, { context, act: { reason }, by, found }) {
    refuseUnasked(found, listCancellable(proposal));
    cancelWork(context, proposal, { reason, by });
  },
};

/** Checks whether a live run works on a delegated call, which a cancellation therefore does not end. */
function isAtWork(head: ThreadHead, beside: CallPlace, now: number): boolean {
  const call = callAt(head, beside);
  return call !== undefined && isUnfinished(call) && isRunning(head, now);
}

/** Lists the requests and calls that a cancellation ends: open ones, and approved ones that have not begun. */
function listCancellable(thread: Pick<Proposal, 'state' | 'head'>): (OpenRequest | EndedRequest)[] {
  return [...thread.head.openRequests, ...listUnstartedApprovals(thread)];
}

/** Cancels open requests, and approved calls that have not begun, without checking rights. */
export function cancelWork(
  { now, principalId, tools }: Pick<AgentContext, 'now' | 'principalId' | 'tools'>,
  proposal: Proposal,
  { reason, by }: { reason: string; by: AnswerOptions },
): void {
  const { head } = proposal;
  const approvals = listUnstartedApprovals(proposal);
  const findAgent = (call: ToolCallRecord): string | undefined =>
    findDelegation(tools, call)?.agent;
  const cancelled = { reason, at: now(), by: describeClosedBy(by, principalId), findAgent };
  proposal.add(...cancelEvents({ head, approvals }, cancelled));
}

/** Retracts the app's last message. */
export const retract: ActRow<'retract'> = {
  isOutermost: true,
  admit: admitAnybody,
  decide(proposal, { context, act: { messageId }, by, at }) {
    refuseRunning(proposal.state, at);
    refuseRetraction(proposal.state, messageId);
    proposal.add(...makeAbandonedEvents(context, proposal.state));
    proposal.add({ type: 'message-retracted', at, ...by });
  },
};

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
