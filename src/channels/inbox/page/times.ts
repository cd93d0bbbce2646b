const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;

/** How far away a time is, in the reader's language and rounded down, so that nobody has less time than they read. */
export function describeDistance(time: number, now: number, locale?: string): string {
  const format = new Intl.RelativeTimeFormat(locale, { numeric: 'auto', style: 'short' });
  const distance = time - now;
  const span = Math.abs(distance);
  const [size, unit] = findUnit(span);
  return format.format(Math.sign(distance) * Math.floor(span / size), unit);
}

function findUnit(span: number): [size: number, unit: 'minute' | 'hour' | 'day'] {
  if (span < hour) return [minute, 'minute'];
  return span < 2 * day ? [hour, 'hour'] : [day, 'day'];
}
