import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ThreadEvent, ThreadStore } from 'holdpoint';
import { eventsOf } from 'holdpoint/schemas';
import { describe, expect, it } from 'vitest';
import { chained, endOf } from '../support/chained.ts';
import { type Demo, World } from './demo-world.ts';

const request = 'Book me a flight to Paris on Friday, under 300';
/* What may be typed stands behind it. */
const choice = 'Enter your choice (';
const approval = `  4. Decide later\n\n${choice}`;

/** A flight as the choice shows it. */
interface Offer {
  flightId: string;
  departs: string;
  minutes: number;
  price: number;
}

function offersIn(shown: string): Offer[] {
  const lines = shown.matchAll(/ \d\. (HP\d+) at (\d\d:\d\d), (\d+) h (\d+) min, (\d+) EUR/g);
  return [...lines].map(([, flightId = '', departs = '', hours, minutes, price]) => ({
    flightId,
    departs,
    minutes: Number(hours) * 60 + Number(minutes),
    price: Number(price),
  }));
}

/** What an approval shows, from its question on. */
function approvalIn(shown: string): string {
  return shown.slice(shown.lastIndexOf('May I book this flight'));
}

/** The price in an approval, in its question and among the arguments. */
function priceIn(shown: string): number {
  const [, price, argument] = /flight for (\d+) EUR\?[^]* price: (\d+)\n/.exec(shown) ?? [];
  expect(argument).toBe(price);
  return Number(price);
}

/** Types a wish, picks a flight, and is at the approval of its booking. */
async function atApproval(demo: Demo): Promise<string> {
  demo.types(request);
  await demo.shows('Which flight shall I book?');
  return demo.types('1').shows(approval);
}

const leavings: [string, (demo: Demo) => Promise<{ code: number | null; shown: string }>][] = [
  ['the end of the input', (demo) => demo.ends()],
  ['Ctrl+C', (demo) => demo.kill('SIGINT')],
];

