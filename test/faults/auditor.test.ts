import { describe, expect, test } from 'vitest';
import { audit } from './auditor.ts';
import type { Evidence } from './evidence.ts';
import { FaultPlan } from './mortal-process.ts';
import { MortalWorld } from './mortal-world.ts';
import { scenarios } from './scenario.ts';
import { StubbornClient } from './stubborn-client.ts';

async function soundEvidence(): Promise<Evidence> {
  const [scenario] = scenarios;
  if (scenario === undefined) throw new Error('There is no scenario.');
  const world = new MortalWorld(scenario, new FaultPlan());
  await new StubbornClient(world).converse();
  return world.evidence();
}

/** Evidence with the events of a log changed one by one; `undefined` leaves one out. */
function withEvents(
  evidence: Evidence,
  change: (event: Evidence['events'][number]) => Evidence['events'],
): Evidence {
  return { ...evidence, events: evidence.events.flatMap((event) => [...change(event)]) };
}

describe('the auditor tells', () => {
  test.each<[string, (evidence: Evidence) => Evidence, RegExp]>([
    [
      'an effect of no call',
      (sound) => ({
        ...sound,
        effects: sound.effects.map((effect) => ({ ...effect, toolCallId: 'other' })),
      }),
      /which is no call/,
    ],
    [
      'an effect with another input',
      (sound) => ({
        ...sound,
        effects: sound.effects.map((effect) => ({ ...effect, input: { city: 'Oslo' } })),
      }),
      /another input/,
    ],
    [
      'an effect of another tool',
      (sound) => ({
        ...sound,
        effects: sound.effects.map((effect) => ({ ...effect, toolName: 'look' })),
      }),
      /look ran for call book/,
    ],
    ['a success without effect', (sound) => ({ ...sound, effects: [] }), /did nothing/],
    [
      'two results of a call',
      (sound) =>
        withEvents(sound, (event) => (event.type === 'call-ended' ? [event, event] : [event])),
      /has 2 results/,
    ],
    [
      'a late result of a call that nobody has ended',
      (sound) =>
        withEvents(sound, (event) => {
          if (event.type !== 'call-ended') return [event];
          const { at, step, index, outcome } = event;
          return [{ type: 'late-result', at, step, index, attempt: 1, outcome }, event];
        }),
      /was still awaited/,
    ],
    [
      'a late result of a second attempt where there was one',
      (sound) =>
        withEvents(sound, (event) => {
          if (event.type !== 'call-ended') return [event];
          const { at, step, index, outcome } = event;
          return [event, { type: 'late-result', at, step, index, attempt: 2, outcome }];
        }),
      /attempt that never began/,
    ],
    [
      'a call that was lost before it was started',
      (sound) =>
        withEvents(sound, (event) => {
          if (event.type !== 'call-started') return [event];
          const { at, step, index } = event;
          return [{ type: 'call-lost', at, step, index }, event];
        }),
      /nobody was at it/,
    ],
    [
      'a denied call that ran',
      (sound) =>
        withEvents(sound, (event) =>
          event.type === 'call-ended' ? [{ ...event, outcome: { status: 'denied' } }] : [event],
        ),
      /was denied and ran/,
    ],
    [
      'a log that changed under the reader',
      (sound) => ({ ...sound, looks: [sound.events.slice(1)] }),
      /Event 1 is not what it was/,
    ],
    [
      'a log that became shorter',
      (sound) => ({ ...sound, looks: [sound.events], events: sound.events.slice(0, -1) }),
      /is not what it was/,
    ],
    [
      'a prompt whose call has no result',
      (sound) => ({
        ...sound,
        prompts: sound.prompts.map(({ prompt, revision }) => ({
          prompt: Array.isArray(prompt) ? prompt.filter(({ role }) => role !== 'tool') : prompt,
          revision,
        })),
      }),
      /calls that have no result/,
    ],
    [
      'a prompt that was too early',
      (sound) => ({
        ...sound,
        prompts: sound.prompts.map(({ prompt, revision }) => ({ prompt, revision: revision - 3 })),
      }),
      /not in the log yet/,
    ],
    [
      'a prompt with approval content',
      (sound) => ({
        ...sound,
        prompts: [
          { prompt: [{ role: 'user', content: [{ type: 'approval-response' }] }], revision: 1 },
        ],
      }),
      /holds approval content/,
    ],
  ])('%s', async (_what, doctor, sentence) => {
    const sound = await soundEvidence();
    expect(audit(sound)).toEqual([]);
    expect(audit(doctor(sound))).toContainEqual(expect.stringMatching(sentence));
  });
});
