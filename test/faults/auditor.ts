import { isDeepStrictEqual } from 'node:util';
import type { ThreadEvent } from 'holdpoint';
import { customFaults } from './audit-custom.ts';
import { fleetFaults } from './audit-fleet.ts';
import { policyFaults } from './audit-policy.ts';
import { promptFaults } from './audit-prompts.ts';
import { toldFaults } from './audit-told.ts';
import { type CallHistory, callHistories, callOf } from './call-histories.ts';
import type { Effect, Evidence } from './evidence.ts';

/**
 * What is wrong with a thread, in sentences; none when all that holdpoint promises was kept. Every test of crashes, races
 * and damage asks this one, whatever it does to the thread.
 */
export function audit(evidence: Evidence): string[] {
  const calls = callHistories(evidence.events);
  const { effects, runs = effects, questions = [] } = evidence;
  return [
    ...calls.flatMap((call) => callFaults(call, evidence)),
    ...calls.flatMap(doubtFaults),
    ...[...new Set([...effects, ...runs])].flatMap((run) =>
      reachFaults(run, 'ran', calls, evidence),
    ),
    ...questions.flatMap((question) => reachFaults(question, 'was asked about', calls, evidence)),
    ...runsBeyondStarts(runs, calls, evidence),
    ...repeatedIds(calls),
    ...repeatedEffects(evidence, calls),
    ...stepFaults(evidence.events, calls),
    ...policyFaults(evidence, calls),
    ...promptFaults(evidence, calls),
    ...lookFaults(evidence),
    ...acknowledgedFaults(evidence),
    ...deliveredFaults(evidence, calls),
    ...toldFaults(evidence, calls),
    ...fleetFaults(evidence, calls),
    ...customFaults(evidence.events),
  ];
}

/** Where the log says that a call began. */
function startsOf({ toolName, started, deferred }: CallHistory, { outside }: Evidence): number[] {
  return outside?.has(toolName) === true ? deferred : started;
}

/** How often the start of a call may be repeated with nobody asked: an idempotent tool's call, its first start included. */
function attemptsOf({ toolName }: CallHistory, { idempotent }: Evidence): number {
  return idempotent?.get(toolName) ?? 1;
}

/*
 * A call starts once; again only when its tool is idempotent, or when a person, who can't tell what became of it, approves it
 * again. A call that needed no approval has its first start free.
 */
function allowedStarts(call: CallHistory, evidence: Evidence): number {
  const free = evidence.gated.has(call.toolName) ? 0 : 1;
  return Math.max(1, call.approved.length + free) + attemptsOf(call, evidence) - 1;
}

/* However often it is started, what is idempotent happens once. */
function allowedEffects(call: CallHistory, evidence: Evidence): number {
  return evidence.idempotent?.has(call.toolName) === true ? 1 : allowedStarts(call, evidence);
}

/** Whether a start came with nobody's word since the one before, and is no attempt that an idempotent tool has left. */
function isUnasked(call: CallHistory, nth: number, evidence: Evidence): boolean {
  const starts = startsOf(call, evidence);
  const [before = 0, at = 0] = [starts[nth - 1], starts[nth]];
  const isAgain = nth > 0 && nth >= attemptsOf(call, evidence);
  return isAgain && !call.approved.some((approval) => before < approval && approval < at);
}

function callFaults(call: CallHistory, evidence: Evidence): string[] {
  const { effects, gated } = evidence;
  const { label, deferred, ended, outcome, source, approved, toolName, approvalId } = call;
  const starts = startsOf(call, evidence);
  const done = effects.filter(({ toolCallId }) => toolCallId === call.toolCallId).length;
  return sentences([
    [
      starts.length > allowedStarts(call, evidence),
      `Call ${label} started ${starts.length} times.`,
    ],
    [
      starts.some((_at, nth) => isUnasked(call, nth, evidence)),
      `Call ${label} started again unasked.`,
    ],
    [done > allowedEffects(call, evidence), `Call ${label} had ${done} effects.`],
    [
      approvalId !== undefined && starts.length + deferred.length > 0,
      `Call ${label} is the provider's, and began here.`,
    ],
    [
      outcome?.status === 'forwarded' && (approvalId === undefined || approved.length === 0),
      `Call ${label} was forwarded without an approval.`,
    ],
    [deferred.length > 1, `Call ${label} was deferred ${deferred.length} times.`],
    [ended.length > 1, `Call ${label} has ${ended.length} results.`],
    [
      gated.has(toolName) && starts.some((at) => !approved.some((approval) => approval < at)),
      `Call ${label} started without an approval before it.`,
    ],
    [outcome?.status === 'denied' && done > 0, `Call ${label} was denied and ran.`],
    [outcome?.status === 'succeeded' && done === 0, `Call ${label} succeeded and did nothing.`],
    [
      source === 'reconciled' && outcome?.status === 'failed' && done > 0,
      `Call ${label} was said to have failed, and it happened.`,
    ],
  ]);
}

/** What is wrong with what the log says of attempts that nobody waited for any more. */
function doubtFaults({ label, started, lost, abandoned, ended, late }: CallHistory): string[] {
  const startsBefore = (revision: number): number => started.filter((at) => at < revision).length;
  const hasEnded = (revision: number): boolean => ended.some((at) => at < revision);
  const isAwaited = (attempt: number, revision: number): boolean =>
    attempt === startsBefore(revision) &&
    !hasEnded(revision) &&
    !abandoned.some((at) => (started[attempt - 1] ?? 0) < at && at < revision);
  return sentences([
    [
      lost.some((at, nth) => startsBefore(at) <= nth || hasEnded(at)),
      `Call ${label} was said to be lost, and nobody was at it.`,
    ],
    [
      late.some(({ at, attempt }) => attempt < 1 || attempt > startsBefore(at)),
      `Call ${label} has a late result of an attempt that never began.`,
    ],
    [
      late.some(({ at, attempt }) => isAwaited(attempt, at)),
      `Call ${label} has a late result that was still awaited.`,
    ],
  ]);
}

