import { actTerms } from '../../content/act.ts';
import { isAnswererLimited, pickTerms } from '../../content/approval-terms.ts';
import {
  pickToolCall,
  type ToolCallOutcome,
  type ToolCallRecord,
  type ToolCallStatus,
} from '../../content/tool-call.ts';
import { HoldpointError } from '../../errors.ts';
import { isEqualJson } from '../../policy/digest.ts';
import { describeClosedBy } from '../../policy/same-person.ts';
import type { Proposal } from '../../thread/proposal.ts';
import type { ThreadEvent } from '../../thread/thread-event.ts';
import { isSamePlace, type OpenRequest, type ThreadHead } from '../../thread/thread-head.ts';
import { callOfId, refuseUnless } from '../../thread/thread-state.ts';
import { listAskedDuring } from '../../thread/open-requests.ts';
import { makeCloseDuringEvents, endEvents } from '../calls/close-requests.ts';
import {
  type DeliveredOutcome,
  makeRecordedOutcome,
  parseDelivered,
  parseSettled,
} from '../calls/delivered-outcome.ts';
import { whyNotShown } from '../calls/made-input.ts';
import { askAbout, makeOpenedEvent, makeOwnRunner } from '../calls/make-request.ts';
import { admitEndings } from '../input/admit-input.ts';
import { type AskedEndings, refuseUnasked } from '../input/asked-endings.ts';
import { isAllowed, makeAskedAnswer } from '../input/right-to-answer.ts';
import { listApprovalsBelow } from '../input/recorded-approvals.ts';
import type { ActRow, Acting, Done } from './act.ts';

/* Acts on a call whose outcome comes from outside. */

/** An outcome as it is recorded, and the requests that it ends. */
export interface AdmittedOutcome extends AskedEndings {
  recorded: ToolCallOutcome;
}

/** The events of a new approval of a lost call, and the requests that it ends. */
export interface AdmittedRetry extends AskedEndings {
  again: ThreadEvent[];
}

/** Settles an indeterminate call, or approves it again. */
export const settle: ActRow<'settle', AdmittedOutcome | AdmittedRetry> = {
  async admit(acting) {
    const { toolCallId, outcome: given } = acting.act;
    const outcome = parseSettled(given);
    if (outcome.status === 'retry') return { found: await admitRetry(acting) };
    const ending = { toolCallId, outcome, source: 'settled' } as const;
    return { found: await admitOutcome(acting, ending) };
  },
  decide(proposal, { found, ...done }) {
    if ('recorded' in found) endCall(proposal, { ...done, found, source: 'settled' });
    else retryCall(proposal, { ...done, found });
  },
};

/** Records a delivered outcome. It may arrive before the call is recorded as deferred. */
export const deliver: ActRow<'deliver', AdmittedOutcome> = {
  async admit(acting) {
    const { toolCallId, outcome } = acting.act;
    const ending = { toolCallId, outcome: parseDelivered(outcome), source: 'delivered' } as const;
    return { found: await admitOutcome(acting, ending) };
  },
  decide(proposal, done) {
    endCall(proposal, { ...done, source: 'delivered' });
  },
};

type Source = 'settled' | 'delivered';

const endable: Record<Source, readonly ToolCallStatus[]> = {
  settled: ['indeterminate'],
  delivered: ['deferred', 'started', 'indeterminate'],
};

async function admitOutcome(
  { context, log, by }: Acting<'settle' | 'deliver'>,
  {
    toolCallId,
    outcome,
    source,
  }: { toolCallId: string; outcome: DeliveredOutcome; source: Source },
): Promise<AdmittedOutcome> {
  const { state } = log;
  const call = callOfId(state, toolCallId, context.now());
  const tools = await context.definedTools();
  const recorded = await makeRecordedOutcome(tools.get(call.toolName), call, outcome);
  const { mayAnswer } = context;
  const below = await listApprovalsBelow(context, state);
  const undone = below.filter(({ asking }) => isSamePlace(asking.beside, call));
  const ended = [...listEnded(state.head, call, source), ...undone.map((each) => each.ended)];
  return { recorded, ...(await admitEndings(context, state, ended, { by, mayAnswer })) };
}

/* A tool that reports its own end no longer asks; everything else that ends a request is an answer to it. */
function listEnded(head: ThreadHead, call: ToolCallRecord, source: Source): OpenRequest[] {
  return listAskedDuring(head, call).filter(
    ({ request }) => source === 'settled' || request.path !== undefined,
  );
}

function endCall(
  proposal: Proposal,
  {
    context: { principalId },
    act: { toolCallId },
    by,
    at,
    found,
    source,
  }: Done<'settle' | 'deliver', AdmittedOutcome> & { source: Source },
): void {
  const call = callOfId(proposal.state, toolCallId, at);
  if (isEnded(call, found.recorded)) return;
  refuseUnless(call, endable[source], 'an outcome is accepted');
  refuseUnasked(found, listEnded(proposal.head, call, source));
  const { step, index } = call;
  const outcome = found.recorded;
  const ended = { type: 'call-ended', at, step, index, outcome, source, ...by } as const;
  proposal.add(...endEvents(proposal.head, ended, { by: describeClosedBy(by, principalId) }));
}

