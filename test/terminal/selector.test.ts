import { terminalUserInterface } from 'holdpoint/terminal';
import { describe, expect, test } from 'vitest';
import { goldenFrames } from './golden-frames.ts';
import { refactoring } from './requests.ts';
import { keys, VirtualTerminal } from './virtual-terminal.ts';

const hint = 'Enter to select';
const highlighted = (screen: string): string =>
  screen
    .split('\n')
    .find((line) => line.startsWith('  ❯ '))
    ?.slice(4) ?? '';

/** A person before the selector: what they see, and what comes of it. */
class Asked {
  readonly terminal: VirtualTerminal;
  readonly choice: Promise<string>;

  constructor(
    options: string[] = refactoring.options,
    {
      question = refactoring.question,
      ...size
    }: { question?: string; columns?: number; rows?: number } = {},
  ) {
    this.terminal = new VirtualTerminal(size);
    this.choice = terminalUserInterface(this.terminal).getUserChoice(question, options);
  }

  async types(...sent: string[]): Promise<this> {
    await this.terminal.shows(hint);
    await this.terminal.types(...sent);
    return this;
  }

  get screen(): string {
    return this.terminal.screen;
  }
}

async function choice(sent: string[], options?: string[]): Promise<string> {
  const asked = await new Asked(options).types(...sent);
  return asked.choice;
}

