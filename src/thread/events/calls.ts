import type { JSONValue, ToolModelMessage, ToolResultPart } from 'ai';
import { z } from 'zod';
import {
  type ToolCallRecord,
  jsonTypesSchema,
  openCallStatuses,
  toolCallOutcomeSchema,
  workingAgentSchema,
  type ToolCallOutcome,
  jsonValueSchema,
} from '../../content/tool-call.ts';
import { endsTurn, isHeld } from '../thread-head.ts';
import { always, by, placeFields } from './fields.ts';
import {
  endAsking,
  type HeadDraft,
  holdApprovals,
  openCallAt,
  makeTamperedError,
} from './head-draft.ts';

/* Calls: their attempts, and how they end. */

/**
 * `execute` is about to be called; durable before it is. A second one for the same place is a new attempt, or resumes a delegated call.
 * `expiresAt` is the time until which a sub-agent may work, in milliseconds since 1970; the first start sets it.
 */
const callStarted = z.strictObject({
  type: z.literal('call-started'),
  ...always,
  ...placeFields,
  expiresAt: z.number().optional(),
});

export function applyCallStarted(event: z.infer<typeof callStarted>, draft: HeadDraft): void {
  const { run } = draft.head;
  const call = requireOwnCall(draft, event, [...startableStatuses, 'deferred']);
  if (call.status === 'started' && call.runId === run?.runId) {
    throw makeTamperedError(event, 'this run has started the call already');
  }
  if (call.status === 'deferred' && call.agent === undefined) {
    throw makeTamperedError(event, 'the call continues elsewhere');
  }
  call.status = 'started';
  call.runId = run?.runId;
  call.startedAt = event.at;
  if (event.expiresAt !== undefined) call.expiresAt ??= event.expiresAt;
  call.attempts += 1;
  if (call.agent !== undefined) {
    const { name, threadId } = call.agent;
    call.agent = { name, threadId };
  }
  call.held = undefined;
  call.recoveries = undefined;
  call.recoverAt = undefined;
  call.resumeAt = undefined;
}

/** The tool's schema has made another value than before from the same input; it is decided on again. */
const inputRemade = z.strictObject({
  type: z.literal('input-remade'),
  ...always,
  ...placeFields,
  input: z.unknown(),
  types: jsonTypesSchema.optional(),
});

export function applyInputRemade(event: z.infer<typeof inputRemade>, draft: HeadDraft): void {
  const call = openCallAt(draft, event, event, ['proposed']);
  if (call.given === undefined) call.given = call.input;
  call.input = event.input;
  call.inputTypes = event.types;
  call.isRemade = true;
}

/**
 * The call continues outside. Its result is delivered later, before `expiresAt` if set, in milliseconds since 1970. With `agent`, the
 * call is delegated and its sub-agent waits; the call is resumed when the sub-agent has received an answer, and at `resumeAt`, in
 * milliseconds since 1970, 0 for immediately.
 */
const callDeferred = z.strictObject({
  type: z.literal('call-deferred'),
  ...always,
  ...placeFields,
  expiresAt: z.number().optional(),
  agent: workingAgentSchema.optional(),
  resumeAt: z.number().optional(),
});

export function applyCallDeferred(event: z.infer<typeof callDeferred>, draft: HeadDraft): void {
  const { expiresAt, agent, resumeAt } = event;
  const call = requireOwnCall(draft, event, startableStatuses);
  call.status = 'deferred';
  call.resumeAt = resumeAt;
  if (expiresAt !== undefined) call.expiresAt = expiresAt;
  if (agent !== undefined) call.agent = agent;
}

const startableStatuses = ['proposed', 'approved', 'started', 'indeterminate'] as const;

/** The call that an attempt begins. One that is held, or that the provider runs, never begins here, even if a log says so. */
function requireOwnCall(
  draft: HeadDraft,
  event: z.infer<typeof callStarted> | z.infer<typeof callDeferred>,
  statuses: readonly ToolCallRecord['status'][],
): ToolCallRecord {
  const call = openCallAt(draft, event, event, statuses);
  const which = `call ${call.step}.${call.index}`;
  if (call.providerApprovalId !== undefined)
    throw makeTamperedError(event, `the provider runs ${which}`);
  if (call.status === 'approved' && isHeld(call))
    throw makeTamperedError(event, `a stop holds ${which}`);
  return call;
}

