import { setImmediate } from 'node:timers/promises';
import { type ApprovalRequest, approve, reject } from 'holdpoint';
import { type AskOptions, askInTerminal, terminalUserInterface } from 'holdpoint/terminal';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { approval, field, question } from './requests.ts';
import { approving, keys, VirtualTerminal } from './virtual-terminal.ts';
import { waitUntil } from '../support/waiting.ts';

const open = 'Reject with a reason';
const tooEarly = /\n {2}Just appeared: that key did not count, wait a moment$/;
const { up, down, enter } = keys;

const pay = (name: string, more: Partial<ApprovalRequest> = {}) =>
  approval({ requestId: name, text: `May I pay ${name}?`, ...more });
const ann = pay('Ann');
const ben = pay('Ben');
const choice = question(field(['A', 'B']), { text: 'Which one?' });
const several = question(field(['A', 'B'], { max: 2 }), { text: 'Which ones?' });
const text = question(field([], { freeText: 'only' }), { text: 'Why?' });
const confirmation = question(field([], { options: [{ id: 'yes', label: 'Yes' }] }), {
  kind: 'confirmation',
  text: 'Shall I?',
});

/** Ada at her terminal, who has just approved the payment to Ann; what comes next has just appeared, and nobody could read it. */
async function afterYes(next: Parameters<typeof askInTerminal>[0], options: AskOptions = {}) {
  const terminal = new VirtualTerminal();
  const { input, output } = terminal;
  const asking = askInTerminal([ann, next].flat(), { input, output, ...options });
  await terminal.shows('May I pay Ann?');
  await terminal.ends(open);
  await terminal.types(...approving);
  await terminal.flashes(/2 of \d[^]*Use |2 of \d[^]*▏/);
  return { terminal, asking };
}