describe('the selector of seed 004', () => {
  test('S4-02, S4-03, S4-11, S4-12, S4-13, S4-19: the frame is the one of the seed', async () => {
    const asked = await new Asked().types();
    expect(asked.screen).toBe(goldenFrames.selector);
    await asked.types(keys.down);
    expect(asked.screen).toBe(goldenFrames.selectorMovedDown);
    await asked.types(keys.control('c'));
    await asked.choice;
  });

  test.each([
    ['S4-14, S4-04: ↑ moves up', [keys.down, keys.down, keys.up], 'Show me a diff first'],
    ['S4-14, S4-04: k moves up', ['j', 'j', 'k'], 'Show me a diff first'],
    ['S4-15, S4-04: ↓ moves down', [keys.down], 'Show me a diff first'],
    ['S4-15, S4-04: j moves down', ['j'], 'Show me a diff first'],
    ['O4-01: ↑ on the first goes to the last', [keys.up], 'Say something else...'],
    ['O4-01: j on the last goes to the first', ['j', 'j', 'j', 'j', 'j'], 'Apply the changes now'],
    ['O4-02: a digit beyond the entries does nothing', ['6', '9', '0'], 'Apply the changes now'],
    ['O4-03: Esc and q do nothing', ['j', keys.escape, 'q'], 'Show me a diff first'],
    [
      'keys that mean nothing do nothing',
      ['x', ' ', '\t', keys.left, keys.right],
      'Apply the changes now',
    ],
    [
      'an alias another package gave a key does nothing',
      ['h', 'l', 'y', 'n'],
      'Apply the changes now',
    ],
    ['a paste presses no key', [keys.paste('jj1\r')], 'Apply the changes now'],
    ['two keys that come together are two keys', ['jj'], 'Create a separate branch'],
    [
      'End goes to the last, Home to the first',
      [keys.end, keys.home, keys.down],
      'Show me a diff first',
    ],
  ])('%s', async (_name, sent, expected) => {
    const asked = await new Asked().types(...sent);
    expect(highlighted(asked.screen)).toBe(expected);
    await asked.types(keys.control('c'));
    await asked.choice;
  });

  test.each([
    [
      'S4-16, S4-28, S4-29: Enter selects the highlighted',
      ['j', keys.enter],
      'Show me a diff first',
    ],
    ['S4-05, S4-17, O4-02: a digit picks and submits at once', ['3'], 'Create a separate branch'],
    ['S4-18, S4-31: Ctrl+C gives cancelled', [keys.control('c')], 'cancelled'],
    ['Ctrl+D gives cancelled', [keys.control('d')], 'cancelled'],
  ])('%s', async (_name, sent, expected) => {
    expect(await choice(sent)).toBe(expected);
  });

  test('S4-06, S4-20, S4-21, S4-30, O4-05: the last entry takes text', async () => {
    const asked = await new Asked().types(keys.up, keys.enter, 'with tests');
    expect(asked.screen).toBe(goldenFrames.text);
    await asked.terminal.types(keys.enter);
    expect(await asked.choice).toBe('with tests');
  });

  test('O4-02: the digit after the last option opens the text', async () => {
    const asked = await new Asked().types('5');
    expect(asked.screen).toContain('Enter your response: ▏');
    await asked.terminal.types('x', keys.enter);
    expect(await asked.choice).toBe('x');
  });

  test('Esc goes back from the text, where the last entry is highlighted', async () => {
    const asked = await new Asked().types('5', 'abc', keys.escape);
    await asked.terminal.shows(hint);
    expect(highlighted(asked.screen)).toBe('Say something else...');
    await asked.types('1');
    expect(await asked.choice).toBe('Apply the changes now');
  });

  test('Z4-7: an empty text is asked again', async () => {
    const asked = await new Asked().types('5', keys.enter, ' ', keys.enter);
    expect(asked.screen).toContain('Type something');
    await asked.terminal.types('x', keys.enter);
    expect(await asked.choice).toBe(' x');
  });

  test('Z4-6: Ctrl+C in the text cancels', async () => {
    expect(await choice(['5', 'abc', keys.control('c')])).toBe('cancelled');
  });

  test('Z4-2, O4-04: an option that reads like the last entry is an option', async () => {
    const options = ['Say something else...', 'cancelled'];
    expect(await choice(['1'], options)).toBe('Say something else...');
    expect(await choice(['j', keys.enter], options)).toBe('cancelled');
    const asked = await new Asked(options).types('3', 'cancelled', keys.enter);
    expect(await asked.choice).toBe('cancelled');
  });

  test('Z4-8: what is hidden is shown, and the option comes back as it was', async () => {
    const nasty = 'a\u001B[2Jb\u202Ec\r\u0007';
    const asked = await new Asked([nasty], { question: `Q\u001B]0;title\u0007` }).types();
    expect(asked.screen).toContain('  ❯ a\\u{1b}[2Jb\\u{202e}c\\u{d}\\u{7}');
    expect(asked.screen).toContain('Q\\u{1b}]0;title\\u{7}');
    await asked.types('1');
    expect(await asked.choice).toBe(nasty);
  });

  test('one line says that it was cancelled', async () => {
    const asked = await new Asked().types(keys.control('c'));
    await asked.choice;
    expect(asked.screen).toBe(`${refactoring.question}\n\n  ✗ Cancelled\n`);
  });

  test('S4-09, S4-23: what was picked stays on the screen', async () => {
    const asked = await new Asked().types('2');
    await asked.choice;
    expect(asked.screen).toBe(`${refactoring.question}\n\n  ✓ Show me a diff first\n`);
  });
});

