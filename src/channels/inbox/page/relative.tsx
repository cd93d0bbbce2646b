import { describeRelative, describeTime } from './format-value.ts';
import { useNow, useReader } from './reading.tsx';

/** How far away a time is, kept up to date. */
export function Relative({ at }: { at: number }) {
  const reader = useReader();
  return <span className="more">{describeRelative(at, useNow(), reader)}</span>;
}

/* No date is later than this. */
const lastTime = 8.64e15;

/** A time of the log, in the reader's zone, and how far away it is. */
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
