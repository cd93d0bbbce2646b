import { approve, createAgent, reject } from 'holdpoint';
import { askInTerminal } from 'holdpoint/terminal';
import { scriptedModel } from 'holdpoint/testing';
import { tool } from 'ai';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { goldenFrames } from './golden-frames.ts';
import { approval } from './requests.ts';
import { approving, keys, rejecting, VirtualTerminal } from './virtual-terminal.ts';

const ready = 'Reject with a reason';
const call = (input: unknown, toolName = 'send') =>
  approval({ toolCall: { toolCallId: 'c', toolName, input } });

/** What comes of keys pressed at one approval. */
async function answers(...sent: string[]) {
  const terminal = new VirtualTerminal();
  const asking = askInTerminal(approval(), terminal);
  await terminal.ends(ready);
  await terminal.types(...sent);
  return asking;
}

describe('an approval', () => {
  test('is shown by what would run: the golden frame', async () => {
    const terminal = new VirtualTerminal();
    const asking = askInTerminal(approval(), terminal);
    await terminal.ends(ready);
    expect(terminal.screen).toBe(goldenFrames.approval);
    await terminal.types(...approving);
    await asking;
    expect(terminal.screen).toContain('    price: 420\n\n  ✓ Approve\n');
  });

  test('Enter alone never approves', async () => {
    expect(await answers(keys.enter)).toEqual([reject(approval())]);
    expect(await answers('\n')).toEqual([reject(approval())]);
  });

  test.each([
    ['its number and Enter', ['1', keys.enter]],
    ['going there', [keys.up, keys.enter]],
    ['going there by k', ['k', keys.enter]],
  ])('is approved by %s', async (_name, sent) => {
    expect(await answers(...sent)).toEqual([approve(approval())]);
  });

  test('a digit alone highlights, and answers nothing (regression: 1 approved)', async () => {
    const terminal = new VirtualTerminal();
    const asking = askInTerminal(approval(), terminal);
    await terminal.ends(ready);
    await terminal.types('1');
    expect(terminal.screen).toContain('  ❯ Approve');
    await terminal.types('3', '9', '0');
    expect(terminal.screen).toContain('  ❯ Reject with a reason');
    await terminal.types('2', keys.enter);
    expect(await asking).toEqual([reject(approval())]);
  });

  test.each([
    ['look at the weather'],
    ['ok'],
    ['ask'],
    ['kill it'],
    ['give me 1'],
    ['flight 11'],
    ['I want 1'],
    ['no thanks, k'],
  ])('a line of text that was meant for something else answers nothing: %s', async (line) => {
    const terminal = new VirtualTerminal();
    const asking = askInTerminal(approval(), terminal);
    await terminal.ends(ready);
    await terminal.types(...line.split(''), keys.backspace, 'k', '1', keys.enter);
    expect(terminal.screen).toContain('  ❯ Reject');
    expect(terminal.screen).toContain('Text is not an answer');
    await terminal.types(keys.escape);
    expect(await asking).toEqual([]);
  });

  test('keys that come in one piece approve nothing: nobody saw what Enter would pick', async () => {
    expect(await answers('1\r', keys.escape)).toEqual([]);
    expect(await answers('k\r', keys.escape)).toEqual([]);
    expect(await answers(`${keys.up}\r`, keys.escape)).toEqual([]);
    expect(await answers('yes\r', keys.escape)).toEqual([]);
  });

  test('a paste approves nothing, whatever it holds', async () => {
    expect(await answers(keys.paste('1\rapprove\r'), keys.escape)).toEqual([]);
  });

  test.each([
    ['Esc', keys.escape],
    ['Ctrl+C', keys.control('c')],
    ['Ctrl+D', keys.control('d')],
  ])('%s leaves it open', async (_name, key) => {
    expect(await answers(key)).toEqual([]);
  });

  test('a rejection tells its reason; Esc goes back from it', async () => {
    const terminal = new VirtualTerminal();
    const asking = askInTerminal(approval(), terminal);
    await terminal.ends(ready);
    await terminal.types('3', keys.enter);
    await terminal.shows('Reason (the agent reads it): ▏');
    await terminal.types('x', keys.escape);
    await terminal.ends(ready);
    expect(terminal.screen).not.toContain('Reason (the agent');
    await terminal.types(keys.down, keys.enter);
    await terminal.shows('Reason (the agent reads it): x▏');
    await terminal.types(keys.backspace, 'too dear', keys.enter);
    expect(await asking).toEqual([reject(approval(), 'too dear')]);
  });

  test('what was typed before it could be read does not answer it', async () => {
    const terminal = new VirtualTerminal();
    terminal.input.write('1\r1\r');
    const asking = askInTerminal([approval(), approval({ requestId: 'second' })], terminal);
    await terminal.ends(ready);
    await terminal.types(keys.escape);
    await terminal.shows('2 of 2');
    await terminal.ends(ready);
    await terminal.types(keys.escape);
    expect(await asking).toEqual([]);
  });

  test('keys that come together answer one request, and not the next', async () => {
    const terminal = new VirtualTerminal();
    const asking = askInTerminal([approval(), approval({ requestId: 'second' })], terminal);
    await terminal.ends(ready);
    await terminal.types(`${keys.escape}[Z\r${keys.up}\r1\r`);
    await terminal.types(`\r${keys.up}\r1\r`);
    await terminal.shows('2 of 2');
    await terminal.ends(ready);
    await terminal.types(keys.control('c'));
    expect(await asking).toMatchObject([{ requestId: 'approval-1', approved: false }]);
  });

  test('without a call it is a text alone', async () => {
    const { toolCall: _none, reason: _no, ...plain } = approval();
    const terminal = new VirtualTerminal();
    const asking = askInTerminal(plain, terminal);
    await terminal.ends(ready);
    expect(terminal.screen).toMatch(/^May I book this flight\?\n\n {2}Use/);
    await terminal.types(...approving);
    expect(await asking).toEqual([approve(plain)]);
  });
});