describe('a request that has just appeared', () => {
  test('is not approved by keys that are hit twice (regression: the next payment, within 5 ms)', async () => {
    const terminal = new VirtualTerminal();
    const asking = askInTerminal([ann, ben], terminal);
    await terminal.shows('May I pay Ann?');
    await terminal.ends(open);
    await terminal.hits(up, enter);
    await terminal.flashes(/May I pay Ben\?[^]*Reject with a reason$/);
    await terminal.hits(up, enter);
    expect(terminal.screen).toMatch(tooEarly);
    expect(terminal.screen).toContain('❯ Reject\n');
    await terminal.types(keys.escape);
    expect(await asking).toEqual([approve(ann)]);
  });

  test('is not approved where a terminal sends all of that in one piece', async () => {
    const terminal = new VirtualTerminal();
    const asking = askInTerminal([ann, ben], terminal);
    await terminal.ends(open);
    await terminal.hits(up);
    await terminal.hits(`${enter}${up}${enter}`);
    await terminal.flashes(/May I pay Ben\?[^]*Reject with a reason$/);
    await terminal.hits(up, enter);
    await terminal.types(keys.control('c'));
    expect(await asking).toEqual([approve(ann)]);
  });

  test('is not approved in another call for the same terminal: Ada’s keys are no answer of Ben’s', async () => {
    const terminal = new VirtualTerminal();
    const { input, output } = terminal;
    const asking = askInTerminal(ann, { input, output, person: 'ada@x' });
    const other = askInTerminal(ben, { input, output, person: 'ben@x' });
    await terminal.ends(open);
    await terminal.hits(up, enter);
    expect(await asking).toEqual([approve(ann)]);
    await terminal.flashes(/Answering as ben@x[^]*Reject with a reason$/);
    await terminal.hits(up, enter);
    terminal.passes(600);
    await terminal.hits(up, enter);
    expect(terminal.screen).toMatch(tooEarly);
    await terminal.types(keys.escape);
    expect(await other).toEqual([]);
  });

  test('is not answered by a key that was pressed before it was asked, and comes again', async () => {
    const terminal = new VirtualTerminal();
    const first = askInTerminal(ann, terminal);
    await terminal.ends(open);
    await terminal.hits(enter);
    expect(await first).toEqual([reject(ann)]);
    terminal.passes(450);
    const second = askInTerminal(ben, terminal);
    await terminal.flashes(/May I pay Ben\?[^]*Reject with a reason$/);
    terminal.passes(501);
    await terminal.hits(enter);
    expect(terminal.screen).toMatch(tooEarly);
    await terminal.types(keys.escape);
    expect(await second).toEqual([]);
  });

  test.each([
    ['Enter', [enter]],
    ['Up and Enter', [up, enter]],
    ['Enter, which the terminal sends several at a time', [`${enter}${enter}${enter}`]],
  ])('is not answered by %s, however long it is held', async (_name, held) => {
    const { terminal, asking } = await afterYes(ben);
    for (let passed = 0; passed < 5_000; passed += 33) {
      await terminal.hits(...held);
      terminal.passes(33);
    }
    expect(terminal.screen).toMatch(tooEarly);
    /* The longest delay before a key repeats. */
    terminal.passes(900);
    await terminal.hits(...held);
    await terminal.types(...approving);
    expect(await asking).toEqual([approve(ann), approve(ben)]);
  });

  test('is answered by another key after half a second, and by the same one after a whole one', async () => {
    const { terminal, asking } = await afterYes(ben);
    await terminal.hits(enter, down);
    terminal.passes(490);
    await terminal.hits('j');
    terminal.passes(10);
    await terminal.hits('1');
    expect(terminal.screen).toContain('❯ Approve\n');
    await terminal.hits(down, 'j', enter);
    expect(terminal.screen).toContain('❯ Approve\n');
    expect(terminal.screen).toMatch(tooEarly);
    terminal.passes(1_000);
    await terminal.hits(enter);
    expect(await asking).toEqual([approve(ann), approve(ben)]);
  });

  test('says so until a key counts or the frame is drawn anew', async () => {
    const { terminal, asking } = await afterYes(ben);
    await terminal.hits(up);
    expect(terminal.screen).toMatch(tooEarly);
    terminal.passes(500);
    await terminal.hits('1');
    expect(terminal.screen).not.toMatch(tooEarly);
    await terminal.types(enter);
    expect(await asking).toEqual([approve(ann), approve(ben)]);
  });

  test('is not answered by the end of a line that was being typed when it appeared', async () => {
    const { terminal, asking } = await afterYes(ben);
    await terminal.hits('a', 's');
    terminal.passes(600);
    await terminal.hits('k', enter);
    expect(terminal.screen).toContain('Text is not an answer');
    await terminal.types(keys.escape);
    expect(await asking).toEqual([approve(ann)]);
  });

  test('is not answered by pastes, unknown keys, or a resize', async () => {
    const { terminal, asking } = await afterYes(text);
    await terminal.hits(keys.paste('pasted\r'), '\u001B[<0;10;10M', '\u001B[99~');
    terminal.output.resize({ columns: 70 });
    await terminal.hits('x', enter);
    expect(terminal.screen).toMatch(/Enter your response: ▏/);
    await terminal.types('y', enter);
    expect(await asking).toMatchObject([approve(ann), { answers: [{ text: 'y' }] }]);
  });

  test('takes no key before the terminal has taken its frame, however long that lasts', async () => {
    const terminal = new VirtualTerminal();
    const asking = askInTerminal([ann, ben], terminal);
    await terminal.ends(open);
    await terminal.types(up);
    terminal.output.isStuck = true;
    await terminal.hits(enter);
    for (let turn = 0; turn < 4; turn += 1) await setImmediate();
    terminal.passes(60_000);
    await terminal.hits(up, enter);
    terminal.output.release();
    await terminal.flashes(tooEarly);
    terminal.passes(400);
    await terminal.hits('1');
    expect(terminal.screen).toContain('❯ Reject\n');
    await terminal.types(keys.escape);
    expect(await asking).toEqual([approve(ann)]);
  });

  test.each([1, 2, 3, 5, 10])('says so within %i rows', async (rows) => {
    const terminal = new VirtualTerminal({ rows });
    const asking = askInTerminal(ann, terminal);
    await terminal.flashes(/❯[^]*/);
    await terminal.hits(enter);
    expect(terminal.visible.split('\n').length).toBeLessThanOrEqual(rows);
    expect(terminal.visible.includes('Just appeared')).toBe(rows > 2);
    await terminal.types(keys.escape);
    expect(await asking).toEqual([]);
  });
});

