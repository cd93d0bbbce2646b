import { describeClosedBy, whyNobody } from '../../policy/same-person.ts';
import type { CallPlace } from '../../content/tool-call.ts';
import type { ClosedBy } from '../../content/user-input.ts';
import { HoldpointError } from '../../errors.ts';
import type { Proposal } from '../../thread/proposal.ts';
import type { ThreadEvent } from '../../thread/thread-event.ts';
import {
  callAt,
  type EndedRequest,
  isHeld,
  isStoppedBeforeReply,
  isUnfinished,
  type ThreadHead,
} from '../../thread/thread-head.ts';
import type { ThreadLog } from '../../thread/thread-log.ts';
import type { ThreadState } from '../../thread/thread-state.ts';
import {
  cancelApprovals,
  listHeldApprovals,
  listUnstartedApprovals,
} from '../calls/close-requests.ts';
import {
  findDelegation,
  makeDelegatedCall,
  type MirroredCall,
  type Cancellation,
  type UnstartedApproval,
} from '../calls/delegation.ts';
import type { AnswerContext } from './right-to-answer.ts';
import { makeNobodyRefusal, makeReleaseRefusal } from './answer-errors.ts';
import type { AdmittedInput, Released } from './admitted-input.ts';
import type { AnswerOptions, ParsedInput } from './parse-input.ts';

/* A person who undoes a recorded approval, or releases a stopped one, must be allowed to reject it. */

/** Throws `not-allowed` unless the person may reject a request. */
type RefuseRejection = (request: EndedRequest) => Promise<void>;

/** Throws `not-allowed` for an anonymous caller: only a known person can undo a recorded approval. */
export function requirePerson(
  { principalId }: Pick<AnswerContext, 'principalId'>,
  { request: { requestId } }: EndedRequest,
  { by }: Pick<ParsedInput, 'by'>,
): void {
  const fault = whyNobody(by.principal, principalId);
  if (fault !== undefined) throw makeNobodyRefusal(requestId, fault);
}

/** A recorded approval of a sub-agent, or of one below it, that is not used yet. */
export interface ApprovalBelow {
  /** Its request, as the thread shows it. */
  ended: EndedRequest;
  isHeld: boolean;
  /** The delegated call that it is for. */
  asking: MirroredCall;
}

/** Lists the recorded approvals of a thread's sub-agents that are not used yet. */
export async function listApprovalsBelow(
  context: Pick<AnswerContext, 'tools'>,
  state: Readonly<ThreadState>,
): Promise<ApprovalBelow[]> {
  const found = await Promise.all(
    listDelegatedCalls(context, state).map(async (asking) => {
      const approvals = await asking.delegation.approvals(asking.call);
      return approvals.flatMap(({ requestId, isHeld: isHeldBelow }) => {
        const ended = state.endedRequests.get(requestId);
        return ended === undefined ? [] : [{ ended, isHeld: isHeldBelow, asking }];
      });
    }),
  );
  return found.flat();
}

/** Lists the recorded approvals of a thread, and of those below it, that are not used yet, or that a stop holds. */
export async function listUnstarted(
  context: Pick<AnswerContext, 'tools'>,
  state: Readonly<ThreadState>,
): Promise<(Pick<ApprovalBelow, 'ended'> & UnstartedApproval)[]> {
  const thread = { state, head: state.head };
  const unheld = listUnstartedApprovals(thread).filter((ended) => !isHeld(ended));
  const own = [...listHeldApprovals(thread), ...unheld].map((ended) => ({
    ended,
    isHeld: isHeld(ended),
  }));
  return [...own, ...(await listApprovalsBelow(context, state))].map((each) => ({
    ended: each.ended,
    isHeld: each.isHeld,
    requestId: each.ended.request.requestId,
  }));
}

/** The calls of a thread on which sub-agents work. */
export function listDelegatedCalls(
  { tools }: Pick<AnswerContext, 'tools'>,
  { threadId, head }: Readonly<ThreadState>,
): MirroredCall[] {
  return head.calls.flatMap((record): MirroredCall[] => {
    const { step, index, status } = record;
    const isBegun = isUnfinished(record) || status === 'deferred';
    const delegation = isBegun ? findDelegation(tools, record) : undefined;
    if (delegation === undefined) return [];
    return [{ delegation, call: makeDelegatedCall(threadId, record), beside: { step, index } }];
  });
}

/**
 * Finds the requests whose held approvals the sender of an input releases. Throws `not-allowed` if they may release none, and the input
 * does nothing else.
 */
export async function admitReleases(
  context: Pick<AnswerContext, 'tools'>,
  state: Readonly<ThreadState>,
  input: ParsedInput,
  refuseRejection: RefuseRejection,
): Promise<Released | undefined> {
  if (input.resumeStopped !== true) return undefined;
  const below = (await listApprovalsBelow(context, state)).filter((each) => each.isHeld);
  const own = listHeldApprovals({ state, head: state.head });
  const held = [...own, ...below.map(({ ended }) => ended)];
  if (held.length === 0) return undefined;
  const { allowed, refusal } = await splitAllowed(held, refuseRejection);
  const isAlone = input.messages.length + input.answers.length === 0;
  if (refusal !== undefined && allowed.size === 0 && isAlone && !isStoppedBeforeReply(state.head))
    throw makeReleaseRefusal(refusal);
  return findReleased(allowed, below);
}

