import type { LogEntry } from 'holdpoint';
import { expect, test } from 'vitest';
import { fleetFaults, keyOf } from './audit-fleet.ts';
import { callHistories } from './call-histories.ts';
import type { Evidence } from './evidence.ts';
import { FaultPlan } from './mortal-process.ts';
import { type LogCopy, MortalWorld, type StoreView } from './mortal-world.ts';
import { recoveryScenarios } from './recovery-scenarios.ts';
import { type Scenario, scenarios } from './scenario.ts';
import { StubbornClient } from './stubborn-client.ts';

/* What goes on outside has left one of the two worlds alone with it. */
const all = [...scenarios, ...recoveryScenarios].filter(({ defers }) => defers === undefined);

/** A store that copies its log after each append. */
function copying(copies: LogCopy[]): StoreView {
  let entries: readonly LogEntry[] = [];
  return (store) => ({
    ...store,
    async append(...input) {
      await store.append(...input);
      const [, , appended, summary] = input;
      entries = [...entries, ...appended];
      copies.push({ entries, summary });
    },
  });
}

async function continued(scenario: Scenario, copy: LogCopy): Promise<Evidence> {
  const world = new MortalWorld(scenario, new FaultPlan());
  await world.copy(copy);
  await new StubbornClient(world).converse();
  return world.evidence();
}

/** For each call that had effects, by its key: in which entry of which log it was proposed, and where. */
function proposalsOf({ events, entries = [], effects }: Evidence): Map<string, string> {
  const calls = callHistories(events);
  return new Map(
    effects.map(({ toolCallId, idempotencyKey }) => {
      const call = calls.find((each) => each.toolCallId === toolCallId);
      const proposal = call && keyOf(call, entries);
      return [idempotencyKey, proposal ?? 'no call'];
    }),
  );
}

function keysOf({ effects }: Evidence, id: string): string[] {
  return effects.flatMap(({ toolCallId, idempotencyKey }) =>
    toolCallId === id ? idempotencyKey : [],
  );
}

/** The keys that had effects in both. */
function keysInBoth(one: Evidence, other: Evidence): string[] {
  const known = proposalsOf(one);
  return [...proposalsOf(other).keys()].filter((key) => known.has(key));
}

/** What is wrong with the keys of two copies of a thread that both went on from there. */
function keyFaults(one: Evidence, other: Evidence, revision: number): string[] {
  const [ours, theirs] = [one, other].map(({ events }) => callHistories(events));
  const proposals = [one, other].map(proposalsOf);
  const moved = keysInBoth(one, other)
    .filter((key) => proposals[0]?.get(key) !== proposals[1]?.get(key))
    .map((key) => `Key ${key} is of two proposals.`);
  const wrong = (ours ?? []).flatMap((call) => {
    const { toolCallId: id, proposed, label } = call;
    const keys = keysOf(one, id);
    const others = keysOf(other, id);
    const isInBoth =
      proposed <= revision && theirs?.some(({ toolCallId }) => toolCallId === id) === true;
    if (isInBoth && new Set([...keys, ...others]).size > 1) return [`Call ${label} has two keys.`];
    const isShared = proposed > revision && keys.some((key) => others.includes(key));
    return isShared ? [`Two calls in the place of ${label} have one key.`] : [];
  });
  return [...moved, ...wrong];
}

let doubled = 0;

test.each(all)(
  'a thread that is copied at any point and goes on twice: $name',
  async (scenario) => {
    const copies: LogCopy[] = [];
    const world = new MortalWorld(scenario, new FaultPlan(), copying(copies));
    await new StubbornClient(world).converse();
    const original = await world.evidence();
    const broken: Record<string, string[]> = {};
    for (const copy of copies) {
      const { revision } = copy.summary;
      const evidence = await continued(scenario, copy);
      const faults = [
        ...keyFaults(original, evidence, revision),
        ...fleetFaults(evidence, callHistories(evidence.events)),
      ];
      if (faults.length > 0) broken[`a copy at revision ${revision}`] = faults;
      doubled += keysInBoth(original, evidence).length;
    }
    expect(copies.length).toBeGreaterThan(3);
    expect(broken).toEqual({});
  },
);

test('and calls did happen in both copies', () => {
  expect(doubled).toBeGreaterThan(30);
});