describe('of every kind', () => {
  test.each([
    ['an approval', ben, enter],
    ['a choice', choice, '1'],
    ['several choices', several, '1'],
    ['several choices', several, enter],
    ['a text', text, 'x'],
    ['a confirmation', confirmation, enter],
  ])('%s takes no key at once', async (_name, request, key) => {
    const { terminal, asking } = await afterYes(request);
    const before = terminal.screen;
    await terminal.hits(key);
    expect(terminal.screen.replace(tooEarly, '')).toBe(before);
    expect(terminal.screen).toMatch(tooEarly);
    await terminal.types(keys.control('c'));
    expect((await asking).slice(0, 1)).toEqual([approve(ann)]);
  });

  test('a choice and a line of the app’s own', async () => {
    const terminal = new VirtualTerminal();
    const user = terminalUserInterface(terminal);
    const picking = user.getUserChoice('Which?', ['A', 'B']);
    await terminal.flashes('Say something else...');
    await terminal.hits('1', enter);
    expect(terminal.screen).toMatch(tooEarly);
    await terminal.types('2');
    expect(await picking).toBe('B');
    const line = user.readLine('> ');
    await terminal.flashes(/> ▏[^]*/);
    await terminal.hits(enter);
    expect(terminal.screen).toMatch(tooEarly);
    await terminal.types('n', 'o', 'o', 'n', enter);
    expect(await line).toBe('noon');
  });

  test('letters of a text may come twice, also fast', async () => {
    const { terminal, asking } = await afterYes(text);
    await terminal.hits('o');
    terminal.passes(600);
    await terminal.hits('o', 'o', 'o');
    expect(terminal.screen).toContain('response: ooo▏');
    await terminal.types(enter);
    expect(await asking).toMatchObject([approve(ann), { answers: [{ text: 'ooo' }] }]);
  });

  test('similar requests together, where one was not shown before', async () => {
    const terminal = new VirtualTerminal({ rows: 60 });
    const alike = ['a', 'b'].map((name) => pay(name, { risk: 'low' }));
    const asking = askInTerminal(alike, terminal);
    await terminal.ends(open);
    await terminal.types(down);
    expect(terminal.screen).toContain('❯ See all 2 similar requests');
    await terminal.hits(enter);
    await terminal.flashes('Reject all 2 with a reason');
    await terminal.hits(up, enter);
    expect(terminal.screen).toMatch(tooEarly);
    await terminal.types(keys.left);
    await terminal.flashes(open);
    /* Both have been shown now: neither way leads to something new. */
    await terminal.hits(down);
    expect(terminal.screen).toContain('❯ See all 2 similar requests');
    await terminal.hits(enter);
    await terminal.flashes('Reject all 2 with a reason');
    await terminal.hits(up, enter);
    expect(await asking).toEqual(alike.map((request) => approve(request)));
  });

  test('the later calls that a yes would cover', async () => {
    const request = approval({ remember: { scope: 'thread', match: 'exact' } });
    const terminal = new VirtualTerminal();
    const asking = askInTerminal(request, terminal);
    await terminal.shows(open);
    await terminal.types(up);
    expect(terminal.screen).toContain('❯ Approve, and later calls too');
    await terminal.hits(enter);
    await terminal.flashes(/❯ Approve every [^]*/);
    await terminal.hits(enter);
    expect(terminal.screen).toMatch(tooEarly);
    await terminal.types(keys.left, keys.escape);
    expect(await asking).toEqual([]);
  });

  test('the answers of a form before they are sent; its fields follow each other at once', async () => {
    const labels = ['City', 'Day', 'Hour'];
    const fields = labels.map((label) => field(['One', 'Two'], { key: label, label }));
    const terminal = new VirtualTerminal();
    const asking = askInTerminal(question(fields, { kind: 'form' }), terminal);
    for (const label of labels) {
      await terminal.flashes(/❯ 1\. One[^]*/);
      if (label === 'City') terminal.passes(500);
      await terminal.flashes(new RegExp(`${label} ·[^]*`));
      await terminal.hits(enter);
    }
    await terminal.flashes(/❯ 1\. Send[^]*/);
    await terminal.hits(enter);
    expect(terminal.screen).toMatch(tooEarly);
    await terminal.types(enter);
    expect(await asking).toMatchObject([{ status: 'answered' }]);
  });

  test('coming back to a request from its pages or from a reason is nothing new', async () => {
    const input = { body: 'line\n'.repeat(60) };
    const terminal = new VirtualTerminal();
    const toolCall = { toolCallId: 'c', toolName: 'send', input };
    const asking = askInTerminal(approval({ toolCall }), terminal);
    await terminal.ends(open);
    await terminal.hits('v');
    await terminal.flashes(/Space for more$/);
    await terminal.hits(keys.end, 'v');
    await terminal.flashes(open);
    await terminal.hits(down, enter);
    await terminal.flashes(/Reason[^]*to go back$/);
    await terminal.hits(keys.escape);
    await terminal.flashes(open);
    await terminal.hits(up);
    expect(terminal.screen).toContain('❯ Approve\n');
    await terminal.hits(enter);
    expect(await asking).toMatchObject([{ approved: true }]);
  });
});

