import { PassThrough, Writable } from 'node:stream';
import { askInTerminal } from 'holdpoint/terminal';
import { expect, test } from 'vitest';
import { approval, field, question } from './requests.ts';
import { keys, VirtualTerminal } from './virtual-terminal.ts';

/** The rows above the frame, where somebody with this principal asked for an approval. */
async function rowsOf(requester: unknown, size?: { columns: number }): Promise<string[]> {
  const terminal = new VirtualTerminal(size);
  const asking = askInTerminal(approval({ requesters: [requester] }), terminal);
  await terminal.ends('Reject with a reason');
  const rows = terminal.screen.split('\n');
  await terminal.types(keys.escape);
  await asking;
  return rows;
}

test('an approval says who asked for it, in a row of its own under the request', async () => {
  expect((await rowsOf('ann')).slice(0, 5)).toEqual([
    'May I book this flight?',
    'Why: A booking costs money.',
    'Asked for by: ann',
    '',
    '  bookFlight',
  ]);
});

test.each([
  ['its name and id', { id: 'u1', email: 'ann@example.com', name: 'Ann' }, 'Ann (u1)'],
  ['its name and a number', { id: 7, name: 'Ann' }, 'Ann (7)'],
  ['its name and email', { email: 'ann@example.com', name: 'Ann' }, 'Ann (ann@example.com)'],
  ['its name, where that is all', { name: 'Ann' }, 'Ann'],
  ['a quoted name, which can’t look like an id', { id: 'u2', name: 'Ann (u1)' }, '"Ann (u1)" (u2)'],
  ['a quoted name, alone', { name: 'Ann\uFF08u1\uFF09' }, '"Ann\uFF08u1\uFF09"'],
  ['its email and id', { id: 'u1', email: 'ann@example.com' }, 'ann@example.com (u1)'],
  ['its id', { roles: ['buyer'], id: 'u1', subject: 'auth0|1' }, 'u1'],
  ['its subject', { id: 7, subject: 'oidc-1' }, 'oidc-1'],
  ['what it is, where a name is blank', { name: ' ', id: 'u1' }, 'u1'],
  ['JSON, where nothing in it is a name', { tenant: 3 }, '{"tenant":3}'],
  ['JSON, where it is no object', 42, '42'],
  ['JSON, where it is a list', ['ann', 'bob'], '["ann","bob"]'],
])('a principal is shown by %s', async (_how, principal, shown) => {
  expect(await rowsOf(principal)).toContain(`Asked for by: ${shown}`);
});

test.each([undefined, null])(
  'where the app has named nobody (%s), nothing is said',
  async (nobody) => {
    expect((await rowsOf(nobody)).join('\n')).not.toContain('Asked for');
  },
);

test('a name that a user chose is inert, and stays in its row', async () => {
  const rows = await rowsOf('ann\n  bookFlight\u001B[2J\u202E');
  expect(rows).toContain('Asked for by: ann\\u{a}  bookFlight\\u{1b}[2J\\u{202e}');
});

test('a name that is too long for its row goes on in the next ones, marked as what goes on', async () => {
  const name = 'a'.repeat(100);
  const rows = await rowsOf(name, { columns: 40 });
  const from = rows.findIndex((row) => row.startsWith('Asked for by: a'));
  expect(
    rows
      .slice(from, from + 3)
      .join('')
      .replaceAll('┊ ', ''),
  ).toBe(`Asked for by: ${name}`);
});

test('a question says it as well, a form above its first field alone', async () => {
  const terminal = new VirtualTerminal();
  const fields = [
    field(['Paris'], { key: 'city', label: 'City' }),
    field(['Friday'], { key: 'day', label: 'Day' }),
  ];
  const form = question(fields, { kind: 'form', text: 'Where to?', requesters: [{ name: 'Ann' }] });
  const asking = askInTerminal([question(field(['A']), { requesters: ['bob'] }), form], terminal);
  await terminal.shows('Which one?\nAsked for by: bob\n');
  await terminal.ends('❯ 1. A');
  await terminal.types(keys.enter);
  await terminal.shows('City · 1/2\nAsked for by: Ann\n');
  await terminal.ends('❯ 1. Paris');
  await terminal.types(keys.enter);
  await terminal.shows('Day · 2/2\n\n');
  await terminal.ends('❯ 1. Friday');
  await terminal.types(keys.enter);
  await terminal.shows('❯ 1. Send');
  await terminal.types(keys.enter);
  expect(await asking).toHaveLength(2);
});

test('a numbered list says it in full', async () => {
  let shown = '';
  const output = new Writable({
    write(chunk, _encoding, done) {
      shown += String(chunk);
      done();
    },
  });
  const input = new PassThrough();
  input.end('2\n');
  const requester = { tenant: 'x'.repeat(500) };
  await askInTerminal(approval({ requesters: [requester] }), { input, output, acceptLines: true });
  expect(shown).toContain(`Asked for by: ${JSON.stringify(requester)}\n`);
});

test('an approval names words that mix letters which look alike, under who asked for it', async () => {
  expect((await rowsOf('\u0430nn')).slice(2, 5)).toEqual([
    'Asked for by: \u0430nn',
    '"\u0430nn" mixes Latin and Cyrillic letters',
    '',
  ]);
});
