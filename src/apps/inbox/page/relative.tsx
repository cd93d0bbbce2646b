import { describeRelative, describeTime } from './format-value.ts';
import { useNow, useReader } from './reading.tsx';

/** The distance of a time from now, kept up to date. */
export function Relative({ at }: { at: number }) {
  const reader = useReader();
  return <span className="more">{describeRelative(at, useNow(), reader)}</span>;
}

/* No date is later than this. */
const lastTime = 8.64e15;

/** A time of the log, in the reader's zone, and its distance from now. */
export function Time({ at }: { at: number }) {
  const reader = useReader();
  return (
    <>
      <time dateTime={new Date(Math.min(at, lastTime)).toISOString()}>
        {describeTime(at, reader)}
      </time>{' '}
      <Relative at={at} />
    </>
  );
}
