import { expect, test } from 'vitest';
import type { FieldFormat } from '../../src/apps/inbox/inbox-api.ts';
import {
  describeRelative,
  describeTime,
  formatValue,
} from '../../src/apps/inbox/page/format-value.ts';

const reader = { locale: 'en-GB', timeZone: 'Europe/Zurich' };
const euros = { type: 'money', currency: 'EUR', unit: 'major' } as const;
const cents = { ...euros, unit: 'minor' } as const;
const iso = { type: 'date-time', unit: 'iso' } as const;
const duration = (unit: 'iso' | 'seconds' | 'milliseconds' | 'minutes') =>
  ({ type: 'duration', unit }) as const;

/** What is shown, on one line; a fault in brackets. */
function shown(value: unknown, format: FieldFormat, from = reader): string | undefined {
  const formatted = formatValue(value, format, from);
  if (formatted === undefined) return undefined;
  if ('fault' in formatted) return `[${formatted.fault}]`;
  const { text, more } = formatted;
  /* Languages set different spaces. */
  return [text, more]
    .filter((each) => each !== undefined)
    .join(' | ')
    .replaceAll(/\s/g, ' ');
}

test.each<[unknown, FieldFormat, string]>([
  [1234.5, euros, 'EUR 1,234.50'],
  [123450, cents, 'EUR 1,234.50'],
  [5, cents, 'EUR 0.05'],
  [-5, cents, '-EUR 0.05'],
  [1200, { ...cents, currency: 'JPY' }, 'JPY 1,200'],
  ['90071992547409931234.55', euros, 'EUR 90,071,992,547,409,931,234.55'],
  ['9007199254740993', cents, 'EUR 90,071,992,547,409.93'],
  [0.123, euros, 'EUR 0.123'],
  ['10.005', euros, 'EUR 10.005'],
  [0, euros, 'EUR 0.00'],
  ['a lot', euros, '[not an amount]'],
  ['', euros, '[not an amount]'],
  [1e21, euros, '[not an amount]'],
  [null, euros, '[not an amount]'],
  [true, euros, '[not an amount]'],
  [1, { ...euros, currency: 'QQQ' }, '[its currency is not known]'],
  [1, { ...euros, currency: 'euro' }, '[its currency is not known]'],
  [1, { ...euros, currency: { path: ['currency'] } }, '[its currency is not known]'],
])('the amount %j is shown to the last digit as %j: %s', (value, format, text) => {
  expect(shown(value, format)).toBe(text);
});

test('the currency of an amount in a list is that of the same item', () => {
  const root = { lines: [{ currency: 'USD' }, { currency: 'CHF' }] };
  const format: FieldFormat = { ...euros, currency: { path: ['lines', '*', 'currency'] } };
  const formatted = formatValue(7, format, reader, { root, indexes: [1] });
  expect(formatted).toMatchObject({ text: 'CHF\u00a07.00' });
});

test.each<[unknown, FieldFormat, string]>([
  [
    '2026-12-24T17:00:00Z',
    iso,
    'Thu, 24 December 2026 at 18:00 CET | Thu, 24 December 2026 at 17:00 UTC',
  ],
  ['2026-12-24T18:00:00+01:00', iso, 'Thu, 24 December 2026 at 18:00 CET'],
  [
    '2026-07-01T01:30:05.25-05:30',
    iso,
    'Wed, 1 July 2026 at 09:00:05.250 CEST | Wed, 1 July 2026 at 01:30:05.250 −05:30',
  ],
  ['2026-12-24T18:00', iso, 'Thu, 24 December 2026 at 18:00 | no time zone given'],
  [250, { type: 'date-time', unit: 'seconds' }, 'Thu, 1 January 1970 at 01:04:10 CET'],
  [1782000000000, { type: 'date-time', unit: 'milliseconds' }, 'Sun, 21 June 2026 at 02:00 CEST'],
  ['order 7', iso, '[not a time]'],
  ['2026-02-30T10:00:00Z', iso, '[not a time]'],
  ['2026-12-24T24:00:00Z', iso, '[not a time]'],
  ['2026', iso, '[not a time]'],
  [1782000000000, iso, '[not a time]'],
  ['250', { type: 'date-time', unit: 'seconds' }, '[not a time]'],
  [1e300, { type: 'date-time', unit: 'milliseconds' }, '[not a time]'],
  ['2026-02-28', { type: 'date' }, 'Saturday, 28 February 2026'],
  ['0050-03-01', { type: 'date' }, 'Tuesday, 1 March 50'],
  ['2026-02-29', { type: 'date' }, '[not a date]'],
  ['28.2.2026', { type: 'date' }, '[not a date]'],
])('the time %j is shown in the zone of the reader, declared as %j: %s', (value, format, text) => {
  expect(shown(value, format)).toBe(text);
});

test.each<[unknown, FieldFormat, string]>([
  [5400, duration('seconds'), '1 hour, 30 minutes'],
  [1500, duration('milliseconds'), '1 second, 500 milliseconds'],
  [2880, duration('minutes'), '2 days'],
  [0, duration('seconds'), '0 seconds'],
  [
    'P1Y2M3DT4H5M6.7S',
    duration('iso'),
    '1 year, 2 months, 3 days, 4 hours, 5 minutes, 6.7 seconds',
  ],
  ['PT36H', duration('iso'), '36 hours'],
  ['P', duration('iso'), '[not a length of time]'],
  ['PT', duration('iso'), '[not a length of time]'],
  ['5400', duration('seconds'), '[not a length of time]'],
  [-1, duration('seconds'), '[not a length of time]'],
  [0.0001, duration('seconds'), '[not a length of time]'],
])('the span %j is shown in full, declared as %j: %s', (value, format, text) => {
  expect(shown(value, format)).toBe(text);
});

test('values are shown in the language of the reader', () => {
  const german = { locale: 'de-CH', timeZone: 'America/New_York' };
  expect(shown(1234.5, euros, german)).toBe("EUR 1'234.50");
  expect(shown('2026-12-24T18:00:00+01:00', iso, german)).toContain('24. Dezember 2026');
  expect(shown(5400, duration('seconds'), german)).toBe('1 Stunde, 30 Minuten');
});

test('formats that only say how the exact value is shown change nothing', () => {
  for (const type of ['code', 'file', 'secret'] as const)
    expect(shown('a', { type })).toBe(undefined);
});

test.each([
  [90, 'in 1 minute'],
  [119, 'in 1 minute'],
  [7_199, 'in 1 hour'],
  [47 * 3_600, 'in 47 hours'],
  [49 * 3_600, 'in 2 days'],
  [-61, '1 minute ago'],
])('nobody has less time than they read: %d seconds are %s', (seconds, text) => {
  expect(describeRelative(seconds * 1_000, 0, reader)).toBe(text);
});

test('a deadline later than any date is shown as the last one', () => {
  expect(describeTime(1e300, reader)).toContain('275760');
});