describe('the travel agent', () => {
  it('books once what was picked and approved, from a pipe that has ended already', async () => {
    await using world = await World.make();
    const { code, shown, errors } = await world.start().types(request, '2', 'approve').ends();
    expect(shown).toContain('Booked: ');
    expect({ code, errors }).toEqual({ code: 0, errors: '' });
    const [, picked] = offersIn(shown);
    const { flightId, departs, price } = picked ?? {};
    expect(price).toBeLessThanOrEqual(300);
    expect(priceIn(shown)).toBe(price);
    expect(await world.bookings()).toMatchObject([{ to: 'Paris', flightId, departs, price }]);
  });

  it('asks nobody if its input is not a terminal, says so, and keeps the requests open', async () => {
    await using world = await World.make();
    const lines = [request, '1', 'approve', 'y'];
    const { code, shown, errors } = await world
      .start({ acceptsLines: false })
      .types(...lines)
      .ends();
    const text = shown.replaceAll(/\s+/g, ' ');
    expect(text).toMatch(
      /askInTerminal can't ask about request \S+: its input is not a terminal\./,
    );
    expect(text).toContain('A conversation waits for you. Come back with: npm start');
    expect({ code, errors }).toEqual({ code: 0, errors: '' });
    expect(await world.bookings()).toEqual([]);
  });

  it('offers two to four flights', async () => {
    await using world = await World.make();
    const shown = await world.start().types(request).shows(choice);
    expect(offersIn(shown).length).toBeGreaterThanOrEqual(2);
    expect(offersIn(shown).length).toBeLessThanOrEqual(4);
  });

  it.each<[string, (one: Offer, other: Offer) => number]>([
    ['the cheapest one', (one, other) => one.price - other.price],
    ['the fastest please', (one, other) => one.minutes - other.minutes],
  ])('takes %j for a choice', async (typed, order) => {
    await using world = await World.make();
    const demo = world.start().types(request);
    const [best] = offersIn(await demo.shows(choice)).toSorted(order);
    demo.types(typed);
    expect(await demo.shows(approval)).toContain(`flightId: "${best?.flightId}"`);
    await demo.types('approve').shows('Booked: ');
    expect(await world.bookings()).toMatchObject([{ flightId: best?.flightId }]);
  });

  it('searches again for what is typed at the choice', async () => {
    await using world = await World.make();
    const demo = world.start().types(request);
    await demo.shows(choice);
    demo.types('5', 'something in the morning');
    await demo.shows('before 12:00');
    const offers = offersIn(await demo.shows(choice));
    expect(offers.length).toBeGreaterThan(0);
    for (const { departs } of offers) expect(departs < '12:00').toBe(true);
    demo.types(offers[0]?.departs ?? '');
    await demo.shows(approval);
    await demo.types('approve').shows('Booked: ');
    expect(await world.bookings()).toMatchObject([offers[0] && { departs: offers[0].departs }]);
  });

  it('offers others after a rejection with a reason, and books what is approved then', async () => {
    await using world = await World.make();
    const demo = world.start().types(request);
    const [first] = offersIn(await demo.shows(choice)).toSorted((a, b) => b.price - a.price);
    demo.types(first?.flightId ?? '');
    const price = priceIn(await demo.shows(approval));
    demo.types('3', 'too dear');
    const offers = offersIn(await demo.shows('Say something else...'));
    expect(offers.length).toBeGreaterThan(0);
    for (const offer of offers) expect(offer.price).toBeLessThan(price);
    demo.types('1');
    const lower = priceIn(await demo.shows(approval));
    await demo.types('approve').shows('Booked: ');
    expect(await world.bookings()).toMatchObject([{ price: lower }]);
  });

  it('books nothing when a rejection has no reason', async () => {
    await using world = await World.make();
    const demo = world.start();
    await atApproval(demo);
    await demo.types('2').shows('Nothing was booked.');
    expect(await demo.ends()).toMatchObject({ code: 0, errors: '' });
    expect(await world.bookings()).toEqual([]);
  });

  it.each(leavings)('keeps the choice when it is left by %s', async (_, leave) => {
    await using world = await World.make();
    const before = world.start().types(request);
    const asked = await before.shows(choice);
    const { code, shown } = await leave(before);
    expect(code).toBe(0);
    expect(shown).toContain('A conversation waits for you. Come back with: npm start');

    const after = world.start();
    const askedAgain = await after.shows(choice);
    expect(askedAgain).toContain(`Unfinished: ${request}`);
    expect(askedAgain.slice(askedAgain.indexOf('Agent:'))).toBe(
      asked.slice(asked.indexOf('Agent:')),
    );
    await after.types('1').shows(approval);
    await after.types('approve').shows('Booked: ');
    expect((await after.ends()).shown).toContain('Nothing waits for you.');
    expect(await world.bookings()).toHaveLength(1);
  });

  it.each([['deciding later', (demo: Demo) => demo.types('4').ends()] as const, ...leavings])(
    'keeps the approval when it is left by %s, and books once afterwards',
    async (_, leave) => {
      await using world = await World.make();
      const before = world.start();
      const asked = await atApproval(before);
      const { code, shown } = await leave(before);
      expect(code).toBe(0);
      expect(shown).toContain('A conversation waits for you. Come back with: npm start');
      expect(await world.bookings()).toEqual([]);

      const after = world.start();
      expect(approvalIn(await after.shows(approval))).toBe(approvalIn(asked));
      await after.types('approve').shows('Booked: ');
      expect((await after.ends()).shown).toContain('Nothing waits for you.');
      expect(await world.bookings()).toHaveLength(1);
    },
  );

  it('keeps the choice and the approval when it is killed', async () => {
    await using world = await World.make();
    const first = world.start().types(request);
    await first.shows(choice);
    await first.kill('SIGKILL');
    const second = world.start();
    await second.shows(choice);
    const asked = await second.types('1').shows(approval);
    await second.kill('SIGKILL');
    const third = world.start();
    expect(approvalIn(await third.shows(approval))).toBe(approvalIn(asked));
    await third.types('approve').shows('Booked: ');
    await third.ends();
    expect(await world.bookings()).toHaveLength(1);
  });

  it('takes nothing but a clear yes for an approval', async () => {
    await using world = await World.make();
    const demo = world.start();
    await atApproval(demo);
    for (const line of ['', ' ', 'y', 'yes', 'ye', 'ok', 'aa', 'approve?', 'true', 'book it']) {
      await demo.types(line).shows(choice);
    }
    expect((await demo.ends()).shown).toContain('A conversation waits for you.');
    expect(await world.bookings()).toEqual([]);
  });

  it('starts a new conversation beside one that waits, and goes on with the one picked', async () => {
    await using world = await World.make();
    const paris = world.start().types(request);
    await paris.shows(choice);
    await paris.ends();
    const rome = world.start({ wish: ['Fly', 'me to Rome tomorrow'] });
    expect(await rome.shows(choice)).toContain('flights to Rome');
    expect((await rome.ends()).shown).toContain('2 conversations wait for you.');

    const again = world.start();
    expect(await again.shows(choice)).toContain(
      `  1. 1. Fly me to Rome tomorrow\n  2. 2. ${request}\n  3. A new conversation\n`,
    );
    again.types('2');
    expect(await again.shows(choice)).toContain('flights to Paris');
    await again.types('1').shows(approval);
    await again.types('approve').shows('Booked: ');
    expect((await again.ends()).shown).toContain('A conversation waits for you.');
    expect(await world.bookings()).toMatchObject([{ to: 'Paris' }]);
  });

  it('says what was left over by its last wish', async () => {
    await using world = await World.make();
    const before = world.start({ wish: ['To Rome tomorrow'] });
    await before.shows(choice);
    await before.types('never mind').shows('You: ');
    await before.types('To Oslo on Monday').shows(choice);
    await before.ends();
    const after = await world.start().ends();
    expect(after.shown).toContain('Unfinished: To Oslo on Monday\n');
  });

  it.each(['3', 'To Vienna on Monday'])('begins anew from the list by %j', async (picked) => {
    await using world = await World.make();
    for (const wish of ['To Rome tomorrow', 'To Paris tomorrow']) {
      const demo = world.start({ wish: [wish] });
      await demo.shows(choice);
      await demo.ends();
    }
    const again = world.start();
    await again.shows(choice);
    if (picked === '3') await again.types('3').shows('You: ');
    again.types(picked === '3' ? 'To Vienna on Monday' : picked);
    expect(await again.shows(choice)).toContain('flights to Vienna');
  });

  it('asks for what is missing by questions that are kept, and starts over at /new', async () => {
    await using world = await World.make();
    const before = world.start().types('I need a flight');
    await before.shows('Where would you like to fly?');
    await before.shows(choice);
    await before.kill('SIGKILL');
    const demo = world.start();
    await demo.shows('Where would you like to fly?');
    await demo.types('Lisbon').shows('On which day would you like to fly to Lisbon?');
    await demo.shows(choice);
    expect(await demo.types('1').shows(choice)).toContain('flights to Lisbon');
    await demo.types('never mind').shows('Nothing was booked.');
    await demo.types('/new', 'tomorrow').shows('Where would you like to fly?');
    await demo.types('Madrid').shows('flights to Madrid');
    await demo.types('none').shows('Nothing was booked.');
    await demo.shows('You: ');
    demo.types('/quit');
    expect((await demo.ends()).shown).toContain('Nothing waits for you.');
  });

  it('goes on where a run was cut off before the model had answered', async () => {
    await using world = await World.make();
    {
      using store = world.store();
      await crashBeforeTheAnswer(store);
    }
    const demo = world.start();
    expect(await demo.shows(choice)).toContain(`Unfinished: ${request}`);
    await demo.types('1').shows(approval);
    await demo.types('approve').shows('Booked: ');
    expect(await world.bookings()).toHaveLength(1);
  });

  it('shows what was typed without obeying it', async () => {
    await using world = await World.make();
    const demo = world.start().types('Fly me to Rome tomorrow for \u202E\u001B[31mme');
    const { shown } = await demo.ends();
    expect(shown).toContain('\\u{202e}\\u{1b}[31mme');
    const again = await world.start().ends();
    expect(again.shown).toContain('Unfinished: Fly me to Rome tomorrow for \\u{202e}\\u{1b}');
    for (const hidden of ['\u202E', '\u001B']) expect(shown + again.shown).not.toContain(hidden);
  });

  it('lets a booking end that Ctrl+C came into, and tells of it at the next start', async () => {
    await using world = await World.make();
    const before = world.start({ airlineMs: 500 });
    await atApproval(before);
    await before.types('approve').shows('bookFlight …');
    await expect.poll(() => world.bookings()).toHaveLength(1);
    before.signal('SIGINT');
    const { code, shown } = await before.ends();
    expect(code).toBe(0);
    expect(shown).toContain('A conversation waits for you.');
    await world.start().shows('Booked: ');
    expect(await world.bookings()).toHaveLength(1);
  });
});