describe('several', () => {
  const three = ['a', 'b', 'c'].map((requestId) => approval({ requestId }));

  test('are asked one after another, with a count', async () => {
    const terminal = new VirtualTerminal();
    const asking = askInTerminal(three, terminal);
    for (const [count, sent] of [
      ['1 of 3', approving],
      ['2 of 3', [keys.escape]],
      ['3 of 3', rejecting],
    ] as const) {
      await terminal.shows(count);
      await terminal.ends(ready);
      await terminal.types(...sent);
    }
    expect(await asking).toMatchObject([
      { requestId: 'a', approved: true },
      { requestId: 'c', approved: false },
    ]);
  });

  test('asked from two places at once, each is answered by a key of its own (regression: one key approved both)', async () => {
    const terminal = new VirtualTerminal();
    const [one, other] = ['a', 'b'].map((requestId) =>
      askInTerminal(approval({ requestId, text: `May ${requestId} run?` }), terminal),
    );
    await terminal.shows('May a run?');
    await terminal.ends(ready);
    expect(terminal.screen).not.toContain('May b run?');
    await terminal.types(...approving);
    expect(await one).toMatchObject([{ requestId: 'a', approved: true }]);
    await terminal.shows('May b run?');
    await terminal.ends(ready);
    await terminal.types(...rejecting);
    expect(await other).toMatchObject([{ requestId: 'b', approved: false }]);
    expect(terminal.faults()).toEqual([]);
  });

  test('asked from three places: one that is not wanted any more waits no longer, and the last one still does', async () => {
    const terminal = new VirtualTerminal();
    const { input, output } = terminal;
    const unwanted = new AbortController();
    const first = askInTerminal(approval(), terminal);
    const second = askInTerminal(approval(), { input, output, signal: unwanted.signal });
    const last = askInTerminal(approval({ text: 'The last one?' }), terminal);
    await terminal.ends(ready);
    unwanted.abort(new Error('answered elsewhere'));
    await expect(second).rejects.toThrow('answered elsewhere');
    expect(terminal.screen).not.toContain('The last one?');
    await terminal.types(...approving);
    expect(await first).toHaveLength(1);
    await terminal.shows('The last one?');
    await terminal.ends(ready);
    await terminal.types(...approving);
    expect(await last).toHaveLength(1);
    expect(terminal.faults()).toEqual([]);
  });

  test('Ctrl+C leaves this and the others open, and keeps what was answered', async () => {
    const terminal = new VirtualTerminal();
    const asking = askInTerminal(three, terminal);
    await terminal.shows('1 of 3');
    await terminal.ends(ready);
    await terminal.types(...approving);
    await terminal.shows('2 of 3');
    await terminal.ends(ready);
    await terminal.types(keys.control('c'));
    expect(await asking).toMatchObject([{ requestId: 'a', approved: true }]);
    expect(terminal.screen).not.toContain('3 of 3');
  });

  test('none is no question', async () => {
    const terminal = new VirtualTerminal();
    expect(await askInTerminal([], terminal)).toEqual([]);
    expect(terminal.output.written).toBe('');
  });
});

