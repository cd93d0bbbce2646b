import { timer } from '../../content/timer.ts';

/** Waits, in milliseconds; rejects with the signal's reason as soon as it aborts. */
export async function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  await timer(milliseconds, signal);
  signal.throwIfAborted();
}
