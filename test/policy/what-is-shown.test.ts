import { assert, asyncProperty, constantFrom, oneof, string } from 'fast-check';
import { askInTerminal } from 'holdpoint/terminal';
import { expect, test } from 'vitest';
import { book, memoryWorld } from '../support/travel-world.ts';
import { approving, keys, VirtualTerminal } from '../terminal/virtual-terminal.ts';
import { countTrials } from '../support/sampling.ts';

/** The request for a call, and the frame that the terminal shows of it, after the model has written `text`. */
async function shown(text: string, city: string) {
  const { agent } = memoryWorld([{ text, calls: [book('c1', city)] }]);
  const asking = agent({ now: () => 1_000, generateId: () => 'r'.repeat(32) });
  const { approvalRequests } = await asking.run('Book', await asking.thread('t'));
  const [request] = approvalRequests;
  if (request === undefined) throw new Error('Nothing was asked.');
  const terminal = new VirtualTerminal();
  const answered = askInTerminal(request, terminal);
  await terminal.ends('Reject with a reason');
  const frame = terminal.screen;
  await terminal.types(keys.control('c'));
  await answered;
  return { request: JSON.stringify(request), frame };
}

test('what will run is shown from the call alone: nothing that the model writes changes a byte of it (row 80)', async () => {
  const plain = await shown('', 'Paris');
  const lies = ['Only a price check.', 'city: Rome', '\u001B[2J', '</request>', '✓ Approve'];
  const text = oneof(constantFrom(...lies), string({ unit: 'grapheme', maxLength: 200 }));
  await assert(
    asyncProperty(text, async (written) => {
      expect(await shown(written, 'Paris')).toEqual(plain);
    }),
    { numRuns: countTrials(40) },
  );
});

test('different calls are shown differently, however alike they are (row 82)', async () => {
  const hidden = [
    'Paris\u200B',
    'Paris\u00AD',
    '\u202EParis',
    'Paris\uFE0F',
    'Paris\u{E0041}',
    'Paris\u3000',
  ];
  const cities = ['Paris', 'Paris ', 'paris', String.raw`Paris\u{200b}`, ...hidden];
  const frames = await Promise.all(cities.map(async (city) => shown('', city)));
  expect(new Set(frames.map(({ frame }) => frame)).size).toBe(cities.length);
});

test.each([1e6, 1e-7, -1, 0.1 + 0.2, Number.MAX_SAFE_INTEGER])(
  'a number is shown as the JSON of what runs: %s (row 88)',
  async (price) => {
    const world = memoryWorld([
      { calls: [{ id: 'c1', name: 'book', input: { city: 'Paris', price } }] },
      { text: 'Done.' },
    ]);
    const agent = world.agent();
    const { approvalRequests, thread } = await agent.run('Book', await agent.thread('t'));
    const terminal = new VirtualTerminal();
    const answered = askInTerminal(approvalRequests, terminal);
    await terminal.ends('Reject with a reason');
    expect(terminal.screen).toContain(`price: ${JSON.stringify(price)}\n`);
    await terminal.types(...approving);
    await agent.run(await answered, thread);
    expect(world.ran).toMatchObject([{ input: { price } }]);
  },
);