/**
 * Gives up the attempt whose outcome is unknown, and makes a new request for the same call together with its approval by the person who
 * settles it. The next run starts the call, after the usual last check. If the call's earlier request was not for anybody to approve, or
 * this person may not approve it, or it is a call of a sub-agent, the new one stays open, for those who may.
 */
async function admitRetry({ context, log, act, by }: Acting<'settle'>): Promise<AdmittedRetry> {
  const { toolCallId } = act;
  const { state } = log;
  const { threadId, head, endedRequests } = state;
  const call = callOfId(state, toolCallId, context.now());
  const definition = (await context.definedTools()).get(call.toolName);
  if (definition === undefined) {
    throw new HoldpointError(
      'not-allowed',
      `Call ${toolCallId} can't be retried: this agent has no tool '${call.toolName}'. Settle it as succeeded or failed.`,
    );
  }
  if (call.grantId !== undefined) {
    throw new HoldpointError(
      'not-allowed',
      `Call ${toolCallId} can't be retried: a standing approval started it, and nobody has approved this call. Settle it as succeeded or failed; the model can then propose it again.`,
    );
  }
  const unshown = whyNotShown(call.input, call.inputTypes);
  if (unshown !== undefined) {
    throw new HoldpointError(
      'not-allowed',
      `Call ${toolCallId} can't be retried: people can't be shown its input exactly: ${unshown}. Settle it as succeeded or failed.`,
    );
  }
  const { step, index } = call;
  const earlier = endedRequests.get(call.requestId ?? '')?.request;
  const terms = earlier?.type === 'approval-request' ? pickTerms(earlier) : {};
  /* The first attempt may have taken effect, so another input must not run under its idempotency key. */
  const { editable: _editable, ...kept } = terms;
  const { requestedBy, requesters } = head;
  const { now, generateId, mayAnswer, report, principalId } = context;
  const request = await askAbout(
    { threadId, requestedBy, requesters, now, generateId, mayAnswer, report },
    { reason: 'The outcome of its last attempt is unknown.', terms: kept },
    {
      toolCall: pickToolCall(call),
      place: { step, index },
      runner: makeOwnRunner(definition, () => log.state.messages),
    },
  );
  const { requestId, digest, createdAt: at } = request;
  const response = { type: 'approval-response', requestId, approved: true, digest } as const;
  const again: ThreadEvent[] = [
    { type: 'call-abandoned', at, step, index, ...by },
    makeOpenedEvent(call, request),
  ];
  const isLimited = isAnswererLimited(kept) || kept.requireReason === true;
  /* The agents above a child thread also decide, and can't be asked here. */
  const mayApprove =
    !isLimited &&
    head.parent === undefined &&
    (await isAllowed(mayAnswer, [makeAskedAnswer(request, response, by)]));
  if (mayApprove)
    again.push({ type: 'request-answered', at, response, ...describeClosedBy(by, principalId) });
  const ended = listAskedDuring(log.state.head, call);
  return { again, ...(await admitEndings(context, log.state, ended, { by, mayAnswer })) };
}

function retryCall(
  proposal: Proposal,
  { context: { principalId }, act: { toolCallId }, by, at, found }: Done<'settle', AdmittedRetry>,
): void {
  const call = callOfId(proposal.state, toolCallId, at);
  if (call.outcome !== undefined) throw makeOtherOutcomeError(call);
  refuseUnless(call, endable.settled, 'an outcome is accepted');
  refuseUnasked(found, listAskedDuring(proposal.head, call));
  const { reason } = actTerms.settle;
  const closed = { reason, at, by: describeClosedBy(by, principalId) };
  proposal.add(...makeCloseDuringEvents(proposal.head, call, closed), ...found.again);
}

/** Checks whether the call already has this outcome. Throws `already-answered` if it has another. */
function isEnded(call: ToolCallRecord, outcome: ToolCallOutcome): boolean {
  if (call.outcome === undefined) return false;
  if (isEqualJson(omitModelOutput(call.outcome), omitModelOutput(outcome))) return true;
  throw makeOtherOutcomeError(call);
}

/* `toModelOutput` may return something else each time. */
function omitModelOutput(outcome: ToolCallOutcome): ToolCallOutcome {
  return 'modelOutput' in outcome ? { ...outcome, modelOutput: undefined } : outcome;
}

function makeOtherOutcomeError({ toolCallId }: ToolCallRecord): HoldpointError {
  return new HoldpointError(
    'already-answered',
    `Call ${toolCallId} already has a different outcome; the first outcome stands.`,
  );
}
