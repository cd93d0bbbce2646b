import { auditTrail } from 'holdpoint/audit';
import { expect, test } from 'vitest';
import type { Channel, SceneName } from './acts.ts';
import { agentWays } from './agent-driver.ts';
import { drivers } from './drivers.ts';
import { countEvents, openScene, threadOf } from './scenes.ts';

const due: SceneName[] = ['approved', 'stuck', 'lost'];
const stopping: Channel[] = ['agent', 'ui'];

test.each(due.flatMap((scene) => stopping.map((channel) => ({ scene, channel }))))(
  'a stop by Eve where no run holds the thread ($scene) names her, through $channel',
  async ({ scene, channel }) => {
    const driver = drivers[channel];
    const world = await driver.open(scene);
    expect(await driver.ways.stop?.(world, 'eve')).toBe(undefined);
    const thread = await threadOf(world);
    const who = { principal: 'eve', channel: driver.channel };
    expect(thread.events.at(-1)).toMatchObject({ type: 'run-ended', stopped: true, ...who });
    const { rows } = await auditTrail(thread);
    expect(rows.at(-1)).toMatchObject({ what: 'run ended', who: 'eve', channel: driver.channel });
  },
);

test.each(['cancel', 'retract'] as const)(
  "Ada, whom the sub-agent's rules allow to, can't %s in its own thread, past the agent above",
  async (act) => {
    const world = await openScene(act === 'cancel' ? 'asked' : 'unanswered', { isBelow: true });
    const before = await countEvents(world);
    expect(await agentWays[act]({ ...world, ...world.below }, 'ada')).toBe('not-allowed');
    expect(await countEvents(world)).toEqual(before);
  },
);
