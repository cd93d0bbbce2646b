import { z } from 'zod';
import { isAnswererLimited, pickTerms } from '../../content/approval-terms.ts';
import {
  pickToolCall,
  type ToolCallOutcome,
  type ToolCallRecord,
  type ToolCallStatus,
} from '../../content/tool-call.ts';
import { HoldpointError } from '../../errors.ts';
import { isEqualJson } from '../../policy/digest.ts';
import { type PrincipalId, describeClosedBy } from '../../policy/same-person.ts';
import { callOfId, refuseUnless, type ThreadState } from '../../thread/thread-state.ts';
import type { Proposal } from '../../thread/proposal.ts';
import type { ThreadEvent, ThreadEventOf } from '../../thread/thread-event.ts';
import type { ThreadLog } from '../../thread/thread-log.ts';
import type { OpenRequest } from '../../thread/thread-head.ts';
import { listAskedDuring, makeCloseDuringEvents, endEvents } from '../calls/close-requests.ts';
import type { Commit } from '../calls/delegation.ts';
import { makeOutcome } from '../calls/execute-call.ts';
import {
  askAbout,
  type RequestMaking,
  makeOpenedEvent,
  makeOwnRunner,
} from '../calls/make-request.ts';
import type { ToolDefinition, ToolDefinitions } from '../calls/tool-definitions.ts';
import { isAllowed, makeAskedAnswer } from './call-may-answer.ts';
import {
  parseAnswerer,
  type RefuseEnding,
  type AnswerOptions,
  type MayAnswer,
} from './parse-input.ts';

/** The outcome of a call, delivered from outside. `output` must be JSON. */
export type DeliveredOutcome = DeliveredSuccess | DeliveredFailure;

interface DeliveredSuccess {
  /** The call had its effect. */
  status: 'succeeded';
  /** What it returned, as JSON. The model receives it. */
  output: unknown;
}

interface DeliveredFailure {
  /** The call failed, and can no longer happen. */
  status: 'failed';
  /** Why. The model receives it. */
  error: string;
}

/** How an indeterminate call is settled; `retry` is a new approval of the same call. */
export type SettledOutcome = DeliveredOutcome | Retry;

interface Retry {
  /** The call did not happen: it is made again. */
  status: 'retry';
}

/** The inputs for recording an outcome from outside. */
export interface EndingInput extends Omit<RequestMaking, 'threadId' | 'requestedBy'> {
  log: ThreadLog;
  tools: ToolDefinitions;
  /** Appends what ends a call. */
  commitCancelled: Commit;
  principalId: PrincipalId;
  mayAnswer: MayAnswer | undefined;
  /** Asks whether a person may end requests. */
  allowEndings: (ended: readonly OpenRequest[], by: AnswerOptions) => Promise<RefuseEnding>;
}

/** Which call ended, how, and who reported it. */
interface Ending<OUTCOME> {
  toolCallId: string;
  outcome: OUTCOME;
  by: AnswerOptions;
}

/** Settles an indeterminate call, or approves it again. */
export async function settleCall(
  input: EndingInput,
  ending: Ending<SettledOutcome>,
): Promise<void> {
  const by = parseAnswerer(ending.by);
  const outcome = parseSettled(ending.outcome);
  if (outcome.status === 'retry') await retryCall(input, { ...ending, by });
  else await endCall(input, { ...ending, by, outcome }, 'settled', ['indeterminate']);
}

/** Records a delivered outcome. It may arrive before the call is recorded as deferred. */
export async function deliverOutcome(
  input: EndingInput,
  ending: Ending<DeliveredOutcome>,
): Promise<void> {
  const by = parseAnswerer(ending.by);
  const outcome = parseDelivered(ending.outcome);
  await endCall(input, { ...ending, by, outcome }, 'delivered', [
    'deferred',
    'started',
    'indeterminate',
  ]);
}

async function endCall(
  { log, tools, commitCancelled, now, principalId, allowEndings }: EndingInput,
  { toolCallId, outcome, by }: Ending<DeliveredOutcome>,
  source: NonNullable<ThreadEventOf<'call-ended'>['source']>,
  statuses: readonly ToolCallStatus[],
): Promise<void> {
  const named = callOfId(log.state, toolCallId, now());
  const recorded = await makeRecordedOutcome(tools.get(named.toolName), named, outcome);
  /* A tool that reports its own end no longer asks; everything else that ends a request is an answer to it. */
  const endedIn = ({ head }: Pick<ThreadState, 'head'>): OpenRequest[] =>
    listAskedDuring(head, named).filter(
      ({ request }) => source === 'settled' || request.path !== undefined,
    );
  const refuseEnding = await allowEndings(endedIn(log.state), by);
  const end = (proposal: Proposal): void => {
    const at = now();
    const call = callOfId(proposal.state, toolCallId, at);
    if (isEnded(call, recorded)) return;
    refuseUnless(call, statuses, 'an outcome is accepted');
    const { step, index } = call;
    const ended = {
      type: 'call-ended',
      at,
      step,
      index,
      outcome: recorded,
      source,
      ...by,
    } as const;
    endedIn(proposal).forEach(refuseEnding);
    proposal.add(...endEvents(proposal.head, ended, { by: describeClosedBy(by, principalId) }));
  };
  await commitCancelled(log, end);
}

