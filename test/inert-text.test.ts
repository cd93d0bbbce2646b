import { inertLine, inertText } from 'holdpoint';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { findWronglyShown, hiddenByDefault } from './support/hidden-characters.ts';
import { countTrials, pickCases } from './support/sampling.ts';

const family = '👩🏽‍👩‍👧‍👦';
const england = '🏴\u{E0067}\u{E0062}\u{E0065}\u{E006E}\u{E0067}\u{E007F}';

const deceiving: [what: string, text: string, shown: string][] = [
  ['terminal controls', '\u001B[31mred', '\\u{1b}[31mred'],
  ['what moves the cursor back', 'a\rb\bc\u0007', 'a\\u{d}b\\u{8}c\\u{7}'],
  ['a turn of the reading direction', 'evil\u202Etxt.exe', 'evil\\u{202e}txt.exe'],
  ['zero width and tags', 'zero\u200Bwidth\u{E0041}', 'zero\\u{200b}width\\u{e0041}'],
  ['joiners between Latin letters', 'pay\u200Dpal pay\u200Cpal', 'pay\\u{200d}pal pay\\u{200c}pal'],
  ['a joiner at the edge of a word', 'می\u200C', 'می\\u{200c}'],
  ['two joiners in a row', 'می\u200C\u200Cخ', 'می\\u{200c}\\u{200c}خ'],
  ['a joiner between two scripts', 'ب\u200Cक', 'ب\\u{200c}क'],
  ['odd spaces and separators', 'no\u00A0break\u2028', 'no\\u{a0}break\\u{2028}'],
  [
    'private use, unassigned, half a character',
    '\uE000\u{10FFFF}\uD800',
    '\\u{e000}\\u{10ffff}\\u{d800}',
  ],
  ['a variation selector after a letter', 'a\uFE0F\u{E0100}', 'a\\u{fe0f}\\u{e0100}'],
  ['a joiner that joins no emoji', '👩\u200D', '👩\\u{200d}'],
  ['tags that spell no flag', '🏴\u{E0068}\u{E0069}\u{E007F}', '🏴\\u{e0068}\\u{e0069}\\u{e007f}'],
];

const whole: [what: string, text: string][] = [
  ['letters, accents and signs', 'Grüße, 東京 ✓ "x"'],
  ['a family', family],
  ['emoji with a variation selector', '❤️ ❤︎ 🏳️‍🌈 ☝🏽'],
  ['a joined emoji without its last selector', '🤷‍♂ 👁‍🗨'],
  ['flags', `🇩🇪 ${england}`],
  ['keycaps', '1️⃣ #️⃣'],
  ['Persian', 'می‌خواهم'],
  ['Hindi and Marathi', 'क्‍ष र्‍य'],
  ['Bengali', 'র‍্যাব'],
  ['Sinhala', 'ශ්‍රී ලංකා'],
  ['right-to-left letters', 'שלום مرحبا'],
];

describe.each([
  ['inertText', inertText],
  ['inertLine', inertLine],
])('%s', (_name, inert) => {
  test.each(pickCases(deceiving, 3))('shows %s', (_what, text, shown) => {
    expect(inert(text)).toBe(shown);
  });

  test.each(pickCases(whole, 3))('leaves whole: %s', (_what, text) => {
    expect(inert(text)).toBe(text);
  });

  test('every character of the planes with letters and signs that is hidden is shown when it stands alone', () => {
    expect(findWronglyShown(inert, 0, 0x20000)).toEqual([]);
    expect(findWronglyShown(inert, 0xe0000, 0xe1000)).toEqual([]);
  });
});

test.each([
  ['paragraphs', 'a\n\nb', 'a\n\nb'],
  ['Windows line ends', 'a\r\nb\r\n', 'a\nb\n'],
  ['a path', 'C:\\new\\table \\d+ \\\\host', 'C:\\new\\table \\d+ \\\\host'],
  ['a backslash at the end', 'a\\', 'a\\'],
  ['indentation', 'if x:\n\treturn\n\t\ty', 'if x:\n    return\n        y'],
  ['a tab goes to the next stop', 'a\tb\nabcd\te', 'a   b\nabcd    e'],
  ['an escape that the text spells itself', '\\u{202e}', '\\\\u{202e}'],
  ['also in capitals', '\\u{202E}', '\\\\u{202E}'],
  ['backslashes before what is hidden', '\\\u202E \\\\\u202E', '\\\\\\u{202e} \\\\\\\\\\u{202e}'],
  ['what is no escape', '\\u{} \\u{xyz} \\u202e', '\\u{} \\u{xyz} \\u202e'],
])('inertText shows prose and code as they are: %s', (_what, text, shown) => {
  expect(inertText(text)).toBe(shown);
});

