import { expect, test } from 'vitest';
import { describeDeadline } from '../src/content/deadline-words.ts';

const now = Date.parse('2026-11-27T13:00:00Z');
const minute = 60_000;

test.each([
  [120 * minute, 'Europe/Paris', 'Fri 27 Nov, 16:00 CET (in 2 h)'],
  [119.9 * minute, 'UTC', 'Fri 27 Nov, 14:59 UTC (in 1 h)'],
  [12 * 60 * minute, 'Asia/Tokyo', 'Sat 28 Nov, 10:00 GMT+9 (in 12 h)'],
  [11 * 60 * minute, 'UTC', 'Sat 28 Nov, 00:00 UTC (in 11 h)'],
  [5.5 * minute, 'UTC', 'Fri 27 Nov, 13:05 UTC (in 5 min)'],
  [1, 'UTC', 'Fri 27 Nov, 13:00 UTC (in less than a minute)'],
  [0, 'UTC', 'Fri 27 Nov, 13:00 UTC (just now)'],
  [-3 * 24 * 60 * minute, 'UTC', 'Tue 24 Nov, 13:00 UTC (3 days ago)'],
  [40 * 24 * 60 * minute, 'UTC', 'Wed 6 Jan 2027, 13:00 UTC (in 40 days)'],
])('a time %d ms from now in %s reads as %s', (distance, timeZone, words) => {
  expect(describeDeadline(now + distance, { now, timeZone })).toBe(words);
});

test('a time that is later than any date, or is infinite, is shown as the last date', () => {
  for (const time of [Number.MAX_SAFE_INTEGER, Infinity]) {
    expect(describeDeadline(time, { now, timeZone: 'UTC' })).toMatch(
      /^Sat 13 Sept? 275760, 00:00 UTC/,
    );
  }
});