/** What is wrong with one time that a tool was reached about a call: to run it, or to say what became of it. */
function reachFaults(
  reached: Effect,
  verb: 'ran' | 'was asked about',
  calls: readonly CallHistory[],
  evidence: Evidence,
): string[] {
  const { toolName, toolCallId, input, revision } = reached;
  const reachedFor = verb === 'ran' ? 'ran for' : verb;
  const call = callOf(reached, calls);
  if (call === undefined) return [`${toolName} ${reachedFor} ${toolCallId}, which is no call.`];
  const { label, approved } = call;
  const isBefore = (at: number): boolean => at <= revision;
  const isGated = evidence.gated.has(toolName);
  return sentences([
    [call.toolName !== toolName, `${toolName} ${reachedFor} call ${label}.`],
    [
      !startsOf(call, evidence).some(isBefore),
      `Call ${label} ${verb} before its start was in the log.`,
    ],
    [
      !isDeepStrictEqual(call.input, input),
      `Call ${label} ${verb} with another input than its own.`,
    ],
    [isGated && !approved.some(isBefore), `Call ${label} ${verb} without an approval.`],
  ]);
}

/** Each run of a call has a start of its own in the log, before it. */
function runsBeyondStarts(
  runs: readonly Effect[],
  calls: readonly CallHistory[],
  evidence: Evidence,
): string[] {
  return [...Map.groupBy(runs, (run) => callOf(run, calls))].flatMap(([call, same]) => {
    if (call === undefined) return [];
    const starts = startsOf(call, evidence);
    /* In the order in which they began: of two attempts the later may be done with its work first. */
    const begun = same.toSorted((one, other) => one.revision - other.revision);
    const beyond = begun.filter(
      ({ revision }, nth) => starts.filter((at) => at <= revision).length <= nth,
    );
    return beyond.map(() => `Call ${call.label} ran more often than it had started by then.`);
  });
}

function repeatedIds(calls: readonly CallHistory[]): string[] {
  const byId = Map.groupBy(calls, ({ toolCallId }) => toolCallId);
  return [...byId]
    .filter(([, same]) => same.length > 1)
    .map(([id, same]) => `${same.length} calls have the id ${id}.`);
}

function repeatedEffects(evidence: Evidence, calls: readonly CallHistory[]): string[] {
  const byKey = Map.groupBy(evidence.effects, ({ idempotencyKey }) => idempotencyKey);
  return [...byKey].flatMap(([key, same]) => {
    const call = calls.find(({ toolCallId }) => toolCallId === same[0]?.toolCallId);
    const allowed = call === undefined ? 1 : allowedEffects(call, evidence);
    return sentences([
      [same.length > allowed, `Key ${key} had ${same.length} effects.`],
      [new Set(same.map(({ toolCallId }) => toolCallId)).size > 1, `Key ${key} has two calls.`],
    ]);
  });
}

function stepFaults(events: readonly ThreadEvent[], calls: readonly CallHistory[]): string[] {
  const steps = [...events.entries()].filter(([, { type }]) => type === 'step-finished');
  return steps.flatMap(([index]) =>
    calls
      .filter(({ proposed, ended }) => proposed <= index && !ended.some((at) => at <= index))
      .map(({ label }) => `The step at ${index + 1} came before the result of call ${label}.`),
  );
}

function lookFaults({ looks = [], events }: Evidence): string[] {
  return [...looks, events].flatMap((later, index, all) => {
    const earlier = all[index - 1] ?? [];
    const changed = earlier.findIndex((event, at) => !isSame(event, later[at]));
    return changed === -1 ? [] : [`Event ${changed + 1} is not what it was before.`];
  });
}

function isSame(one: ThreadEvent, other: ThreadEvent | undefined): boolean {
  return one === other || isDeepStrictEqual(one, other);
}

function acknowledgedFaults({ acknowledged = [], events }: Evidence): string[] {
  const recorded = new Map(
    events.flatMap((event) =>
      event.type === 'request-answered' && event.response.type === 'approval-response'
        ? [[event.response.requestId, event.response.approved]]
        : [],
    ),
  );
  return acknowledged
    .filter(({ requestId, approved }) => recorded.get(requestId) !== approved)
    .map(({ requestId }) => `The answer to ${requestId} was taken and is not in the log.`);
}

function deliveredFaults({ delivered = [] }: Evidence, calls: readonly CallHistory[]): string[] {
  const isRecorded = (toolCallId: string, output: unknown): boolean =>
    calls.some(
      ({ toolCallId: id, outcome }) =>
        id === toolCallId &&
        outcome?.status === 'succeeded' &&
        isDeepStrictEqual(outcome.output, output),
    );
  return delivered
    .filter(({ toolCallId, output }) => !isRecorded(toolCallId, output))
    .map(({ toolCallId }) => `The result of ${toolCallId} was taken and is not in the log.`);
}

/** The sentences whose fault was found. */
function sentences(checks: readonly (readonly [found: boolean, sentence: string])[]): string[] {
  return checks.filter(([found]) => found).map(([, sentence]) => sentence);
}
