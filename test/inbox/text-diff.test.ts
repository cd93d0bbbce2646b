import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isLongText, splitBlocks } from '../../src/apps/inbox/page/text-blocks.ts';
import { diffLines, diffWords, groupRuns } from '../../src/apps/inbox/page/text-diff.ts';

/** A comparison as a person writes one: a sign before each line, changed words in brackets. */
const written = (before: string, after: string): string[] =>
  diffLines(before, after).map(({ kind, text, parts }) => {
    const sign = { same: ' ', removed: '-', added: '+' }[kind];
    const words = parts?.map((part) => (part.isChanged ? `[${part.text}]` : part.text)).join('');
    return `${sign}${words ?? text}`;
  });

const longLine = (word: string): string =>
  `${'so it goes '.repeat(80)}${word}${' and on'.repeat(80)}`;
const manyLines = (sign: string): string =>
  Array.from({ length: 3_000 }, (_, index) => `${sign} ${index}`).join('\n');
const joinBlocks = (text: string): string =>
  splitBlocks(text)
    .map((block, index) => (index === 0 || block.isContinued ? '' : '\n') + block.text)
    .join('');

describe('a comparison of texts', () => {
  test('names lines that were added, removed and changed, and of those the words', () => {
    const before = 'name: web\nimage: app:1.2\nreplicas: 2\nport: 80';
    const after = 'name: web\nimage: app:1.3\nreplicas: 2\nenv: test\nport: 80';
    expect(written(before, after)).toEqual([
      ' name: web',
      '-image: app:1.[2]',
      '+image: app:1.[3]',
      ' replicas: 2',
      '+env: test',
      ' port: 80',
    ]);
  });

  test('takes lines that have little in common for others', () => {
    expect(written('delete everything', 'xyz')).toEqual(['-delete everything', '+xyz']);
  });

  test('finds the one odd word in a long line', () => {
    const { after } = diffWords(longLine('May'), longLine('June'));
    expect(after.filter(({ isChanged }) => isChanged)).toEqual([{ text: 'June', isChanged: true }]);
  });

  test('has every line of both texts, in their order, whatever they are', () => {
    const line = fc.constantFrom('a', 'b', 'c', 'x y', 'x z', '');
    const text = fc.array(line, { minLength: 1 }).map((lines) => lines.join('\n'));
    fc.assert(
      fc.property(text, text, (before, after) => {
        const lines = diffLines(before, after);
        const without = (kind: string): string =>
          lines
            .filter((each) => each.kind !== kind)
            .map((each) => each.text)
            .join('\n');
        expect(without('added')).toBe(before);
        expect(without('removed')).toBe(after);
        expect(groupRuns(lines).flatMap((run) => run.lines)).toEqual(lines);
        const whole = lines.map(({ text: all, parts }) =>
          parts === undefined ? all : parts.map((part) => part.text).join(''),
        );
        expect(whole).toEqual(lines.map((each) => each.text));
      }),
    );
  });

  test('says that all was replaced where too much differs to be compared', () => {
    const kinds = new Set(
      diffLines(manyLines('before'), manyLines('after')).map(({ kind }) => kind),
    );
    expect([...kinds]).toEqual(['removed', 'added']);
  });
});

describe('a long text', () => {
  test('is cut into blocks that make the same text again', () => {
    const piece = fc.constantFrom(
      'word ',
      '\n',
      '👩‍👩‍👧 ',
      '\\u{202e}',
      'x'.repeat(9_000),
      '𝒳'.repeat(5_000),
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 40 }), (pieces) => {
        const text = pieces.join('');
        expect(joinBlocks(text)).toBe(text);
        for (const { text: block } of splitBlocks(text)) {
          expect(block.isWellFormed()).toBe(true);
          expect(block.length).toBeLessThanOrEqual(40_000);
        }
      }),
    );
  });

  test('is cut at ends of lines, and says where a line goes on', () => {
    const line = `${'x'.repeat(99)}\n`;
    expect(splitBlocks(line.repeat(200)).every(({ isContinued }) => !isContinued)).toBe(true);
    const blocks = splitBlocks('word '.repeat(20_000));
    expect(blocks.map(({ isContinued }) => isContinued)).toEqual(
      blocks.map((_, index) => index > 0),
    );
  });

  test('is not cut within what reads as an escape', () => {
    for (let shift = 0; shift < 12; shift += 1) {
      const text = `${'a'.repeat(8_000 - shift)}\\u{202e}${'b'.repeat(40_000)}`;
      const [first, second] = splitBlocks(text);
      expect(first?.text.includes('\\u{202e}') || second?.text.startsWith('\\') === false).toBe(
        true,
      );
      expect(`${first?.text.slice(-12)}|${second?.text.slice(0, 12)}`).not.toMatch(/\\u?\{?\w*\|/);
    }
  });

  test('is one of more than 4,000 characters', () => {
    expect([isLongText('x'.repeat(4_000)), isLongText('x'.repeat(4_001))]).toEqual([false, true]);
  });
});
