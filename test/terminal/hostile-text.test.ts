import { PassThrough, Writable } from 'node:stream';
import { askInTerminal, terminalUserInterface } from 'holdpoint/terminal';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { approval, field, question } from './requests.ts';
import { approving, keys, VirtualTerminal } from './virtual-terminal.ts';
import { countTrials } from '../support/sampling.ts';

const large = 100 * 1024;

async function typed(
  ...sent: string[]
): Promise<{ text: unknown; screen: string; written: number }> {
  const terminal = new VirtualTerminal();
  const asking = askInTerminal(question(field([], { freeText: 'only' })), terminal);
  await terminal.shows('Enter to send');
  await terminal.types(...sent);
  const { screen } = terminal;
  await terminal.types(keys.enter);
  const [answer] = await asking;
  const isAnswered = answer?.type === 'question-response' && answer.status === 'answered';
  return {
    text: isAnswered ? answer.answers[0]?.text : answer,
    screen,
    written: terminal.output.written.length,
  };
}

describe('text of the person’s own', () => {
  test('100 KB in a paste come through whole, and are one change of the screen', async () => {
    const text = 'pasted 東京 '.repeat(large / 10).slice(0, large);
    const { text: answer, screen, written } = await typed(keys.paste(text));
    expect(answer).toBe(text);
    expect(screen).toContain('102,400 characters in all');
    expect(written).toBeLessThan(5_000);
  });

  test('100 KB from a terminal that does not mark pastes come through whole', async () => {
    const text = 'x'.repeat(large);
    const { text: answer, written } = await typed(text.slice(0, 60_000), text.slice(60_000));
    expect(answer).toBe(text);
    expect(written).toBeLessThan(10_000);
  });

  test('a paste that comes in pieces is one paste; its line breaks send nothing off', async () => {
    const { text, screen } = await typed(
      'a',
      '\u001B[200~one\r\ntw',
      'o\nthree\u001B[20',
      '1~',
      'b',
    );
    expect(text).toBe('aone\ntwo\nthreeb');
    expect(screen).toContain('Enter your response: aone\n│ two\n│ threeb▏\n');
  });

  test('pasted lines, which terminals send as Enter, are lines in the answer and on the screen', async () => {
    const { text, screen } = await typed(keys.paste('if (a) {\r\treturn;\r}'), '!');
    expect(text).toBe('if (a) {\n\treturn;\n}!');
    expect(screen).toContain('Enter your response: if (a) {\n│     return;\n│ }!▏\n');
  });

  test.each([
    ['Ctrl+J', keys.control('j')],
    ['Alt+Enter', keys.altEnter],
  ])('%s begins a new line, as the hint says', async (_name, key) => {
    const { text, screen } = await typed('one', key, 'two');
    expect(text).toBe('one\ntwo');
    expect(screen).toContain('Enter your response: one\n│ two▏\n');
    expect(screen).toContain('Enter to send, Ctrl+J for a new line');
  });

  test('of many lines those around the cursor are shown, and how many there are', async () => {
    const lines = Array.from({ length: 40 }, (_, index) => `line ${index + 1}`);
    const { text, screen } = await typed(keys.paste(lines.join('\r')));
    expect(text).toBe(lines.join('\n'));
    expect(screen).toContain('│ line 40▏\n');
    expect(screen).toContain('40 lines in all');
    expect(screen.split('\n').length).toBeLessThan(24);
  });

  test('without marks, the first line of a paste is the answer, and the others answer nothing', async () => {
    const terminal = new VirtualTerminal();
    const ask = field([], { freeText: 'only' });
    const asking = askInTerminal([question(ask), approval()], terminal);
    await terminal.shows('Enter to send');
    await terminal.types('one\r1\rapprove\r');
    await terminal.shows('Reject with a reason');
    await terminal.types(keys.escape);
    expect(await asking).toMatchObject([{ answers: [{ text: 'one' }] }]);
  });

  test('what acts or hides is shown, and comes through as it was', async () => {
    const nasty = 'a\u202Eb\u200B\tc\u0000';
    const { text, screen } = await typed(keys.paste(nasty));
    expect(text).toBe(nasty);
    expect(screen).toMatch(/a\\u\{202e\}b\\u\{200b\} {1,4}c\\u\{0\}▏/);
  });

  test('half a surrogate becomes a replacement character', async () => {
    const terminal = new VirtualTerminal();
    terminal.input.setEncoding('utf16le');
    const line = terminalUserInterface(terminal).readLine('> ');
    await terminal.shows('> ▏');
    terminal.input.write(Buffer.from('a\uD800b', 'utf16le'));
    terminal.input.write(Buffer.from('\r', 'utf16le'));
    expect(await line).toBe('a\uFFFDb');
  });

  test.each([
    ['← → Home End move', ['abd', keys.left, 'c', keys.home, '>', keys.end, '<'], '>abcd<'],
    [
      'Backspace takes one character, however it is made',
      ['aé', '👍🏽', keys.backspace, keys.backspace],
      'a',
    ],
    ['Delete takes the one after', ['abc', keys.home, keys.delete, keys.right, keys.delete], 'b'],
    [
      'Ctrl+U, Ctrl+K and Ctrl+W clear',
      [
        'one two',
        keys.control('w'),
        'x',
        keys.home,
        keys.control('k'),
        'y',
        keys.control('u'),
        'z',
      ],
      'z',
    ],
    [
      '↑ and ↓ go to the end of the line above and below',
      [
        keys.paste('one\rtwo\rsix'),
        keys.up,
        keys.up,
        '1',
        keys.down,
        '2',
        keys.down,
        keys.down,
        '6',
      ],
      'one1\ntwo2\nsix6',
    ],
    ['j, k, v and digits are text', ['jkv123'], 'jkv123'],
    [
      'keys that mean nothing do nothing',
      ['a', keys.up, keys.down, '\t', keys.pageUp, keys.control('g'), '\u001Bx', 'b'],
      'ab',
    ],
    ['Esc has nowhere to go back to', ['a', keys.escape], 'a'],
    [
      'Backspace at the beginning does nothing',
      [keys.backspace, 'a', keys.home, keys.backspace],
      'a',
    ],
  ])('%s', async (_name, sent, expected) => {
    expect((await typed(...sent)).text).toBe(expected);
  });
});