/**
 * Gives up the attempt whose outcome is unknown, and records a new request for the same call together with its approval by the person who
 * settles it. The next run starts the call, after the usual last check. If the call's earlier request was not for anybody to approve, or this
 * person may not approve it, or it is a call of a sub-agent, the new one stays open, for those who may.
 */
async function retryCall(input: EndingInput, { toolCallId, by }: Ending<unknown>): Promise<void> {
  const { log, now, tools, principalId } = input;
  const call = callOfId(log.state, toolCallId, now());
  const definition = tools.get(call.toolName);
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
  const events = await retryEvents(input, { call, definition, by });
  const refuseEnding = await input.allowEndings(listAskedDuring(log.state.head, call), by);
  await log.commit((proposal) => {
    const current = callOfId(proposal.state, toolCallId, now());
    if (current.outcome !== undefined) throw makeOtherOutcomeError(current);
    refuseUnless(current, ['indeterminate'], 'an outcome is accepted');
    listAskedDuring(proposal.head, current).forEach(refuseEnding);
    const reason = 'The call is being retried.';
    const closed = { reason, at: now(), by: describeClosedBy(by, principalId) };
    proposal.add(...makeCloseDuringEvents(proposal.head, current, closed), ...events);
  });
}

async function retryEvents(
  { log, tools: _tools, commitCancelled: _commit, allowEndings: _allow, ...making }: EndingInput,
  about: { call: ToolCallRecord; definition: ToolDefinition; by: AnswerOptions },
): Promise<ThreadEvent[]> {
  const { call, definition, by } = about;
  const { step, index } = call;
  const { threadId, head, endedRequests } = log.state;
  const earlier = endedRequests.get(call.requestId ?? '')?.request;
  const terms = earlier?.type === 'approval-request' ? pickTerms(earlier) : {};
  /* The first attempt may have taken effect, so another input must not run under its idempotency key. */
  const { editable: _editable, ...kept } = terms;
  const { requestedBy, requesters } = head;
  const request = await askAbout(
    { ...making, threadId, requestedBy, requesters },
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
  if (isAnswererLimited(kept) || kept.requireReason === true) return again;
  /* The agents above have a say, and can't be asked here. */
  if (head.parent !== undefined) return again;
  const asked = makeAskedAnswer(request, response, by);
  if (!(await isAllowed(making.mayAnswer, [asked]))) return again;
  const answeredBy = describeClosedBy(by, making.principalId);
  return [...again, { type: 'request-answered', at, response, ...answeredBy }];
}

/** Whether the call already has this outcome. Throws `already-answered` if it has another. */
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

const succeeded = z.strictObject({ status: z.literal('succeeded'), output: z.unknown() });
const failed = z.strictObject({ status: z.literal('failed'), error: z.string() });
const deliveredSchema = z.discriminatedUnion('status', [succeeded, failed]);
const settledSchema = z.discriminatedUnion('status', [
  succeeded,
  failed,
  z.strictObject({ status: z.literal('retry') }),
]);

/** Parses an outcome from outside. Throws `invalid-input`. */
export function parseDelivered(outcome: unknown): z.infer<typeof deliveredSchema> {
  return parseOutcome(deliveredSchema, outcome);
}

/** Parses how a call is settled. Throws `invalid-input`. */
function parseSettled(outcome: unknown): z.infer<typeof settledSchema> {
  return parseOutcome(settledSchema, outcome);
}

function parseOutcome<OUTCOME>(schema: z.ZodType<OUTCOME>, outcome: unknown): OUTCOME {
  const result = schema.safeParse(outcome);
  if (result.success) return result.data;
  throw new HoldpointError(
    'invalid-input',
    `Not a valid call outcome: ${z.prettifyError(result.error)}`,
  );
}

/** An outcome from outside as it is recorded, with the tool's `toModelOutput`. */
export async function makeRecordedOutcome(
  definition: ToolDefinition | undefined,
  call: ToolCallRecord,
  outcome: DeliveredOutcome,
): Promise<ToolCallOutcome> {
  if (outcome.status === 'failed') return { status: 'failed', error: outcome.error };
  return makeOutcome(definition?.tool, call, outcome.output);
}
