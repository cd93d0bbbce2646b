import type { FieldFormat } from '../inbox-api.ts';
import { readDeclared } from './argument-path.ts';

/** The reader's language, as `de-CH`, and time zone, as `Europe/Paris`. */
export interface ValueReader {
  locale: string;
  timeZone?: string | undefined;
}

/** A value in the reader's language. The exact value is shown beside it. */
export interface FormattedValue {
  text: string;
  /** Further facts about it, such as the time with its original offset. */
  more?: string;
  /** The point in time that it is, in milliseconds since 1970. */
  at?: number;
}

/** The place of a value: all arguments, and the list positions that lead to it. */
interface ValuePlace {
  root: unknown;
  indexes: readonly number[];
}

/**
 * Formats a value as declared, in the reader's language; never rounded. A `fault` says why the value doesn't fit its declaration;
 * `undefined` for formats that only affect the display of the exact value.
 */
export function formatValue(
  value: unknown,
  format: FieldFormat,
  reader: ValueReader,
  place: ValuePlace = { root: undefined, indexes: [] },
): FormattedValue | { fault: string } | undefined {
  switch (format.type) {
    case 'money':
      return formatMoney(value, format, reader, place);
    case 'date-time':
      return formatDateTime(value, format.unit, reader);
    case 'date':
      return formatDay(value, reader);
    case 'duration':
      return formatDuration(value, format.unit, reader);
    case 'code':
    case 'file':
    case 'secret':
      return undefined;
  }
}

const plainDecimal = /^-?(?:0|[1-9]\d*)(?:\.\d+)?$/;
/* More can't be formatted. */
const mostDigits = 100;

function formatMoney(
  value: unknown,
  { currency, unit }: Extract<FieldFormat, { type: 'money' }>,
  { locale }: ValueReader,
  { root, indexes }: ValuePlace,
): FormattedValue | { fault: string } {
  const amount = typeof value === 'number' ? JSON.stringify(value) : value;
  if (!isDecimal(amount)) return { fault: 'not an amount' };
  const code = typeof currency === 'string' ? currency : readDeclared(root, currency.path, indexes);
  const known = Intl.supportedValuesOf('currency');
  if (typeof code !== 'string' || !known.includes(code.toUpperCase()))
    return { fault: 'its currency is not known' };
  const options = { style: 'currency', currency: code, currencyDisplay: 'code' } as const;
  const digits =
    new Intl.NumberFormat(locale, options).resolvedOptions().maximumFractionDigits ?? 2;
  const major = unit === 'major' ? amount : shiftDecimal(amount, digits);
  const given = major.split('.')[1]?.length ?? 0;
  if (given > mostDigits || !isDecimal(major)) return { fault: 'not an amount' };
  const most = { maximumFractionDigits: Math.max(digits, given) };
  return { text: new Intl.NumberFormat(locale, { ...options, ...most }).format(major) };
}

function isDecimal(text: unknown): text is `${number}` {
  return typeof text === 'string' && plainDecimal.test(text);
}

/** Moves the point of a decimal to the left in its text: a number would round. */
function shiftDecimal(text: string, by: number): string {
  const sign = text.startsWith('-') ? '-' : '';
  const [whole = '', fraction = ''] = text.slice(sign.length).split('.');
  const digits = whole.padStart(by + 1, '0');
  const point = digits.length - by;
  const rest = `${digits.slice(point)}${fraction}`;
  return `${sign}${digits.slice(0, point)}${rest === '' ? '' : `.${rest}`}`;
}

function formatDateTime(
  value: unknown,
  unit: 'iso' | 'seconds' | 'milliseconds',
  reader: ValueReader,
): FormattedValue | { fault: string } {
  if (unit !== 'iso') {
    const at = typeof value === 'number' ? value * (unit === 'seconds' ? 1_000 : 1) : Number.NaN;
    return isTime(at) ? { text: describeTime(at, reader), at } : { fault: 'not a time' };
  }
  const time = typeof value === 'string' ? parseIsoTime(value) : undefined;
  if (time === undefined) return { fault: 'not a time' };
  const { local, offset } = time;
  const asGiven = writeTime(local, { ...reader, timeZone: 'UTC' });
  if (offset === undefined) return { text: asGiven, more: 'no time zone given' };
  const at = local - offset * 60_000;
  const inZone = writeTime(at, reader);
  const given = `${asGiven} ${describeOffset(offset)}`;
  return { text: describeTime(at, reader), at, ...(inZone === asGiven ? {} : { more: given }) };
}