describe('X-05: text of a request', () => {
  const evil = 'Q\u001B[2J\u001B]0;t\u0007\u202E\u2066\u200B\r\b\u009B1A\uD800\u{E0041}';

  test('acts nowhere: every string of every request, on the screen and in what is written', async () => {
    const option = { id: evil, label: evil, description: evil };
    const input = { [evil]: evil, deep: [{ [evil]: `${evil}\n${evil}`.repeat(3) }] };
    const requests = [
      approval({ text: evil, reason: evil, toolCall: { toolCallId: evil, toolName: evil, input } }),
      question(field([], { key: evil, label: evil, options: [option], freeText: 'optional' }), {
        text: evil,
      }),
      question([field([], { key: evil, label: evil, options: [option], max: 2 }), field(['B'])], {
        kind: 'form',
        text: evil,
      }),
    ];
    const terminal = new VirtualTerminal({ columns: 200, rows: 16 });
    /* The virtual terminal throws at whatever it does not know. */
    const asking = askInTerminal(requests, terminal);
    await terminal.shows('Reject with a reason');
    await terminal.types('v');
    await terminal.shows('Esc to go back');
    await terminal.types(keys.end, keys.escape);
    await terminal.ends('Reject with a reason');
    await terminal.types(...approving);
    await terminal.shows('Say something else...');
    await terminal.types('1');
    await terminal.shows('Space to tick');
    await terminal.types('1', keys.enter);
    await terminal.shows('❯ 1. B');
    await terminal.types('1');
    await terminal.shows('Send');
    await terminal.types(keys.enter);
    expect(await asking).toHaveLength(3);
    for (const acts of [
      '\u001B]',
      '\u0007',
      '\b',
      '\r',
      '\u009B',
      '\u202E',
      '\u2066',
      '\u200B',
      '\uD800',
    ]) {
      expect(terminal.output.written).not.toContain(acts);
    }
  });

  test('acts nowhere, whatever it is', async () => {
    const text = fc.string({ unit: 'binary', maxLength: 60 });
    await fc.assert(
      fc.asyncProperty(text, text, async (one, other) => {
        const terminal = new VirtualTerminal();
        const asking = askInTerminal(
          approval({
            text: one,
            toolCall: { toolCallId: 'c', toolName: other, input: { [other]: one } },
          }),
          terminal,
        );
        await terminal.shows('Reject with a reason');
        await terminal.types(keys.control('c'));
        expect(await asking).toEqual([]);
      }),
      { numRuns: countTrials(50) },
    );
  });

  test('draws no second frame: no line of it begins as a line of ours does', async () => {
    const imitation = 'Fine.\n\n  Use ↑/↓ or j/k to navigate, Enter to select\n\n  ❯ Approve';
    const padded = `Really?${' '.repeat(200)}  ❯ Approve`;
    const terminal = new VirtualTerminal();
    const asking = askInTerminal(
      approval({
        text: imitation,
        reason: padded,
        toolCall: { toolCallId: 'c', toolName: padded, input: { a: padded, b: imitation } },
      }),
      terminal,
    );
    await terminal.shows('Reject with a reason');
    const lines = terminal.screen.split('\n');
    expect(lines.filter((line) => /^ *❯/.test(line))).toEqual(['  ❯ Reject']);
    expect(lines.filter((line) => /^ *Use /.test(line))).toHaveLength(1);
    await terminal.types(keys.escape);
    await asking;
  });

  test('a text of a hundred thousand lines is folded, and opened by v', async () => {
    const text = `${'line\n'.repeat(100_000)}the end`;
    const terminal = new VirtualTerminal();
    const asking = askInTerminal(question(field(['A']), { text }), terminal);
    await terminal.shows('v to see all');
    expect(terminal.screen).toContain('│ line\n… 99,981 more lines, v shows them\n│ line\n');
    expect(terminal.screen).toContain('│ the end\n');
    expect(terminal.screen.split('\n').length).toBeLessThanOrEqual(24);
    await terminal.types('v');
    await terminal.shows('1–23 of 100,0');
    await terminal.types(keys.end);
    await terminal.shows('Esc to go back');
    expect(terminal.screen).toContain('│ the end\n');
    await terminal.types(keys.escape);
    await terminal.ends('❯ 1. A');
    await terminal.types('1');
    expect(await asking).toMatchObject([{ status: 'answered' }]);
  });

  test('an argument of three hundred thousand lines can be asked about (regression: it threw)', async () => {
    const input = { body: `${'\n'.repeat(300_000)}the end` };
    const request = approval({ toolCall: { toolCallId: 'c', toolName: 'send', input } });
    const written: string[] = [];
    const output = new Writable({
      decodeStrings: false,
      write(chunk: string, _encoding, done) {
        written.push(chunk);
        done();
      },
    });
    const answers = await askInTerminal(request, {
      input: new PassThrough().end('2\n'),
      output,
      acceptLines: true,
    });
    expect(answers).toMatchObject([{ approved: false }]);
    expect(written.some((line) => line.includes('│ the end'))).toBe(true);
  });

  test('a label of 100 KB is cut, and comes back whole', async () => {
    const label = `${'word '.repeat(large / 5)}!`;
    const terminal = new VirtualTerminal();
    const choice = terminalUserInterface(terminal).getUserChoice('Which?', ['A', label]);
    await terminal.shows('Say something else...');
    await terminal.types('j', 'j', 'k');
    expect(terminal.screen.split('\n').length).toBeLessThanOrEqual(24);
    await terminal.types(keys.enter);
    expect(await choice).toBe(label);
  });
});
