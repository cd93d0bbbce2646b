import { type ApprovalRequest, approve, reject } from 'holdpoint';
import { askInTerminal } from 'holdpoint/terminal';
import { describe, expect, test } from 'vitest';
import { book, memoryWorld } from '../support/travel-world.ts';
import { approval } from './requests.ts';
import { keys, VirtualTerminal } from './virtual-terminal.ts';

const now = Date.parse('2026-11-27T13:00:00Z');
const waits = '1 of 2 approvals, waits for another person:';

/** Approves at a terminal of one's own, or is told why nothing is asked. */
async function approvedBy(person: string, requests: readonly ApprovalRequest[]) {
  const terminal = new VirtualTerminal({ rows: 40 });
  const { input, output } = terminal;
  const asking = askInTerminal(requests, { input, output, person });
  await terminal.ends('Reject with a reason');
  await terminal.types(keys.up, keys.enter);
  return { answers: await asking, terminal };
}

test('one approval of two closes with for whom it waits, and the next round of the loop says it instead of ending silently', async () => {
  const world = memoryWorld([{ calls: [book('c1', 'Paris')] }, { text: 'Booked.' }]);
  const agent = world.agent({
    toolApproval: { book: { type: 'user-approval', quorum: 2 } },
    mayAnswer: () => true,
  });
  const thread = await agent.thread('t');
  const { approvalRequests } = await agent.run('Book', thread, { principal: 'eve' });
  const ada = await approvedBy('ada', approvalRequests);
  expect(ada.terminal.screen).toContain(`… With yours ${waits}`);
  const after = await agent.run(ada.answers, thread, { principal: 'ada' });
  const { input, output } = new VirtualTerminal();
  const again = { input, output, person: 'ada' };
  expect(await askInTerminal(after.userInputRequests, again)).toEqual([]);
  expect(output.screen).toContain(`… ${waits}`);
  expect(output.isCursorShown).toBe(true);
  expect(input.isRaw).not.toBe(true);
  const ben = await approvedBy('ben', after.approvalRequests);
  expect(ben.terminal.screen).not.toContain('waits for');
});

test('an edit starts anew: the approvals before it are not counted', async () => {
  const terminal = new VirtualTerminal({ rows: 40 });
  const request = approval({ quorum: 3, editable: ['price'], votes: [{ person: 'ben', at: 1 }] });
  const asking = askInTerminal(request, terminal);
  await terminal.ends('Reject with a reason');
  await terminal.types(keys.up, keys.enter);
  await terminal.shows('What should change?');
  await terminal.types(keys.enter);
  await terminal.shows('price');
  await terminal.types('9', keys.enter);
  await terminal.shows('Approve this instead?');
  await terminal.types(keys.up, keys.enter);
  await asking;
  expect(terminal.screen).toContain('With yours 1 of 3 approvals, waits for 2 other people:');
});

describe('a deadline', () => {
  const request = approval({ expiresAt: now + 2 * 3_600_000 });
  const reader = { now: () => now, timeZone: 'Europe/Paris' };

  test.each([{ linear: false }, { linear: true }])(
    "is shown in the reader's time zone, with how far away it is (%o)",
    async ({ linear }) => {
      const terminal = new VirtualTerminal({ rows: 40 });
      const { input, output } = terminal;
      const asking = askInTerminal(request, { input, output, linear, ...reader });
      await terminal.shows('Until: Fri 27 Nov, 16:00 CET (in 2 h), then it is denied');
      await terminal.types(keys.control('c'));
      if (linear) input.end();
      expect(await asking).toEqual([]);
    },
  );

  test('in a time zone that does not exist is a RangeError before anything is asked', async () => {
    const { input, output } = new VirtualTerminal();
    const asking = askInTerminal(request, { input, output, timeZone: 'Europe/Nowhere' });
    await expect(asking).rejects.toThrow(RangeError);
    expect(output.written).toBe('');
  });
});