function describeOffset(offset: number): string {
  const minutes = Math.abs(offset);
  const [hour, minute] = [Math.floor(minutes / 60), minutes % 60].map((each) =>
    String(each).padStart(2, '0'),
  );
  return offset === 0 ? 'UTC' : `${offset < 0 ? '−' : '+'}${hour}:${minute}`;
}

/** Checks whether a time is a valid date. */
function isTime(time: number): boolean {
  return !Number.isNaN(new Date(time).getTime());
}

/**
 * Describes a point in time in the reader's language, the month as a word, with the zone. A time later than any date is shown as the last
 * one.
 */
export function describeTime(time: number, reader: ValueReader): string {
  return writeTime(time, reader, { timeZoneName: 'short' });
}

function writeTime(
  time: number,
  { locale, timeZone }: ValueReader,
  more: Intl.DateTimeFormatOptions = {},
): string {
  const at = Math.min(time, 8.64e15);
  const seconds: Intl.DateTimeFormatOptions = at % 60_000 === 0 ? {} : { second: '2-digit' };
  const fraction: Intl.DateTimeFormatOptions =
    at % 1_000 === 0 ? {} : { second: '2-digit', fractionalSecondDigits: 3 };
  return new Intl.DateTimeFormat(locale, {
    weekday: 'short',
    day: 'numeric',
    month: 'long',
    year: 'numeric',
    hour: '2-digit',
    minute: '2-digit',
    ...seconds,
    ...fraction,
    ...more,
    timeZone,
  }).format(at);
}

function formatDay(value: unknown, { locale }: ValueReader): FormattedValue | { fault: string } {
  const day = typeof value === 'string' ? parseDay(value) : undefined;
  if (day === undefined) return { fault: 'not a date' };
  const format = new Intl.DateTimeFormat(locale, {
    weekday: 'long',
    day: 'numeric',
    month: 'long',
    year: 'numeric',
    timeZone: 'UTC',
  });
  return { text: format.format(day) };
}

const unitLengths = { seconds: 1_000, milliseconds: 1, minutes: 60_000 };
const secondSpan = { unit: 'second', length: 1_000 } as const;
const longSpans = [
  { unit: 'day', length: 86_400_000 },
  { unit: 'hour', length: 3_600_000 },
  { unit: 'minute', length: 60_000 },
] as const;
const spans = [...longSpans, secondSpan, { unit: 'millisecond', length: 1 }] as const;

function formatDuration(
  value: unknown,
  unit: 'iso' | keyof typeof unitLengths,
  { locale }: ValueReader,
): FormattedValue | { fault: string } {
  const parts = unit === 'iso' ? parseIsoDuration(value) : splitSpan(value, unitLengths[unit]);
  if (parts === undefined) return { fault: 'not a length of time' };
  const texts = parts.map(({ unit: each, count }) =>
    new Intl.NumberFormat(locale, {
      style: 'unit',
      unit: each,
      unitDisplay: 'long',
      maximumFractionDigits: 20,
    }).format(count),
  );
  return { text: new Intl.ListFormat(locale, { type: 'unit' }).format(texts) };
}

/** Splits a span into days, hours and so on; `undefined` if it is not a whole number of milliseconds. */
function splitSpan(value: unknown, length: number): DurationPart[] | undefined {
  const span = typeof value === 'number' ? value * length : Number.NaN;
  if (!Number.isSafeInteger(span) || span < 0) return undefined;
  let left = span;
  const parts = spans.map((each) => {
    const count = Math.floor(left / each.length);
    left -= count * each.length;
    return { unit: each.unit, count };
  });
  const named = parts.filter(({ count }) => count > 0);
  return named.length === 0 ? [{ unit: 'second', count: 0 }] : named;
}