function findReleased(requestIds: Iterable<string>, below: readonly ApprovalBelow[]): Released {
  const askedBy = new Map(below.map(({ ended, asking }) => [ended.request.requestId, asking]));
  return new Map([...requestIds].map((requestId) => [requestId, askedBy.get(requestId)]));
}

/** Has sub-agents release their own approvals, before the thread above records it. */
export async function releaseBelow(
  released: Released | undefined,
  by: AnswerOptions,
): Promise<void> {
  for (const [requestId, asking] of released ?? [])
    await asking?.delegation.release(asking.call, [requestId], by);
}

/** Releases approvals of a sub-agent's thread, and of those below it. The right to do so was checked. */
export async function releaseApprovals(
  context: Pick<AnswerContext, 'tools' | 'now' | 'principalId'>,
  log: ThreadLog,
  { requestIds, by }: { requestIds: readonly string[]; by: AnswerOptions },
): Promise<void> {
  const released = findReleased(requestIds, await listApprovalsBelow(context, log.state));
  await releaseBelow(released, by);
  await log.commit((proposal) => {
    const sender = describeClosedBy(by, context.principalId);
    proposal.add(...makeReleaseEvents(proposal, { released }, { at: context.now(), by: sender }));
  });
}

/** Takes back approvals of a sub-agent's thread, and of those below it, that are not used yet. The right to do so was checked. */
export async function takeBackApprovals(
  context: Pick<AnswerContext, 'tools' | 'now' | 'principalId'>,
  log: ThreadLog,
  requestIds: readonly string[],
  cancellation: Cancellation,
): Promise<void> {
  const named = new Set(requestIds);
  const isNamed = ({ request }: EndedRequest): boolean => named.has(request.requestId);
  const below = await listApprovalsBelow(context, log.state);
  await takeBackBelow(
    below.filter(({ ended }) => isNamed(ended)),
    cancellation,
  );
  await log.commit((proposal) => {
    const { reason, by } = cancellation;
    const cancelling = { reason, at: context.now(), by: describeClosedBy(by, context.principalId) };
    const approvals = listUnstartedApprovals(proposal).filter(isNamed);
    proposal.add(...cancelApprovals(proposal.head, approvals, cancelling));
  });
}

/** Has sub-agents take back their own approvals. */
export async function takeBackBelow(
  approvals: readonly ApprovalBelow[],
  cancellation: Cancellation,
): Promise<void> {
  for (const { ended, asking } of approvals)
    await asking.delegation.takeBack(asking.call, [ended.request.requestId], cancellation);
}

/** The recorded approvals that an answer which ends the turn takes back, instead of leaving them held: those that its sender may reject. */
export async function findInterrupted(
  state: Readonly<ThreadState>,
  refuseRejection: RefuseRejection,
): Promise<ReadonlySet<string>> {
  const approvals = listUnstartedApprovals({ state, head: state.head });
  return (await splitAllowed(approvals, refuseRejection)).allowed;
}

async function splitAllowed(
  approvals: readonly EndedRequest[],
  refuseRejection: RefuseRejection,
): Promise<{ allowed: Set<string>; refusal: HoldpointError | undefined }> {
  const allowed = new Set<string>();
  let refusal: HoldpointError | undefined;
  for (const approval of approvals) {
    try {
      await refuseRejection(approval);
      allowed.add(approval.request.requestId);
    } catch (error) {
      if (!HoldpointError.isInstance(error) || error.code !== 'not-allowed') throw error;
      refusal ??= error;
    }
  }
  return { allowed, refusal };
}

/** The event that releases the approvals which the sender may release and a stop still holds. */
export function makeReleaseEvents(
  proposal: Proposal,
  { released }: Pick<AdmittedInput, 'released'>,
  { at, by }: { at: number; by: ClosedBy },
): ThreadEvent[] {
  if (released === undefined) return [];
  const held = new Set(listHeldApprovals(proposal).map(({ request }) => request.requestId));
  const isDue = ([requestId, asking]: [string, MirroredCall | undefined]): boolean =>
    asking === undefined ? held.has(requestId) : isOpenAt(proposal.head, asking.beside);
  const requestIds = [...released].filter(isDue).map(([requestId]) => requestId);
  return requestIds.length === 0 ? [] : [{ type: 'approvals-released', at, requestIds, ...by }];
}

/* The sub-agent may have continued meanwhile, and its call may have ended. */
function isOpenAt(head: ThreadHead, place: CallPlace): boolean {
  const call = callAt(head, place);
  return call !== undefined && call.outcome === undefined;
}