describe('leaving what nobody could read', () => {
  test.each([
    ['Ctrl+C', keys.control('c')],
    ['Ctrl+D', keys.control('d')],
  ])('by %s dismisses nothing, says so, and asks nothing more', async (_name, key) => {
    const { terminal, asking } = await afterYes([choice, { ...text, requestId: 'text' }]);
    await terminal.hits(key);
    expect(await asking).toEqual([approve(ann)]);
    expect(terminal.screen).toMatch(/\n {2}✗ Left open: nothing was answered\n$/);
    expect(terminal.screen).not.toContain('Why?');
    expect(terminal.faults()).toEqual([]);
  });

  test('by a Ctrl+C that is still held dismisses only what was read', async () => {
    const terminal = new VirtualTerminal();
    const asking = askInTerminal([choice, { ...text, requestId: 'text' }], terminal);
    await terminal.ends('B');
    await terminal.hits(keys.control('c'));
    await terminal.flashes(/Why\?[^]*▏[^]*/);
    terminal.passes(800);
    await terminal.hits(keys.control('c'));
    expect(await asking).toMatchObject([{ requestId: 'question-1', status: 'dismissed' }]);
  });

  test('by the end of the input dismisses nothing', async () => {
    const { terminal, asking } = await afterYes(choice);
    terminal.input.end();
    expect(await asking).toEqual([approve(ann)]);
  });

  test('cancels a choice of the app’s own', async () => {
    const terminal = new VirtualTerminal();
    const picking = terminalUserInterface(terminal).getUserChoice('Which?', ['A']);
    await terminal.flashes('Say something else...');
    await terminal.hits(keys.control('c'));
    expect(await picking).toBe('cancelled');
  });
});