/**
 * The run that started the call has ended or died, and the outcome is unknown: the call is indeterminate. At `recoverAt`, in milliseconds
 * since 1970, the tool's `reconcile` is called, or an idempotent tool is started again; without that time, the call waits for a person.
 * `error` says why an agent that works on the call could not be reached.
 */
const callLost = z.strictObject({
  type: z.literal('call-lost'),
  ...always,
  ...placeFields,
  recoverAt: z.number().optional(),
  error: z.string().optional(),
});

export function applyCallLost(event: z.infer<typeof callLost>, draft: HeadDraft): void {
  const call = openCallAt(draft, event, event, ['started']);
  call.status = 'indeterminate';
  call.recoverAt = event.recoverAt;
}

/** The tool's `reconcile` could not find out the outcome. It is called again at `recoverAt`; without that time, not again. */
const recoveryFailed = z.strictObject({
  type: z.literal('recovery-failed'),
  ...always,
  ...placeFields,
  recoverAt: z.number().optional(),
});

export function applyRecoveryFailed(event: z.infer<typeof recoveryFailed>, draft: HeadDraft): void {
  const call = openCallAt(draft, event, event, ['indeterminate']);
  call.recoveries = (call.recoveries ?? 0) + 1;
  call.recoverAt = event.recoverAt;
}

/** A person gave up an attempt whose outcome is unknown. A new approval is requested for the call. */
const callAbandoned = z.strictObject({
  type: z.literal('call-abandoned'),
  ...always,
  ...placeFields,
  ...by,
});

export function applyCallAbandoned(event: z.infer<typeof callAbandoned>, draft: HeadDraft): void {
  const call = openCallAt(draft, event, event, ['started', 'indeterminate']);
  call.status = 'proposed';
  call.held = undefined;
  recoverOthers(draft, event.at);
  endAsking(draft, event, event);
}

/** All lost calls are restarted together: one that was settled no longer prevents the recovery of the others. */
function recoverOthers({ head: { calls } }: HeadDraft, at: number): void {
  for (const call of calls) {
    if (call.status !== 'indeterminate' || call.recoveries === undefined) continue;
    call.recoveries = undefined;
    call.recoverAt = at;
  }
}

/**
 * The call ended; every call has one such event. `source` is set if the outcome did not come from the run that started the call:
 * `settled` by a person, `reconciled` by the tool, or `delivered` from outside.
 */
const callEnded = z.strictObject({
  type: z.literal('call-ended'),
  ...always,
  ...placeFields,
  outcome: toolCallOutcomeSchema,
  source: z.enum(['settled', 'reconciled', 'delivered']).optional(),
  ...by,
});

export function applyCallEnded(event: z.infer<typeof callEnded>, draft: HeadDraft): void {
  const call = openCallAt(draft, event, event, openCallStatuses);
  const { status } = event.outcome;
  if (!mayEnd(call, status)) {
    throw makeTamperedError(event, `call ${call.step}.${call.index} can't be ${status}`);
  }
  /* The outcome has been found out: earlier failures of the run no longer count. */
  if (event.source !== undefined) {
    draft.head.failure = undefined;
    recoverOthers(draft, event.at);
  }
  if (event.source === 'delivered') draft.head.isStopped = false;
  endAsking(draft, event, event);
  call.status = status;
  call.outcome = event.outcome;
  call.held = undefined;
  if (endsTurn(call)) holdApprovals(draft.head, { andRestarts: false });
  const { calls } = draft.head;
  while (calls[draft.ended]?.outcome !== undefined) draft.ended += 1;
  if (draft.ended === calls.length) completeStep(draft);
}

/**
 * Checks whether a call may end in this way. One that the provider runs ends here once the provider's request is answered: with `forwarded`
 * only after an approval, and never with a result.
 */
function mayEnd(call: ToolCallRecord, status: ToolCallOutcome['status']): boolean {
  const isProviders = call.providerApprovalId !== undefined;
  switch (status) {
    case 'succeeded':
      return !isProviders;
    case 'forwarded':
      return isProviders && call.status === 'approved' && !isHeld(call);
    case 'failed':
    case 'denied':
      return true;
  }
}

/**
 * Completes a step whose calls have all ended: their results become the tool message, in the model's order, and the model is next unless a
 * call ended the turn.
 */
function completeStep(draft: HeadDraft): void {
  const { head } = draft;
  const { calls, queuedMessages, newlyPast } = head;
  newlyPast.messages.push({ role: 'tool', content: calls.flatMap(makeToolParts) });
  newlyPast.messages.push(...queuedMessages);
  newlyPast.calls.push(...calls);
  head.calls = [];
  draft.ended = 0;
  head.queuedMessages = [];
  head.unanswered = [];
  head.modelIsNext = !head.isStopped && !calls.some(endsTurn);
}

