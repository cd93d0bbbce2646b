/** A number of a unit of time, as `Intl.NumberFormat` names it. */
export interface DurationPart {
  unit: 'year' | 'month' | 'week' | 'day' | 'hour' | 'minute' | 'second' | 'millisecond';
  count: number;
}

const dayPattern = /^(\d{4})-(\d\d)-(\d\d)$/;
const timePattern =
  /^(\d{4}-\d\d-\d\d)[Tt](\d\d):(\d\d)(?::(\d\d)(?:\.(\d+))?)?([Zz]|[+-]\d\d:?\d\d)?$/;

/** Parses a day in ISO 8601 to its start in UTC, in milliseconds since 1970; `undefined` if there is no such day. */
export function parseDay(text: string): number | undefined {
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
export function parseIsoTime(text: string): { local: number; offset?: number } | undefined {
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
export function parseIsoDuration(value: unknown): DurationPart[] | undefined {
  const found = typeof value === 'string' ? durationPattern.exec(value) : null;
  if (found === null) return undefined;
  const parts = durationUnits.flatMap((unit, index) => {
    const count = found[index + 1];
    return count === undefined ? [] : [{ unit, count: Number(count) }];
  });
  const isExact = parts.every(({ count }) => count <= Number.MAX_SAFE_INTEGER);
  return isExact && parts.length > 0 ? parts : undefined;
}
