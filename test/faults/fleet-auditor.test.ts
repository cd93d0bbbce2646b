import type { ThreadEvent } from 'holdpoint';
import { expect, test } from 'vitest';
import { audit } from './auditor.ts';
import type { Effect, Evidence } from './evidence.ts';
import { fleetScenarios } from './fleet-scenarios.ts';
import { FaultPlan } from './mortal-process.ts';
import { MortalWorld } from './mortal-world.ts';
import { StubbornClient } from './stubborn-client.ts';

/** What is known of a conversation in which an agent has adopted the thread, or whose messages have ids. */
async function soundEvidence(what: 'adopts' | 'hasIds'): Promise<Evidence> {
  const scenario = fleetScenarios.find((each) => each[what] !== undefined);
  if (scenario === undefined) throw new Error('There is no such scenario.');
  const world = new MortalWorld(scenario, new FaultPlan());
  await new StubbornClient(world).converse();
  return world.evidence();
}

type Begun = NonNullable<Effect['begun']>;

/** Evidence whose effects began otherwise. */
function withBegun(evidence: Evidence, change: (begun: Begun) => Begun): Evidence {
  const begin = ({ begun, ...effect }: Effect): Effect =>
    begun === undefined ? effect : { ...effect, begun: change(begun) };
  const { effects, runs = [] } = evidence;
  return { ...evidence, effects: effects.map(begin), runs: runs.map(begin) };
}

/** Evidence in which each event of a type was appended by an agent that had no part in the thread. */
function writtenByOther(evidence: Evidence, type: ThreadEvent['type']): Evidence {
  const { events, authors = [] } = evidence;
  const signed = authors.map((author, index) => (events[index]?.type === type ? 'x' : author));
  return { ...evidence, authors: signed };
}

test.each<[string, 'adopts' | 'hasIds', (evidence: Evidence) => Evidence, RegExp]>([
  [
    'an effect under another key',
    'hasIds',
    (sound) => ({
      ...sound,
      effects: sound.effects.map((effect) => ({ ...effect, idempotencyKey: 'run-1' })),
    }),
    /is not read off the log/,
  ],
  [
    'an effect behind its lease',
    'hasIds',
    (sound) => withBegun(sound, ({ attempt, now }) => ({ attempt, now: now + 10 * 3_600_000 })),
    /began when its lease was over/,
  ],
  [
    'an attempt that the log has not',
    'hasIds',
    (sound) => withBegun(sound, ({ attempt, now }) => ({ attempt: attempt + 1, now })),
    /ran, and had not begun/,
  ],
  [
    'a message that is there twice',
    'hasIds',
    (sound) => ({
      ...sound,
      events: sound.events.flatMap((event): ThreadEvent[] =>
        event.type === 'message-added' ? [event, event] : [event],
      ),
    }),
    /is in the log 2 times/,
  ],
  [
    'an answer that another agent took',
    'adopts',
    (sound) => writtenByOther(sound, 'request-answered'),
    /Agent x appended request-answered/,
  ],
  [
    'an adoption by an agent of another name than it says',
    'adopts',
    (sound) => writtenByOther(sound, 'agent-changed'),
    /Agent x appended agent-changed/,
  ],
])('the auditor tells %s', async (_what, scenario, doctor, sentence) => {
  const sound = await soundEvidence(scenario);
  expect(audit(sound)).toEqual([]);
  expect(audit(doctor(sound))).toContainEqual(expect.stringMatching(sentence));
});

test('a result that the old owner’s run brings after the adoption is a fact, and no fault', async () => {
  const sound = await soundEvidence('adopts');
  expect(audit(writtenByOther(sound, 'call-ended'))).toEqual([]);
});
