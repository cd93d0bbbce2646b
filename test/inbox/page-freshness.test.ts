import { expect, test } from 'vitest';
import { Freshness } from '../../src/apps/inbox/page/freshness.ts';

const minute = 60_000;

test('a page that ticks agrees with the log', () => {
  const freshness = new Freshness(0);
  freshness.tick(minute);
  expect(freshness.isFresh(2 * minute)).toBe(true);
});

test.each([
  ['after eight hours of sleep', 8 * 60 * minute],
  ['with a clock that was put back', -10 * minute],
])('%s nothing counts before the log was read again', (_when, now) => {
  const freshness = new Freshness(0);
  expect(freshness.isFresh(now)).toBe(false);
  freshness.tick(now);
  expect(freshness.isFresh(now)).toBe(false);
  freshness.confirm(freshness.begin(now), now);
  expect(freshness.isFresh(now)).toBe(true);
});

test('a reading that began before a doubt does not settle it', () => {
  const freshness = new Freshness(0);
  const begun = freshness.begin(1);
  freshness.doubt();
  freshness.confirm(begun, 2);
  expect(freshness.isFresh(2)).toBe(false);
});

test('a reading during which the page slept does not count', () => {
  const freshness = new Freshness(0);
  const begun = freshness.begin(1);
  freshness.confirm(begun, 60 * minute);
  expect(freshness.isFresh(60 * minute)).toBe(false);
});
