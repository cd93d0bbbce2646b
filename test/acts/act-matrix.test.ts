import { expect, test } from 'vitest';
import {
  type ActType,
  actTypes,
  type Channel,
  channels,
  type Do,
  type Driver,
  type Impossible,
  type Pattern,
  type Person,
  principalOf,
  type Story,
} from './acts.ts';
import { drivers } from './drivers.ts';
import { matrix, rows } from './matrix.ts';
import { countEvents, threadOf, type World } from './scenes.ts';
import { pickCases } from '../support/sampling.ts';

/** The log of the agent that people talk to, and that of the agent below it. */
async function readLogs({ below, ...world }: World) {
  const above = (await threadOf(world)).events;
  return { above, ...(below && { below: (await threadOf({ ...world, ...below })).events }) };
}

/** What has been added to logs. */
function findNews(before: Logs, after: Logs) {
  return {
    above: after.above.slice(before.above.length),
    ...(after.below && { below: after.below.slice(before.below?.length) }),
  };
}

type Logs = Awaited<ReturnType<typeof readLogs>>;

/** The event with which somebody's act is recorded. */
function makeExpected(pattern: Pattern, by: Person, channel: string): unknown {
  const principal = by === 'server' ? {} : { principal: principalOf(by) };
  /* A standing approval is of whoever gave the answer, which has the channel. */
  const who =
    pattern.type === 'grant-created'
      ? { grant: expect.objectContaining(principal) }
      : { ...principal, channel };
  return expect.objectContaining({ ...pattern, ...who });
}

async function expectRefused(world: World, way: Do, by: Person, code: string): Promise<void> {
  const before = await countEvents(world);
  expect(await way(world, by), `as ${by}`).toBe(code);
  expect(await countEvents(world), `after ${by}`).toEqual(before);
}

async function play(act: ActType, { channel, open, ways }: Driver, story: Story): Promise<void> {
  const way = ways[act];
  if (way === undefined) throw new Error('The driver has no way to do it.');
  const world = await open(story.scene ?? rows[act].scene);
  for (const [person, code] of listRefused(story)) await expectRefused(world, way, person, code);
  const before = await readLogs(world);
  expect(await way(world, story.by), `as ${story.by}`).toBe(undefined);
  const news = findNews(before, await readLogs(world));
  const pattern = story.logs ?? rows[act].logs;
  const expected = makeExpected(pattern, story.by, story.channel ?? channel);
  const recorded = story.where === undefined ? news : { [story.where]: news[story.where] };
  for (const events of Object.values(recorded)) expect(events).toContainEqual(expected);
  await world.close?.();
}

function listRefused({ refuses }: Story): [person: Person, code: string][] {
  const people: Person[] = ['ada', 'ben', 'cleo', 'eve', 'mallory', 'nobody'];
  return people.flatMap((person) => {
    const code = refuses[person];
    return code === undefined ? [] : [[person, code]];
  });
}

async function force(act: ActType, driver: Driver, { code, scene }: Impossible): Promise<void> {
  expect(driver.ways[act], 'the driver has a way to do it').toBe(undefined);
  if (driver.force === undefined) return;
  const world = await driver.open(scene ?? rows[act].scene);
  const before = await readLogs(world);
  expect(await driver.force(act, world, 'ada')).toBe(code);
  const { above, below = [] } = findNews(before, await readLogs(world));
  const { type } = rows[act].logs;
  expect([...above, ...below].filter((event) => event.type === type)).toEqual([]);
  await world.close?.();
}

/** A story, or why there is none, as a test. */
interface Cell<WHAT> {
  act: ActType;
  channel: Channel;
  what: WHAT;
  sentence: string;
}

const cells = channels.flatMap((channel) =>
  actTypes.map((act) => ({ act, channel, what: matrix[act][channel] })),
);
const stories = cells.flatMap(({ what, ...cell }): Cell<Story>[] => {
  if ('cannot' in what) return [];
  const refused = listRefused(what).map(([person]) => person);
  const sentence = `${what.by} may ${cell.act}, and not ${refused.join(', ')}`;
  return [{ ...cell, what, sentence }];
});
const impossible = cells.flatMap(({ what, ...cell }): Cell<Impossible>[] =>
  'cannot' in what ? [{ ...cell, what, sentence: `nobody may ${cell.act}: ${what.cannot}` }] : [],
);

test.each(pickCases(stories, 28))('through $channel $sentence', async ({ act, channel, what }) =>
  play(act, drivers[channel], what),
);

test.each(pickCases(impossible, 14))('through $channel $sentence', async ({ act, channel, what }) =>
  force(act, drivers[channel], what),
);
