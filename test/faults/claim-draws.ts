import { busyMs, type ClaimSchedule, type Fate } from './claim-schedules.ts';

/** When the world of a schedule begins, by its clock. */
export const beginning = 1_000_000;

/** How long the world has been there, in milliseconds. `Date` must be a fake one. */
export function worldTime(): number {
  return Date.now() - beginning;
}

/** Whether nothing goes wrong any more. */
export function isQuiet(): boolean {
  return worldTime() >= busyMs;
}

/** What a schedule says of all that happens, in the order in which it happens. */
export class ClaimDraws {
  readonly keepsOrder: boolean;
  readonly fate: () => Fate;
  readonly mute: () => boolean;
  readonly delay: () => number;
  readonly failure: () => ClaimSchedule['failures'][number];
  readonly labour: () => number;
  readonly overload: () => boolean;

  constructor({ keepsOrder, fates, mutes, delays, failures, labours, overloads }: ClaimSchedule) {
    this.keepsOrder = keepsOrder;
    this.fate = drawFrom(fates, [1]);
    this.mute = drawFrom(mutes, false);
    this.delay = drawFrom(delays, 0);
    this.failure = drawFrom(failures, undefined);
    this.labour = drawFrom(labours, 0);
    this.overload = drawFrom(overloads, false);
  }
}

/** Draws from a list in turn, and what is well when it has ended or all is quiet. */
function drawFrom<VALUE>(list: readonly VALUE[], well: VALUE): () => VALUE {
  let drawn = 0;
  return () => (isQuiet() ? well : (list[drawn++] ?? well));
}
