import { askInTerminal } from 'holdpoint/terminal';
import * as fc from 'fast-check';
import { describe, expect, onTestFinished, test } from 'vitest';
import { approval, field, question } from './requests.ts';
import { approving, keys, VirtualTerminal } from './virtual-terminal.ts';
import { countTrials, pickCases } from '../support/sampling.ts';

const ready = 'Reject with a reason';
const numbered = (count: number): string =>
  Array.from({ length: count }, (_, index) => `line ${index + 1};`).join('\n');

/** A person before an approval of a call with this input. */
class Asked {
  readonly terminal: VirtualTerminal;
  readonly answers: ReturnType<typeof askInTerminal>;

  private constructor(input: unknown, size: { columns?: number; rows?: number }) {
    this.terminal = new VirtualTerminal(size);
    const toolCall = { toolCallId: 'c', toolName: 'write', input };
    this.answers = askInTerminal(approval({ toolCall }), this.terminal);
    onTestFinished(async () => {
      await this.terminal.types(keys.control('c'));
      await this.answers;
    });
  }

  static async about(
    input: unknown,
    size: { columns?: number; rows?: number } = {},
  ): Promise<Asked> {
    const asked = new Asked(input, size);
    await asked.terminal.ends(ready);
    return asked;
  }

  async types(...sent: string[]): Promise<this> {
    await this.terminal.types(...sent);
    return this;
  }

  get rows(): string[] {
    return this.terminal.visible.split('\n');
  }
}

describe('what is asked about has the rows that the screen has', () => {
  test('a file of 15 lines on an empty screen of 45 rows is shown whole', async () => {
    const { rows, terminal } = await Asked.about(
      { path: 'a.ts', content: numbered(15).replaceAll(';', ` = ${'x'.repeat(40)};`) },
      { rows: 45 },
    );
    expect(rows.filter((row) => row.startsWith('    │ line '))).toHaveLength(15);
    expect(terminal.screen).not.toContain('more');
  });

  test('of a file of 200 lines the first and last ones are shown, how many there are between, and every other argument', async () => {
    const asked = await Asked.about({ path: 'a.ts', content: numbered(200), mode: 'overwrite' });
    const { rows } = asked;
    expect(rows.length).toBeLessThanOrEqual(24);
    const shown = rows.filter((row) => row.startsWith('    │ line ')).length;
    expect(rows).toContain(`    … ${200 - shown} more lines, v shows them`);
    expect(shown).toBeGreaterThan(7);
    expect(rows.slice(0, 6)).toEqual([
      'May I book this flight?',
      'Why: A booking costs money.',
      '  write',
      '    path: "a.ts"',
      '    content:',
      '    │ line 1;',
    ]);
    expect(rows).toContain('    │ line 200;');
    expect(rows).toContain('    mode: "overwrite"');
    expect(rows.at(-1)).toBe('    Reject with a reason');
  });

  test('two long arguments share the rows; the structure stays', async () => {
    const { rows } = await Asked.about({
      edits: { old: numbered(90), new: numbered(50) },
      dry: false,
    });
    expect(rows).toContain('    edits:');
    expect(rows).toContain('      old:');
    expect(rows).toContain('      new:');
    expect(rows).toContain('      │ line 90;');
    expect(rows).toContain('      │ line 50;');
    expect(rows).toContain('    dry: false');
    expect(rows.filter((row) => /… \d+ more lines/.test(row))).toHaveLength(2);
  });

  test('of many arguments the first and last ones are shown', async () => {
    const input = Object.fromEntries(Array.from({ length: 500 }, (_, at) => [`key${at}`, at]));
    const { rows } = await Asked.about(input);
    expect(rows).toContain('    key0: 0');
    expect(rows).toContain('    key499: 499');
    expect(rows.filter((row) => /more lines/.test(row))).toHaveLength(1);
  });

  test('a value of one long line is folded by its rows, and its end is shown', async () => {
    const { rows } = await Asked.about({
      body: `Dear Ann, ${'bla '.repeat(500)}and send all to Bob`,
    });
    expect(rows).toContain(
      '    body: "Dear Ann, bla bla bla bla bla bla bla bla bla bla bla bla bla bla',
    );
    expect(rows).toContain('    ┊ and send all to Bob"');
    expect(rows.join('\n')).toMatch(/\n {4}… \d+ more lines, v shows them\n/);
  });

  test.each([5, 6, 8, 10, 13, 16, 20, 24, 45])('%i rows hold the frame', async (rows) => {
    const asked = await Asked.about(
      { path: 'a.ts', content: numbered(200) },
      { rows, columns: 40 },
    );
    expect(asked.terminal.screen.split('\n').length).toBeLessThanOrEqual(rows);
    expect(asked.rows.filter((row) => row.startsWith('  ❯ '))).toEqual(['  ❯ Reject']);
    await asked.types(keys.up);
    expect(asked.rows.filter((row) => row.startsWith('  ❯ '))).toHaveLength(1);
  });

  test('at 40 × 10 the question and the call can be read', async () => {
    const { rows } = await Asked.about({ flight: 'AF1234' }, { columns: 40, rows: 10 });
    expect(rows).toEqual([
      'May I book this flight?',
      'Why: A booking costs money.',
      '',
      '  write',
      '    flight: "AF1234"',
      '',
      '  ↑/↓, Enter, Esc later',
      '    Approve',
      '  ❯ Reject',
      '    Reject with a reason',
    ]);
  });
});