test.each([
  ['line feeds', 'a\n\nb\r\n', 'a\\u{a}\\u{a}b\\u{d}\\u{a}'],
  ['tabs', 'a\tb', 'a\\u{9}b'],
  ['backslashes', 'back\\slash', 'back\\\\slash'],
])('inertLine puts everything on one line: %s', (_what, text, shown) => {
  expect(inertLine(text)).toBe(shown);
});

describe('of any text', () => {
  const pieces = [
    '\\',
    '\\u{202e}',
    'u{',
    '}',
    '2',
    'e',
    'a',
    ' ',
    '\u202E',
    '\u200D',
    '\u200C',
    '\uFE0F',
  ];
  const more = [
    '👩',
    family,
    england,
    '🏴',
    '\u{E0067}',
    '\u{E007F}',
    '❤',
    '1',
    '\u20E3',
    'ب',
    'क',
    '्',
    '\n',
    '\r',
    '\uD83D',
    '\uDC69',
  ];
  const text = fc.string({
    unit: fc.oneof(
      fc.constantFrom(...pieces, ...more),
      fc.string({ unit: 'binary', maxLength: 1 }),
    ),
  });
  /* What stays, although it is hidden elsewhere: emoji, and joiners between letters of the two scripts that have them here. */
  const emoji =
    /\p{Extended_Pictographic}(?:[\uFE0E\uFE0F]|\p{Emoji_Modifier})?(\u200D(?=\p{Extended_Pictographic}))?|[#*0-9]\uFE0F\u20E3/u;
  const letter = String.raw`(?=[\p{L}\p{M}])`;
  const joined = ['Arab', 'Deva'].map(
    (script) => String.raw`${letter}\p{scx=${script}}[\u200C\u200D](?=${letter}\p{scx=${script}})`,
  );
  const kept = new RegExp([emoji.source, ...joined].join('|'), 'gu');

  test('inertText can be read back, but for tabs and Windows line ends', () => {
    fc.assert(
      fc.property(text, (one) => {
        const plain = one.replaceAll('\t', '');
        expect(readBack(inertText(plain))).toBe(plain.replaceAll('\r\n', '\n'));
      }),
      { numRuns: countTrials(3_000) },
    );
  });

  test('inertLine can be read back', () => {
    fc.assert(
      fc.property(text, (one) => {
        expect(readLineBack(inertLine(one))).toBe(one);
      }),
      { numRuns: countTrials(3_000) },
    );
  });

  test.each([
    ['inertText', (one: string) => inertText(one).replaceAll('\n', '')],
    ['inertLine', inertLine],
  ])('%s shows nothing that hides or acts', (_name, inert) => {
    fc.assert(
      fc.property(text, (one) => {
        const rest = inert(one).replaceAll(england, '').replaceAll(kept, '');
        expect(rest).not.toMatch(hiddenByDefault);
      }),
      { numRuns: countTrials(3_000) },
    );
  });
});

/* Backslashes are doubled only before `u{…}`: an odd one begins an escape, an even number is half as many of the text. */
function readBack(shown: string): string {
  return shown.replaceAll(/(\\+)u\{([0-9a-f]+)\}/gi, (found, slashes: string, code: string) => {
    const own = '\\'.repeat(Math.floor(slashes.length / 2));
    if (slashes.length % 2 === 0) return `${own}${found.slice(slashes.length)}`;
    return `${own}${String.fromCodePoint(Number.parseInt(code, 16))}`;
  });
}

function readLineBack(shown: string): string {
  return shown.replaceAll(/\\\\|\\u\{([0-9a-f]+)\}/g, (_, code?: string) =>
    code === undefined ? '\\' : String.fromCodePoint(Number.parseInt(code, 16)),
  );
}
