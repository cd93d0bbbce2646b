import { inertLine, inertText } from 'holdpoint';
import { expect, test } from 'vitest';
import { findWronglyShown } from './support/hidden-characters.ts';

test.each([
  ['inertText', inertText],
  ['inertLine', inertLine],
])('%s shows every character that is hidden when it stands alone', (_name, inert) => {
  expect(findWronglyShown(inert, 0, 0x110000)).toEqual([]);
});

test.each(['\\', '\u202E', '👩\u200D', '\\u{', '\t', 'a', 'ب\u200C', '\r', '🏴\u{E0067}'])(
  'a megabyte of %j is shown at once',
  (unit) => {
    const long = unit.repeat(1_000_000 / unit.length);
    const started = performance.now();
    inertText(long);
    inertLine(long);
    expect(performance.now() - started).toBeLessThan(5_000);
  },
);