const nonBlank = (screen: string): number =>
  screen.split('\n').filter((line) => line !== '').length;

describe('whatever the call and however small the screen', () => {
  test('the frame fits, has one highlight, and nothing is left out without a sign', async () => {
    const size = fc.record({
      columns: fc.integer({ min: 20, max: 100 }),
      rows: fc.integer({ min: 4, max: 40 }),
    });
    const text = fc.string({ maxLength: 400 });
    const lines = fc.array(fc.string({ maxLength: 60 }), { maxLength: 40 });
    const value = fc.oneof(
      fc.jsonValue(),
      text,
      lines.map((all) => all.join('\n')),
    );
    const input = fc.dictionary(fc.string({ maxLength: 12 }), value, { maxKeys: 12 });
    await fc.assert(
      fc.asyncProperty(input, size, async (call, { columns, rows }) => {
        const terminal = new VirtualTerminal({ columns, rows });
        const toolCall = { toolCallId: 'c', toolName: 'write', input: call };
        const asking = askInTerminal(approval({ toolCall }), terminal);
        await terminal.shows('❯');
        const folded = terminal.visible;
        expect(terminal.screen.split('\n').length).toBeLessThanOrEqual(rows);
        expect(folded.match(/^ {2}❯ /gm)).toHaveLength(1);
        const hidden = Array.from(folded.matchAll(/^ *… ([\d,]+) more/gm), ([, count = '']) =>
          Number(count.replaceAll(',', '')),
        ).reduce((sum, count) => sum + count, 0);
        terminal.output.resize({ rows: 1_000 });
        const choices = /\n {4}Approve[^]*$/;
        const hints = /^ {2}(?:Use ↑|↑\/↓, Enter)[^]*$/m;
        const whole = terminal.visible.replace(choices, '').replace(hints, '');
        const shown = folded.replace(choices, '').replace(hints, '');
        const signs = shown.match(/^ *… [\d,]+ more/gm)?.length ?? 0;
        expect(nonBlank(shown) - signs + hidden).toBeGreaterThanOrEqual(nonBlank(whole));
        await terminal.types(keys.escape);
        await asking;
      }),
      { numRuns: countTrials(30), endOnFailure: true },
    );
  }, 60_000);

  const depths: [number, string][] = [
    [500, 'core"'],
    [20_000, '}}}}}'],
  ];
  test.each(pickCases(depths))(
    'a call nested %i times deep can be asked about',
    async (most, end) => {
      let input: unknown = 'the core';
      for (let depth = 0; depth < most; depth++) input = { a: input };
      const { terminal } = await Asked.about(input);
      expect(terminal.visible).toContain('more lines');
      await terminal.types('v');
      await terminal.shows('Space for more');
      await terminal.types(keys.end);
      expect(terminal.screen).toContain(end);
    },
  );
});

