/** The present time and the time zone of a reader. */
export interface TimeReader {
  /** The present, in milliseconds since the epoch. */
  now: number;
  /** An IANA time zone, as `Europe/Paris`. Default: that of the process or the browser. */
  timeZone?: string | undefined;
}

/* No date is later than this. */
const lastTime = 8.64e15;

/**
 * A time as people write it, in the reader's time zone, and how far away it is: `Fri 27 Nov, 16:00 CET (in 2 h)`. The year is named if it
 * is not the present one. A rule may name a time that is later than any date; the last date stands for it. Throws a `RangeError` for an
 * unknown time zone.
 */
export function describeDeadline(time: number, { now, timeZone }: TimeReader): string {
  const at = Math.min(time, lastTime);
  const format = new Intl.DateTimeFormat('en-GB', {
    weekday: 'short',
    day: 'numeric',
    month: 'short',
    year: 'numeric',
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
    timeZoneName: 'short',
    timeZone,
  });
  const parts = readParts(format, at);
  const year =
    parts.get('year') === readParts(format, now).get('year') ? '' : ` ${parts.get('year')}`;
  const day = `${parts.get('weekday')} ${parts.get('day')} ${parts.get('month')}${year}`;
  const clock = `${parts.get('hour')}:${parts.get('minute')} ${parts.get('timeZoneName')}`;
  return `${day}, ${clock} (${describeDistance(at - now)})`;
}

function readParts(format: Intl.DateTimeFormat, time: number): Map<string, string> {
  return new Map(format.formatToParts(time).map(({ type, value }) => [type, value]));
}

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;

/* Rounded down: nobody has less time than they read. */
function describeDistance(distance: number): string {
  const span = Math.abs(distance);
  if (span < minute && distance <= 0) return 'just now';
  const words = describeDuration(span);
  return distance > 0 ? `in ${words}` : `${words} ago`;
}

/** A span of time as people write it, rounded down: `45 min`, `26 h`. */
export function describeDuration(span: number): string {
  if (span < minute) return 'less than a minute';
  if (span < hour) return `${Math.floor(span / minute)} min`;
  if (span < 2 * day) return `${Math.floor(span / hour)} h`;
  return `${Math.floor(span / day).toLocaleString('en')} days`;
}