describe('the linear mode at a terminal', () => {
  test.each(['', 'y', 'yes', '1', 'approved', 'a'])(
    'does not approve by the line %j, and draws no frame',
    async (line) => {
      const terminal = new VirtualTerminal({ rows: 60 });
      const { input, output } = terminal;
      const asking = askInTerminal(approval(), { input, output, linear: true });
      await terminal.ends(/label\):$/);
      await terminal.types(`${line}\n`);
      if (line === '1') {
        await terminal.ends(/do that:$/);
        await terminal.types('yes\n');
        await terminal.ends(/Not approved: [^]*label\):$/);
      } else await terminal.ends(/Type a number from 1 to 4\.\n[^]*label\):$/);
      await terminal.types('reject\n');
      expect(await asking).toEqual([reject(approval())]);
      // oxlint-disable-next-line no-control-regex
      expect(output.written).not.toMatch(/\u001B\[\??\d*[A-HJKhl]/);
    },
  );

  test('approves by the word approve, after all of it was written', async () => {
    const terminal = new VirtualTerminal({ rows: 5 });
    const { input, output } = terminal;
    const lines = Array.from({ length: 90 }, (_, index) => `line ${index}`);
    const toolCall = { toolCallId: 'c', toolName: 'run', input: { lines } };
    const asking = askInTerminal(approval({ toolCall }), { input, output, linear: true });
    await terminal.ends(/label\):$/);
    expect(lines.filter((line) => !terminal.screen.includes(line))).toEqual([]);
    await terminal.types('approve\n');
    expect(await asking).toEqual([approve(approval({ toolCall }))]);
  });
});

describe('twenty alike requests', () => {
  const payments = Array.from({ length: 20 }, (_, index) =>
    approval({
      requestId: `r${index}`,
      text: 'May I pay?',
      toolCall: {
        toolCallId: `c${index}`,
        toolName: 'pay',
        input: { currency: 'EUR', payee: `Payee ${index}`, amount: index === 13 ? 9_999 : 10 },
      },
    }),
  );

  async function openAll(size: { rows: number; columns?: number }, requests = payments) {
    const terminal = new VirtualTerminal(size);
    const asking = askInTerminal(requests, terminal);
    await terminal.ends('Reject with a reason');
    await terminal.types(keys.down, keys.enter);
    await terminal.shows('20 similar requests');
    return { terminal, asking };
  }

  test('are a table of what differs, with what is the same once', async () => {
    const { terminal, asking } = await openAll({ rows: 60 });
    expect(terminal.screen.split('currency: "EUR"')).toHaveLength(2);
    expect(terminal.screen).toMatch(/^ +payee +amount$/m);
    expect(terminal.screen).toMatch(/^ {2}1\. +"Payee 0" +10$/m);
    expect(terminal.screen).toMatch(/^ {2}14\. +"Payee 13" +9999$/m);
    await terminal.types(keys.up, keys.enter);
    expect(await asking).toEqual(payments.map((request) => approve(request)));
  });

  test('are read to their end before they can be approved together', async () => {
    const { terminal, asking } = await openAll({ rows: 16 });
    expect(terminal.visible).toContain('Approve all 20 (read everything first: v)');
    expect(terminal.visible).not.toContain('Payee 13');
    await terminal.types(keys.control('c'));
    expect(await asking).toEqual([]);
  });

  test.each([
    ['where a row does not fit', { columns: 24 }, 'Payee 19'],
    ['where a value has several lines', {}, 'first'],
  ])('are shown one by one %s', async (_, size, shown) => {
    const [first, ...rest] = payments;
    const toolCall = {
      toolCallId: 'x',
      toolName: 'pay',
      input: { currency: 'EUR', payee: 'first\nsecond', amount: 1 },
    };
    const requests =
      first === undefined || 'columns' in size ? payments : [{ ...first, toolCall }, ...rest];
    const { terminal, asking } = await openAll({ rows: 400, ...size }, requests);
    expect(terminal.screen.split('currency: "EUR"').length).toBeGreaterThan(20);
    expect(terminal.screen).toContain(shown);
    await terminal.types(keys.control('c'));
    expect(await asking).toEqual([]);
  });

  test('are lines with the name of each value in the linear mode', async () => {
    const terminal = new VirtualTerminal({ rows: 400 });
    const { input, output } = terminal;
    const asking = askInTerminal(payments, { input, output, linear: true });
    await terminal.ends(/label\):$/);
    await terminal.types('See all 20 similar requests\n');
    await terminal.shows('14. payee: "Payee 13", amount: 9999');
    await terminal.ends(/label\):$/);
    await terminal.types('1\n');
    await terminal.ends(/do that:$/);
    await terminal.types('approve\n');
    expect(await asking).toHaveLength(20);
  });
});