describe('more options than there is room for', () => {
  const many = Array.from({ length: 40 }, (_, index) => `Option ${index + 1}`);

  test('Z4-3: all are reached by arrows', async () => {
    expect(await choice([...Array<string>(11).fill('j'), keys.enter], many)).toBe('Option 12');
    const asked = await new Asked(many).types(keys.end, keys.enter, 'x', keys.enter);
    expect(await asked.choice).toBe('x');
  });

  test('a number of two digits goes to its entry, and Enter picks it (regression: the first digit picked another)', async () => {
    const asked = await new Asked(many).types('1');
    expect(highlighted(asked.screen)).toBe('Option 1');
    await asked.types('7');
    expect(highlighted(asked.screen)).toBe('Option 17');
    await asked.types('9');
    expect(highlighted(asked.screen)).toBe('Option 9');
    await asked.types('j', '3', '3', keys.enter);
    expect(await asked.choice).toBe('Option 33');
  });

  test('S4-17: of nine options the ninth is picked by 9; of ten it is highlighted', async () => {
    expect(await choice(['9'], many.slice(0, 9))).toBe('Option 9');
    expect(await choice(['9', '9', 'k', keys.enter], many.slice(0, 10))).toBe('Option 8');
  });

  test('Z4-4, O4-10: they scroll, and the frame says how many more there are', async () => {
    const asked = await new Asked(many, { rows: 12 }).types();
    expect(asked.screen).toContain('    Option 6\n    ↓ 35 more…');
    await asked.types(keys.pageDown);
    expect(asked.screen).toContain('    ↑ 1 more…\n    Option 2');
    expect(highlighted(asked.screen)).toBe('Option 7');
    await asked.types(keys.pageDown, keys.pageUp, keys.pageUp);
    expect(highlighted(asked.screen)).toBe('Option 1');
    await asked.types(keys.end);
    expect(asked.screen).toContain('    ↑ 35 more…\n    Option 36');
    await asked.types(keys.up, keys.enter);
    expect(await asked.choice).toBe('Option 40');
  });

  test.each([1, 3, 5, 7, 8, 11, 24])(
    'Z4-4: %i rows hold the frame, wherever the highlight is',
    async (rows) => {
      const asked = new Asked(many, { rows });
      await asked.terminal.shows('❯');
      for (const key of [
        ...Array<string>(45).fill(keys.down),
        ...Array<string>(45).fill(keys.up),
      ]) {
        await asked.terminal.types(key);
        const frame = asked.screen.split('\n').slice(2);
        expect(frame.length, `the lines of ${asked.screen}`).toBeLessThanOrEqual(
          Math.max(1, rows - 1),
        );
        expect(highlighted(asked.screen)).not.toBe('');
      }
      await asked.terminal.types(keys.enter);
      await asked.choice;
    },
  );

  test('a label that is cut ends with one sign, and its backslashes are doubled once (regression: ……)', async () => {
    const asked = new Asked([String.raw`C:\dir `.repeat(40)], {
      question: 'Q?',
      columns: 20,
      rows: 6,
    });
    await asked.terminal.shows('❯');
    expect(asked.screen).toMatch(/[^…]…$/);
    expect(asked.screen).not.toContain('……');
    expect(asked.screen).not.toContain('\\\\\\');
    await asked.terminal.types(keys.enter);
    await asked.choice;
  });

  test('a resize while it is open draws it anew', async () => {
    const asked = await new Asked(many, { rows: 30 }).types();
    expect(asked.screen).toContain('Option 24');
    asked.terminal.output.resize({ rows: 10 });
    expect(asked.terminal.visible).not.toContain('Option 5');
    expect(asked.terminal.visible.match(/❯/g)).toHaveLength(1);
    expect(asked.screen).toContain('↓ 37 more…');
    await asked.types(keys.enter);
    expect(await asked.choice).toBe('Option 1');
  });

  test('a resize that takes only the last line takes only that', async () => {
    const asked = new Asked(['A', 'B', 'C', 'D', 'E'], { rows: 6 });
    await asked.terminal.ends('    D');
    asked.terminal.output.resize({ rows: 5 });
    await asked.terminal.ends(/ {2}❯ A\n {4}B\n {4}C\n*$/);
    await asked.terminal.types('j');
    await asked.terminal.ends(/ {4}A\n {2}❯ B\n {4}C\n*$/);
    await asked.terminal.types('2');
    expect(await asked.choice).toBe('B');
  });

  test('Z4-4: what is too wide is cut by what the terminal counts, and whole where it is highlighted', async () => {
    const wide = '東京タワーへ行く。'.repeat(8);
    const asked = await new Asked(['first', wide, '👩‍🚀 '.repeat(30)], {
      columns: 30,
      rows: 40,
    }).types();
    expect(asked.screen).toContain('    東京タワーへ行く。東京タ…\n');
    await asked.types('j');
    expect(asked.screen).toContain(
      '  ❯ 東京タワーへ行く。東京タ\n    ┊ ワーへ行く。東京タワーへ\n',
    );
    await asked.types(keys.enter);
    expect(await asked.choice).toBe(wide);
  });

  test.each([1, 2, 4, 5, 9, 15])('%i columns are enough to answer', async (columns) => {
    const asked = new Asked(['Yes, 東京', 'No'], { columns });
    await asked.terminal.shows('❯');
    await asked.terminal.types('j', keys.enter);
    expect(await asked.choice).toBe('No');
  });
});
