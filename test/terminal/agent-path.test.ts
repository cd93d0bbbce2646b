import { PassThrough, Writable } from 'node:stream';
import { askInTerminal } from 'holdpoint/terminal';
import { expect, test } from 'vitest';
import { AgentOffice, ask, pay } from '../support/agent-office.ts';
import { approval, field, question } from './requests.ts';
import { keys, VirtualTerminal } from './virtual-terminal.ts';

const path = [
  { agent: 'buyer', toolCallId: 'c1', toolName: 'buy' },
  { agent: 'payer', toolCallId: 'c2', toolName: 'payments' },
];

/** The rows above the frame of an approval. */
async function rowsOf(request: object, size?: { columns: number }): Promise<string[]> {
  const terminal = new VirtualTerminal(size);
  const asking = askInTerminal(approval(request), terminal);
  await terminal.ends('Reject with a reason');
  const rows = terminal.screen.split('\n');
  await terminal.types(keys.escape);
  await asking;
  return rows;
}

test('an approval of a sub-agent names each agent on the way to it, in its own row', async () => {
  const rows = await rowsOf({ path, requesters: ['ann'] });
  expect(rows.slice(0, 6)).toEqual([
    'May I book this flight?',
    'Why: A booking costs money.',
    'Asked by: buyer > payer',
    'Asked for by: ann',
    '',
    '  bookFlight',
  ]);
});

test('shows no such row without a path', async () => {
  expect((await rowsOf({})).join('\n')).not.toContain('Asked by');
});

test('names are inert, can not imitate a longer path, and continue in marked rows', async () => {
  const agent = 'buyer > payer\n  pay\u202E';
  const rows = await rowsOf({ path: [{ ...path[0], agent }] });
  expect(rows).toContain('Asked by: "buyer > payer\\u{a}  pay\\u{202e}"');
  const long = await rowsOf({ path: [{ ...path[0], agent: 'a'.repeat(100) }] }, { columns: 40 });
  const from = long.findIndex((row) => row.startsWith('Asked by: a'));
  const shown = long.slice(from, from + 3).join('');
  expect(shown.replaceAll('┊ ', '')).toBe(`Asked by: ${'a'.repeat(100)}`);
});

test('a question says it as well', async () => {
  const terminal = new VirtualTerminal();
  const asking = askInTerminal(question(field(['A']), { path, requesters: ['bob'] }), terminal);
  await terminal.shows('Which one?\nAsked by: buyer > payer\nAsked for by: bob\n');
  await terminal.ends('❯ 1. A');
  await terminal.types(keys.enter);
  expect(await asking).toHaveLength(1);
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
  await askInTerminal(approval({ path }), { input, output, acceptLines: true });
  expect(shown).toContain('Asked by: buyer > payer\n');
});

test('what a sub-agent asks is shown with its own call, and the answer runs that call', async () => {
  const office = new AgentOffice();
  const buyer = office.payer('buyer', [{ calls: [pay('p1', 'Ann')] }, { text: 'Paid.' }]);
  const manager = office.agent(
    'manager',
    [{ calls: [ask('b1', 'buy', 'Do it.')] }, { text: 'Done.' }],
    { tools: { buy: office.tool(buyer) } },
  );
  const thread = await manager.thread('t');
  const { userInputRequests } = await manager.run('Go.', thread);
  const terminal = new VirtualTerminal();
  const asking = askInTerminal(userInputRequests, terminal);
  await terminal.shows('Asked by: buyer\n\n  pay\n    to: "Ann"\n');
  expect(terminal.screen).not.toContain('Do it.');
  await terminal.types('1', keys.enter);
  const response = await manager.run(await asking, thread);
  expect(response).toMatchObject({ status: 'completed', text: 'Done.' });
  expect(office.payments).toMatchObject([{ to: 'Ann' }]);
});