/** The screen with a call on it. */
async function shown(input: unknown, toolName?: string): Promise<string> {
  const terminal = new VirtualTerminal();
  const asking = askInTerminal(call(input, toolName), terminal);
  await terminal.ends(ready);
  const { screen } = terminal;
  await terminal.types(keys.escape);
  await asking;
  return screen;
}

describe('a call', () => {
  test('is shown argument by argument, as JSON says them', async () => {
    const screen = await shown({
      to: 'ann@example.org',
      copies: 1e21,
      urgent: true,
      none: null,
      empty: {},
      list: [1, 'two'],
      passengers: [
        { name: 'Ann Example', seat: '12A', meal: 'vegetarian' },
        { name: 'Bob', seat: '12B' },
      ],
    });
    expect(screen).toContain(`\
  send
    to: "ann@example.org"
    copies: 1e+21
    urgent: true
    none: null
    empty: {}
    list: [1, "two"]
    passengers:
      [0]: {name: "Ann Example", seat: "12A", meal: "vegetarian"}
      [1]: {name: "Bob", seat: "12B"}
`);
  });

  test('lines of a text are lines behind a bar', async () => {
    expect(await shown({ body: 'Dear Ann,\n\n  ❯ Approve\n' })).toContain(`\
    body:
    │ Dear Ann,
    │
    │   ❯ Approve
    │
`);
  });

  test('a quotation mark, a backslash or a strange name can’t pretend to be another argument', async () => {
    const screen = await shown({ 'a: 1, b': '", c: "\\' });
    expect(screen).toContain('    "a: 1, b": "\\", c: \\"\\\\"');
  });

  test('an input that is no object is shown as it is', async () => {
    expect(await shown('text')).toContain('  send\n    "text"\n');
    expect(await shown(undefined, 'a\u001B[2Jb')).toContain('  a\\u{1b}[2Jb\n    undefined\n');
  });
});

test('the answers are what an agent takes, for its own requests and for plain JSON', async () => {
  const booked: string[] = [];
  const book = tool({
    inputSchema: z.object({ city: z.string() }),
    execute: ({ city }) => booked.push(city),
  });
  const calls = ['Paris', 'Rome'].map((city) => ({ id: city, name: 'book', input: { city } }));
  const agent = createAgent({
    model: scriptedModel([{ calls }, { text: 'Done' }]).model,
    tools: { book },
    toolApproval: { book: 'user-approval' },
  });
  const thread = await agent.thread();
  const { userInputRequests } = await agent.run('Book', thread);
  const [first, second] = userInputRequests;
  if (first === undefined || second === undefined) throw new Error('There should be two requests.');
  const terminal = new VirtualTerminal();
  const asking = askInTerminal([first, JSON.parse(JSON.stringify(second))], terminal);
  await terminal.shows('1 of 2');
  await terminal.ends(ready);
  await terminal.types(...approving);
  await terminal.shows('2 of 2');
  await terminal.shows('"Rome"\n\n  Use');
  await terminal.types(...rejecting);
  const response = await agent.run(await asking, thread);
  expect(response.text).toBe('Done');
  expect(booked).toEqual(['Paris']);
});

test('refuses what is not a request before anything is shown', async () => {
  const terminal = new VirtualTerminal();
  const broken = { ...approval(), threadId: '' };
  await expect(askInTerminal(broken, terminal)).rejects.toMatchObject({ code: 'invalid-input' });
  expect(terminal.output.written).toBe('');
});