describe('a booking whose process was killed', () => {
  it('is not run again by itself, and is settled by a person', async () => {
    await using world = await World.make();
    const before = world.start({ airlineMs: 60_000 });
    await atApproval(before);
    await before.types('approve').shows('bookFlight …');
    await expect.poll(() => world.bookings()).toHaveLength(1);
    await before.kill('SIGKILL');
    const after = world.start();
    await after.shows('The last run was interrupted. Recovering it …');
    const [booking] = await world.bookings();
    const asked = await after.shows(choice);
    expect(asked).toContain(
      `${join(world.folder, 'bookings.jsonl')} has a line with its key:\n  ${booking?.idempotencyKey}\n`,
    );
    expect(asked).toContain(`flightId "${booking?.flightId}"`);
    await after.types('2').shows('Its confirmation: ');
    await after.types('ABC123').shows('Your confirmation is ABC123.');
    expect((await after.ends()).shown).toContain('Nothing waits for you.');
    expect(await world.bookings()).toHaveLength(1);
  });

  it('books nothing when it did not happen, after leaving the question first', async () => {
    await using world = await interrupted();
    const left = world.start();
    await left.shows('How did it end?');
    expect((await left.ends()).shown).toContain('A conversation waits for you.');
    const demo = world.start();
    await demo.shows(choice);
    await demo.types('no idea').shows(choice);
    await demo.types('3').shows('That did not work: ');
    await demo.shows('You: ');
    expect((await demo.ends()).shown).toContain('Nothing waits for you.');
    expect(await world.bookings()).toEqual([]);
  });

  it('runs once more when a person says to try it again', async () => {
    await using world = await interrupted();
    const demo = world.start();
    await demo.shows(choice);
    await demo.types('4').shows('Booked: ');
    expect(await world.bookings()).toHaveLength(1);
  });

  it('stays open, and books nothing, when the person picks what is picked at first', async () => {
    await using world = await interrupted();
    const demo = world.start();
    expect(await demo.shows(choice)).toContain(
      '  1. I do not know yet\n  2. It happened\n  3. It did not happen\n  4. Try it again\n',
    );
    expect((await demo.types('1').ends()).shown).toContain('A conversation waits for you.');
    await world.start().shows('How did it end?');
    expect(await world.bookings()).toEqual([]);
  });

  it('did not happen by an empty confirmation', async () => {
    await using world = await interrupted();
    const demo = world.start();
    await demo.shows(choice);
    await demo.types('2').shows('Its confirmation: ');
    await demo.types('').shows('Its confirmation: ');
    await demo.types('  ').shows('Its confirmation: ');
    await demo.types('ABC123').shows('Your confirmation is ABC123.');
  });
});