/* Making one takes longer than drawing a row of a list. */
const relativeFormats = new Map<string, Intl.RelativeTimeFormat>();

/** Describes the distance of a time in the reader's language: `in 2 hours`. Rounded down, so that nobody has less time than they read. */
export function describeRelative(time: number, now: number, { locale }: ValueReader): string {
  const format = relativeFormats.get(locale) ?? new Intl.RelativeTimeFormat(locale);
  relativeFormats.set(locale, format);
  const distance = time - now;
  const { unit, length } =
    longSpans.find((span) => {
      const least = span.unit === 'day' ? 2 * span.length : span.length;
      return Math.abs(distance) >= least;
    }) ?? secondSpan;
  return format.format(Math.trunc(distance / length), unit);
}

/** A number of a unit of time, as `Intl.NumberFormat` names it. */
interface DurationPart {
  unit: 'year' | 'month' | 'week' | 'day' | 'hour' | 'minute' | 'second' | 'millisecond';
  count: number;
}

const dayPattern = /^(\d{4})-(\d\d)-(\d\d)$/;
const timePattern =
  /^(\d{4}-\d\d-\d\d)[Tt](\d\d):(\d\d)(?::(\d\d)(?:\.(\d+))?)?([Zz]|[+-]\d\d:?\d\d)?$/;

/** Parses a day in ISO 8601 to its start in UTC, in milliseconds since 1970; `undefined` if there is no such day. */
function parseDay(text: string): number | undefined {
  const [, year, month, day] = dayPattern.exec(text) ?? [];
  const start = Date.UTC(2_000, Number(month) - 1, Number(day));
  /* `Date.UTC` reads years below 100 as 19xx, and February 30 as March 1 or 2. */
  const date = new Date(start);
  date.setUTCFullYear(Number(year), Number(month) - 1, Number(day));
  const isDay = date.getUTCMonth() === Number(month) - 1 && date.getUTCDate() === Number(day);
  return isDay ? date.getTime() : undefined;
}

/**
 * Parses a time in ISO 8601: its local time, in milliseconds since 1970 as if it were UTC, and its offset in minutes, if it has one.
 * `undefined` for any other text.
 */
function parseIsoTime(text: string): { local: number; offset?: number } | undefined {
  const [, date = '', hour, minute, second = '0', fraction = '', zone] =
    timePattern.exec(text) ?? [];
  const day = parseDay(date);
  const isOnClock = Number(hour) < 24 && Number(minute) < 60 && Number(second) < 60;
  if (day === undefined || !isOnClock) return undefined;
  const milliseconds = Number(fraction.slice(0, 3).padEnd(3, '0'));
  const clock = (Number(hour) * 60 + Number(minute)) * 60 + Number(second);
  const local = day + clock * 1_000 + milliseconds;
  return zone === undefined ? { local } : { local, offset: parseOffset(zone) };
}

function parseOffset(zone: string): number {
  if (zone.toUpperCase() === 'Z') return 0;
  const minutes = Number(zone.slice(1, 3)) * 60 + Number(zone.slice(-2));
  return zone.startsWith('-') ? -minutes : minutes;
}

const durationPattern =
  /^P(?=.)(?:(\d+)Y)?(?:(\d+)M)?(?:(\d+)W)?(?:(\d+)D)?(?:T(?=.)(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d{1,9})?)S)?)?$/;
const durationUnits = ['year', 'month', 'week', 'day', 'hour', 'minute', 'second'] as const;

/** Parses a duration in ISO 8601 to its parts, unconverted: a day is not 24 hours everywhere. `undefined` for any other value. */
function parseIsoDuration(value: unknown): DurationPart[] | undefined {
  const found = typeof value === 'string' ? durationPattern.exec(value) : null;
  if (found === null) return undefined;
  const parts = durationUnits.flatMap((unit, index) => {
    const count = found[index + 1];
    return count === undefined ? [] : [{ unit, count: Number(count) }];
  });
  const isExact = parts.every(({ count }) => count <= Number.MAX_SAFE_INTEGER);
  return isExact && parts.length > 0 ? parts : undefined;
}