/**
 * The outcome of an attempt that came after its call had ended with another outcome, or after a later attempt had begun. It changes
 * nothing, and is kept for the person who has to find out what happened.
 */
const lateResult = z.strictObject({
  type: z.literal('late-result'),
  ...always,
  ...placeFields,
  attempt: z.int(),
  outcome: toolCallOutcomeSchema,
});

/** The parts of the tool message for a call that has ended, for the model or its provider. Throws for an open call. */
function makeToolParts(call: ToolCallRecord): ToolModelMessage['content'] {
  const { toolCallId, toolName, outcome, providerApprovalId } = call;
  if (outcome === undefined) throw new TypeError(`Call ${toolCallId} has not ended.`);
  if (providerApprovalId !== undefined) return answerParts(call, outcome, providerApprovalId);
  const output = noteEdit(call, toModelResult(outcome));
  return [{ type: 'tool-result', toolCallId, toolName, output }];
}

/** The answer to a provider's request for approval: approved if the call was forwarded, otherwise not. */
function answerParts(
  { toolCallId, toolName }: ToolCallRecord,
  outcome: ToolCallOutcome,
  approvalId: string,
): ToolModelMessage['content'] {
  const answer = { type: 'tool-approval-response', approvalId, providerExecuted: true } as const;
  if (outcome.status === 'forwarded') return [{ ...answer, approved: true }];
  const reason = pickReason(outcome);
  /*
   * As in the AI SDK, a denied call has a result in addition to the answer. This option makes providers leave it out, as they have the
   * answer.
   */
  const providerOptions = { openai: { approvalId } };
  const output = { type: 'execution-denied', ...reason, providerOptions } as const;
  return [
    { ...answer, approved: false, ...reason },
    { type: 'tool-result', toolCallId, toolName, output },
  ];
}

function pickReason(outcome: Exclude<ToolCallOutcome, { status: 'forwarded' }>): {
  reason?: string;
} {
  switch (outcome.status) {
    case 'failed':
      return { reason: outcome.error };
    case 'denied':
      return outcome.reason === undefined ? {} : { reason: outcome.reason };
    case 'succeeded':
      return {};
  }
}

function toModelResult(outcome: ToolCallOutcome): ToolResultPart['output'] {
  switch (outcome.status) {
    case 'succeeded':
      return outcome.modelOutput ?? makeDefaultOutput(outcome.output);
    case 'failed':
      return outcome.modelOutput ?? { type: 'error-text', value: outcome.error };
    case 'denied':
      return {
        type: 'execution-denied',
        ...(outcome.reason === undefined ? {} : { reason: outcome.reason }),
      };
    case 'forwarded':
      throw new TypeError('Only a call that the provider runs can be forwarded.');
  }
}

/**
 * The output of a call that ran with an edited input, with a note for the model: the message history has the input that it asked for. The
 * note is part of the output and keeps its type, because providers differ in what else they accept.
 */
function noteEdit(
  { edit, input, attempts, outcome }: ToolCallRecord,
  output: ToolResultPart['output'],
): ToolResultPart['output'] {
  if (edit === undefined) return output;
  /* A call that runs elsewhere has no attempts here. If it failed, it may not have begun there. */
  const hasRun = attempts > 0 || outcome?.status === 'succeeded';
  const note = `A person edited the input of this call before approving it. ${hasRun ? 'It ran with' : 'The edited input'}:`;
  const text = `${note} ${JSON.stringify(input)}`;
  switch (output.type) {
    case 'text':
    case 'error-text':
      return { ...output, value: `${text}\n\n${output.value}` };
    case 'json':
    case 'error-json':
      return {
        ...output,
        value: { note, editedInput: jsonValueSchema.parse(input), output: output.value },
      };
    case 'content':
      return { ...output, value: [{ type: 'text', text }, ...output.value] };
    case 'execution-denied':
      return output;
  }
}

/** The AI SDK's conversion of the output of a tool that has no `toModelOutput`. */
function makeDefaultOutput(output: JSONValue): ToolResultPart['output'] {
  return typeof output === 'string'
    ? { type: 'text', value: output }
    : { type: 'json', value: output };
}

export const callSchemas = [
  inputRemade,
  callStarted,
  callDeferred,
  callLost,
  recoveryFailed,
  callAbandoned,
  callEnded,
  lateResult,
] as const;
