import { isDeepStrictEqual } from 'node:util';
import type { ThreadEvent } from 'holdpoint';
import { promptFaults } from './audit-prompts.ts';
import { type CallHistory, callHistories, callOf } from './call-histories.ts';
import type { Effect, Evidence } from './evidence.ts';

/**
 * What is wrong with a thread, in sentences; none when all that holdpoint promises was kept. Every test of crashes, races
 * and damage asks this one, whatever it does to the thread.
 */
export function audit(evidence: Evidence): string[] {
  const calls = callHistories(evidence.events);
  return [
    ...calls.flatMap((call) => callFaults(call, evidence)),
    ...evidence.effects.flatMap((effect) => effectFaults(effect, calls, evidence.gated)),
    ...repeatedIds(calls),
    ...repeatedEffects(evidence, calls),
    ...stepFaults(evidence.events, calls),
    ...promptFaults(evidence, calls),
    ...lookFaults(evidence),
    ...acknowledgedFaults(evidence),
  ];
}

/*
 * A call starts once; again only when a person, who can't tell what became of it, approves it again. A call that needed no
 * approval has its first start free.
 */
function allowedStarts({ approved, toolName }: CallHistory, gated: ReadonlySet<string>): number {
  return Math.max(1, approved.length + (gated.has(toolName) ? 0 : 1));
}

function callFaults(call: CallHistory, { effects, gated }: Evidence): string[] {
  const { label, started, ended, outcome, approved, toolName } = call;
  const allowed = allowedStarts(call, gated);
  const done = effects.filter(({ toolCallId }) => toolCallId === call.toolCallId).length;
  return sentences([
    [started.length > allowed, `Call ${label} started ${started.length} times.`],
    [done > allowed, `Call ${label} had ${done} effects.`],
    [ended.length > 1, `Call ${label} has ${ended.length} results.`],
    [
      gated.has(toolName) && started.some((at) => !approved.some((approval) => approval < at)),
      `Call ${label} started without an approval before it.`,
    ],
    [outcome?.status === 'denied' && done > 0, `Call ${label} was denied and ran.`],
    [outcome?.status === 'succeeded' && done === 0, `Call ${label} succeeded and did nothing.`],
  ]);
}

function effectFaults(
  effect: Effect,
  calls: readonly CallHistory[],
  gated: ReadonlySet<string>,
): string[] {
  const { toolName, toolCallId, input, revision } = effect;
  const call = callOf(effect, calls);
  if (call === undefined) return [`${toolName} ran for ${toolCallId}, which is no call.`];
  const { label, started, approved } = call;
  const isBefore = (at: number): boolean => at <= revision;
  return sentences([
    [call.toolName !== toolName, `${toolName} ran for call ${label}.`],
    [!started.some(isBefore), `Call ${label} ran before its start was in the log.`],
    [!isDeepStrictEqual(call.input, input), `Call ${label} ran with another input than its own.`],
    [gated.has(toolName) && !approved.some(isBefore), `Call ${label} ran without an approval.`],
  ]);
}

function repeatedIds(calls: readonly CallHistory[]): string[] {
  const byId = Map.groupBy(calls, ({ toolCallId }) => toolCallId);
  return [...byId]
    .filter(([, same]) => same.length > 1)
    .map(([id, same]) => `${same.length} calls have the id ${id}.`);
}

function repeatedEffects({ effects, gated }: Evidence, calls: readonly CallHistory[]): string[] {
  const byKey = Map.groupBy(effects, ({ idempotencyKey }) => idempotencyKey);
  return [...byKey].flatMap(([key, same]) => {
    const call = calls.find(({ toolCallId }) => toolCallId === same[0]?.toolCallId);
    const allowed = call === undefined ? 1 : allowedStarts(call, gated);
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

/** The sentences whose fault was found. */
function sentences(checks: readonly (readonly [found: boolean, sentence: string])[]): string[] {
  return checks.filter(([found]) => found).map(([, sentence]) => sentence);
}