test.skipIf(process.platform === 'win32')(
  'after Ctrl+Z and fg no key counts at once either',
  async () => {
    const terminal = new VirtualTerminal();
    const before = Object.getOwnPropertyDescriptor(process, 'stdin');
    Object.defineProperty(process, 'stdin', { value: terminal.input, configurable: true });
    onTestFinished(() => {
      if (before !== undefined) Object.defineProperty(process, 'stdin', before);
      vi.restoreAllMocks();
    });
    vi.spyOn(process, 'kill').mockImplementation(() => {
      terminal.output.write('$ fg\n');
      return true;
    });
    const asking = askInTerminal(ann, terminal);
    await terminal.ends(open);
    await terminal.types(keys.control('z'));
    process.emit('SIGCONT', 'SIGCONT');
    await terminal.flashes(/\$ fg[^]*Reject with a reason$/);
    for (let turn = 0; turn < 4; turn += 1) await setImmediate();
    await terminal.hits(up, enter);
    expect(terminal.screen).toMatch(tooEarly);
    await terminal.types(...approving);
    expect(await asking).toEqual([approve(ann)]);
  },
);

describe('where lines answer at a terminal', () => {
  const prompt = /Enter your choice \([^)]*\):$/;

  test('a line that comes at once does not count, and is asked for again', async () => {
    const terminal = new VirtualTerminal();
    terminal.output.isTTY = false;
    const asking = askInTerminal([ann, ben], terminal);
    for (const answer of ['approve\n', '2\n']) {
      for (let times = 0; times < 3; times += 1) {
        await terminal.flashes(prompt);
        terminal.passes(400);
        const { length } = terminal.screen;
        await terminal.hits('approve\n');
        await waitUntil(() => terminal.screen.length > length);
        expect(terminal.screen).toContain('Just appeared: that line did not count');
      }
      await terminal.ends(prompt);
      await terminal.hits(answer);
    }
    expect(await asking).toEqual([approve(ann), reject(ben)]);
  });

  test('the end of the input dismisses no question that nobody could read', async () => {
    const terminal = new VirtualTerminal();
    terminal.output.isTTY = false;
    const asking = askInTerminal(choice, terminal);
    await terminal.flashes(prompt);
    terminal.input.end();
    expect(await asking).toEqual([]);
    expect(terminal.screen).toContain('Left open');
  });
});

describe('the person whose answer is taken', () => {
  test('is named next to the choices of each request, of a group, and of a review', async () => {
    const terminal = new VirtualTerminal({ rows: 60 });
    const { input, output } = terminal;
    const form = question([field(['A'], { key: 'x' }), field(['B'], { key: 'y' })], {
      kind: 'form',
    });
    const alike = ['a', 'b'].map((name) => pay(name, { risk: 'low' }));
    const asking = askInTerminal([...alike, form], { input, output, person: 'ada\u202E@x\n' });
    const named = (next: string) =>
      terminal.shows(`\nAnswering as ada\\u{202e}@x\\u{a}\n\n${next}`);
    await named('  Use');
    await terminal.types(down, enter);
    await terminal.shows('Approve all 2');
    await named('  Use');
    await terminal.types(enter);
    for (const label of ['x · 1/2', 'y · 2/2', '1. Send']) {
      await terminal.shows(label);
      await named('  Use');
      await terminal.types(enter);
    }
    expect(await asking).toHaveLength(3);
  });

  test('is named in a numbered list', async () => {
    const terminal = new VirtualTerminal();
    const { input, output } = terminal;
    output.isTTY = false;
    const asking = askInTerminal(ann, { input, output, person: 'ada@x' });
    await terminal.shows('\nAnswering as ada@x\n\n  1. Approve');
    await terminal.shows('label):');
    await terminal.hits('2\n');
    expect(await asking).toEqual([reject(ann)]);
  });

  test('is not named where the app names nobody', async () => {
    const terminal = new VirtualTerminal();
    const asking = askInTerminal(ann, terminal);
    await terminal.ends(open);
    expect(terminal.screen).not.toContain('Answering as');
    await terminal.types(keys.escape);
    await asking;
  });
});