describe('a folder that cannot be used', () => {
  it.each([
    ['a file is in its place', (folder: string) => folder],
    ['a file is on the way to it', (folder: string) => join(folder, 'inner')],
  ])('is one line and an exit status when %s', async (_, path) => {
    await using world = await World.make();
    const file = join(world.folder, 'file');
    await writeFile(file, '');
    const { code, shown, errors } = await world.start({ folder: path(file) }).ends();
    expect({ code, shown }).toEqual({ code: 1, shown: '' });
    expect(errors).toBe(
      `${path(file)} can't be used: a file is in the way. Set HOLDPOINT_DEMO_DIR to a folder that can be written to.\n`,
    );
  });

  it.each(['threads.sqlite', 'bookings.jsonl'])(
    'is one line and an exit status when %s is none of its files',
    async (name) => {
      await using world = await World.make();
      await mkdir(join(world.folder, name));
      const { code, shown, errors } = await world.start().ends();
      expect({ code, shown }).toEqual({ code: 1, shown: '' });
      expect(errors).toMatch(/^\S+ can't be used: [^\n]+\. Set HOLDPOINT_DEMO_DIR to [^\n]+\n$/);
    },
  );

  it.skipIf(process.getuid?.() === 0)('is one line when nothing may be written', async () => {
    await using world = await World.make();
    await chmod(world.folder, 0o500);
    const { code, errors } = await world.start().ends();
    expect(code).toBe(1);
    expect(errors).toContain(" can't be used: it can't be written to. Set HOLDPOINT_DEMO_DIR");
  });
});

/** A world in which the process ended between the start of a booking and its result. */
async function interrupted(): Promise<World> {
  const world = await World.make();
  const demo = world.start();
  await atApproval(demo);
  await demo.kill('SIGKILL');
  using store = world.store();
  await crashInTheCall(store);
  return world;
}

/** Writes what a run writes that takes a message, and is gone before the model has answered. */
async function crashBeforeTheAnswer(store: ThreadStore): Promise<void> {
  const threadId = 'trip-42';
  const at = Date.now() - 2;
  const leaseUntil = at + 1;
  const entry = chained([
    { type: 'thread-created', at, threadId },
    { type: 'message-added', at, message: { role: 'user', content: request } },
    { type: 'run-started', at, runId: 'run-that-crashed', leaseUntil },
  ]);
  await store.append(threadId, endOf([]), [entry], {
    threadId,
    status: 'running',
    ...endOf([entry]),
    openRequests: 0,
    failures: 0,
    nextDeadline: leaseUntil,
    updatedAt: at,
  });
}

/** Writes what a run writes that approves the one open request, starts the call, and is gone. */
async function crashInTheCall(store: ThreadStore): Promise<void> {
  const [summary] = await store.list({ status: 'waiting' });
  if (summary === undefined) throw new Error('No thread waits.');
  const { threadId } = summary;
  const before = await store.read(threadId);
  const opened = before.flatMap(eventsOf).findLast(({ type }) => type === 'request-opened');
  if (opened?.type !== 'request-opened' || opened.place === undefined)
    throw new Error('No request.');
  const { requestId } = opened.request;
  const { at } = opened;
  const leaseUntil = at + 1;
  const added: ThreadEvent[] = [
    {
      type: 'request-answered',
      at,
      response: { type: 'approval-response', requestId, approved: true },
    },
    { type: 'run-started', at, runId: 'run-that-crashed', leaseUntil },
    { type: 'call-started', at, ...opened.place },
  ];
  const entry = chained(added, endOf(before));
  await store.append(threadId, endOf(before), [entry], {
    ...summary,
    ...endOf([entry]),
    status: 'running',
    openRequests: 0,
    nextDeadline: leaseUntil,
  });
}