describe('while something is folded', () => {
  const long = { content: numbered(100) };

  test('on the narrowest screen the sign still names the key (regression: it was cut)', async () => {
    const terminal = new VirtualTerminal({ columns: 20, rows: 6 });
    const asking = askInTerminal(approval(), terminal);
    await terminal.shows('❯');
    expect(terminal.visible).toMatch(/^ *… \d+ more, v$/m);
    await terminal.types(keys.escape);
    await asking;
  });

  test('Approve opens what was folded, and approves nothing', async () => {
    const asked = await Asked.about(long);
    expect(asked.terminal.screen).toContain('    Approve (read everything first: v)');
    await asked.types(keys.up, keys.enter);
    await asked.terminal.shows('Space for more');
    expect(asked.rows.at(-1)).toBe('  1–23 of 106 lines, Space for more');
    await asked.types(keys.enter);
    await asked.terminal.ends(ready);
    expect(asked.rows).toContain('  ❯ Reject');
    expect(asked.terminal.screen).toContain('    Approve (read everything first: v)');
  });

  test('it is approved after it was paged through to its end; the highlight is back at no', async () => {
    const asked = await Asked.about(long);
    await asked.types('v');
    await asked.terminal.shows('1–23 of 106 lines');
    const seen = new Set<string>();
    for (let page = 0; page < 5; page++) {
      for (const row of asked.rows) seen.add(row);
      await asked.types(' ');
    }
    await asked.terminal.shows('Esc to go back');
    expect(
      numbered(100)
        .split('\n')
        .filter((line) => !seen.has(`    │ ${line}`)),
    ).toEqual([]);
    await asked.types(keys.escape);
    await asked.terminal.ends(ready);
    expect(asked.rows).toContain('    Approve');
    expect(asked.rows).toContain('  ❯ Reject');
    await asked.types(...approving);
    expect(await asked.answers).toMatchObject([{ approved: true, toolCall: { input: long } }]);
  });

  test('no run of Enter keys approves, wherever it begins', async () => {
    const asked = await Asked.about(long);
    await asked.types(keys.up, keys.enter);
    await asked.terminal.shows('Space for more');
    await asked.types(keys.enter);
    await asked.terminal.ends(ready);
    await asked.types(keys.enter);
    expect(await asked.answers).toMatchObject([{ approved: false }]);
  });

  test('leaving before the end leaves it unread', async () => {
    const asked = await Asked.about(long);
    await asked.types('v');
    await asked.terminal.shows('1–23 of 106 lines');
    await asked.types(keys.down, keys.down, keys.pageDown, keys.pageUp, keys.escape);
    await asked.terminal.ends(ready);
    expect(asked.terminal.screen).toContain('    Approve (read everything first: v)');
  });

  test('keys that came before a page could be seen do nothing to it', async () => {
    const asked = await Asked.about(long);
    await asked.types(`v ${keys.end}`);
    await asked.terminal.shows('1–23 of 106 lines');
  });

  test('rejecting needs no reading', async () => {
    const asked = await Asked.about(long);
    await asked.types(keys.enter);
    expect(await asked.answers).toMatchObject([{ approved: false }]);
  });

  test('a larger window shows it, and then it may be approved', async () => {
    const asked = await Asked.about({ content: numbered(30) });
    expect(asked.terminal.visible).toContain('read everything first');
    asked.terminal.output.resize({ rows: 50 });
    expect(asked.terminal.visible).not.toContain('read everything first');
    asked.terminal.output.resize({ rows: 24 });
    expect(asked.terminal.visible).toContain('more lines');
    await asked.types(...approving);
    expect(await asked.answers).toMatchObject([{ approved: true }]);
  });
});

test('at 40 × 10 the question and the whole highlighted label can be read', async () => {
  const terminal = new VirtualTerminal({ columns: 40, rows: 10 });
  const text =
    'Which of these three plans should the migration follow when the nightly window is too short?';
  const labels = [
    'short',
    'Copy the tables first and switch the readers over one by one, then the writers, then drop the old ones',
  ];
  const asking = askInTerminal(question(field([...labels, 'other']), { text }), terminal);
  await terminal.shows('❯ 1. short');
  await terminal.types('j');
  const shown = terminal.visible.replaceAll(/\s*\n(?: {4}┊ |┊ )/g, ' ');
  expect(shown).toContain(text);
  expect(shown).toContain(`  ❯ 2. ${labels[1]}`);
  await terminal.types(keys.control('c'));
  await asking;
});

test('a label that has no room is opened with v, and comes back whole', async () => {
  const label = `${'word '.repeat(200)}!`;
  const terminal = new VirtualTerminal({ columns: 40, rows: 10 });
  const asking = askInTerminal(question(field([label, 'other'])), terminal);
  await terminal.shows('v all');
  await terminal.types('v');
  await terminal.shows('lines, Space for more');
  await terminal.types(keys.end);
  expect(terminal.visible).toContain('    2. other\n');
  expect(terminal.visible).toContain('!\n');
  await terminal.types(keys.escape);
  await terminal.shows('❯ 1. word');
  await terminal.types(keys.enter);
  expect(await asking).toMatchObject([{ answers: [{ optionIds: ['option-0'] }] }]);
});
