import { describe, expect, test } from 'vitest';
import { hasTmux, Tmux } from '../terminal/tmux.ts';
import { World } from './demo-world.ts';

const request = 'Book me a flight to Paris on Friday, under 300';
const selector = ['', '  Use ↑/↓ or j/k to navigate, Enter to select', ''];
const program = `'${process.execPath}' --conditions=holdpoint-source examples/travel-agent/main.ts`;

/** Starts the demo as `npm start` does, on a screen that holds nothing else. */
async function start(tmux: Tmux, world: World): Promise<void> {
  const own = `NO_COLOR=1 HOLDPOINT_DEMO_DIR='${world.folder}' HOLDPOINT_DEMO_AIRLINE_MS=10`;
  await tmux.commandOnClearScreen(`${own} ${program}`);
}

/** The screen from a line on. */
function from(line: string, screen: string): string {
  return screen.slice(screen.lastIndexOf(line));
}

/** The flight in a line of the choice. */
function flightIn(line: string | undefined): { flightId: string; departs: string; price: number } {
  const [, flightId = '', departs = '', price] =
    /(HP\d+) at (\d\d:\d\d), .* (\d+) EUR$/.exec(line ?? '') ?? [];
  return { flightId, departs, price: Number(price) };
}

/** Starts the demo, and types the wish. */
async function startWithAWish(tmux: Tmux, world: World): Promise<void> {
  await start(tmux, world);
  await tmux.reads('You: ▏');
  await tmux.type(request);
  await tmux.press('Enter');
}

describe.skipIf(!hasTmux)('the travel agent in a real terminal (skipped without tmux)', () => {
  test('a flight is picked with arrows, left at the approval, approved later, booked once', async () => {
    await using world = await World.make();
    await using tmux = await Tmux.start({ columns: 80, rows: 50 });
    await startWithAWish(tmux, world);
    const choice = from('Which flight', await tmux.reads('Say something else...')).split('\n');
    expect(choice.slice(0, 4)).toEqual(['Which flight shall I book?', ...selector]);
    expect(choice[4]).toMatch(/^ {2}❯ HP/);

    await tmux.press('Down');
    await tmux.shows(/^ {2}❯ HP/m);
    const picked = flightIn(choice[5]);
    await tmux.shows(`❯ ${picked.flightId}`);
    await tmux.press('Enter');
    const asked = from('May I book', await tmux.reads('Reject with a reason'));
    expect(asked).toContain(`May I book this flight for ${picked.price} EUR?`);
    expect(asked).toContain(`    flightId: "${picked.flightId}"\n    to: "Paris"\n`);
    expect(asked).toContain(`    departs: "${picked.departs}"\n    price: ${picked.price}\n`);
    expect(asked).toContain('    Approve\n  ❯ Reject\n    Reject with a reason');

    await tmux.press('C-c');
    await tmux.shows('A conversation waits for you. Come back with: npm start\n$');
    expect(await tmux.isCursorShown()).toBe(true);
    expect(await world.bookings()).toEqual([]);

    await start(tmux, world);
    await tmux.shows(`Unfinished: ${request}`);
    expect(from('May I book', await tmux.reads('Reject with a reason'))).toBe(asked);
    await tmux.press('Up');
    await tmux.shows('❯ Approve');
    await tmux.press('Enter');
    await tmux.shows(`Agent: Booked: ${picked.flightId} to Paris`);
    await tmux.reads('You: ▏');
    await tmux.press('C-d');
    await tmux.shows('Nothing waits for you. Start again with: npm start\n$');
    expect(await world.bookings()).toMatchObject([{ to: 'Paris', ...picked }]);
  });

  test('Ctrl+C at the choice keeps it, and a typed answer is taken after the restart', async () => {
    await using world = await World.make();
    await using tmux = await Tmux.start({ columns: 80, rows: 50 });
    await startWithAWish(tmux, world);
    const asked = from('Agent: I found', await tmux.reads('Say something else...'));
    await tmux.press('C-c');
    await tmux.shows('A conversation waits for you.');

    await start(tmux, world);
    await tmux.shows(`Unfinished: ${request}`);
    expect(from('Agent: I found', await tmux.reads('Say something else...'))).toBe(asked);
    await tmux.press('End', 'Enter');
    await tmux.shows('Enter your response: ▏');
    await tmux.type('the cheapest one');
    await tmux.press('Enter');
    await tmux.reads('Reject with a reason');
    await tmux.press('3');
    await tmux.shows('❯ Reject with a reason');
    await tmux.press('Enter');
    await tmux.shows('Reason (the agent reads it): ▏');
    await tmux.type('a later one');
    await tmux.press('Enter');
    await tmux.shows(/Agent: I found [^]*after \d\d:\d\d/);
    expect(await world.bookings()).toEqual([]);
  });

  test('its own lines break between words, however narrow the terminal is', async () => {
    await using world = await World.make();
    await using tmux = await Tmux.start({ columns: 40, rows: 60 });
    await start(tmux, world);
    const shown = await tmux.reads('You: ▏');
    expect(shown).toContain('\nSay for example: Book me a flight to\nParis on Friday, under 300\n');
    expect(shown).toContain(
      '\n/new starts a new conversation, /quit or\nCtrl+C leaves; what waits for you is\nkept.\n',
    );
    await tmux.press('C-d');
    await tmux.shows('Nothing waits for you. Start again with:\nnpm start\n$');
  });
});
