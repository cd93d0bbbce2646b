import { useNow } from './use-now.ts';

const format = new Intl.RelativeTimeFormat('en', { numeric: 'auto' });
const minute = 60_000;

/** A time relative to now, kept up to date: "in 59 minutes". */
export function RelativeTime({ at }: { at: number }) {
  const now = useNow(at);
  return <time dateTime={new Date(at).toISOString()}>{relativeText(at - now)}</time>;
}

function relativeText(ms: number): string {
  const distance = Math.abs(ms);
  if (distance < minute) return format.format(Math.trunc(ms / 1_000), 'second');
  if (distance < 60 * minute) return format.format(Math.trunc(ms / minute), 'minute');
  if (distance < 48 * 60 * minute) return format.format(Math.trunc(ms / (60 * minute)), 'hour');
  return format.format(Math.trunc(ms / (24 * 60 * minute)), 'day');
}
