import type { Flight } from '../flights.ts';
import { readBudget } from './read-budget.ts';
import { addDays, readDate } from './read-date.ts';
import { readCity, readPassenger, withoutUnwanted } from './read-place.ts';

/** A flight that somebody wants, as far as they said. */
export interface Wish {
  city?: string;
  /** YYYY-MM-DD */
  date?: string;
  maxPrice?: number;
  passenger?: string;
  /** When it may depart: HH:MM, both ends left out. */
  departs?: { after?: string; before?: string };
}

/** What a text says about the flight that is wanted. What it doesn't mention is absent. */
export function readWish(text: string, today: string): Wish {
  const wanted = withoutUnwanted(text);
  return withoutGaps({
    city: readCity(wanted),
    date: readDate(wanted, today),
    maxPrice: readBudget(wanted),
    passenger: readPassenger(wanted),
    departs: readTime(wanted),
  });
}

/** What the reason of a rejection asks for instead of the flight that was rejected. */
export function readChange(reason: string, rejected: Flight, today: string): Wish {
  const { date, departs, price } = rejected;
  const otherDay = /\b(?:next day|day (?:after(?! tomorrow)|later))\b/i.test(reason)
    ? addDays(date, 1)
    : /\bday (?:before|earlier)\b/i.test(reason)
      ? addDays(date, -1)
      : undefined;
  return {
    ...withoutGaps({
      date: otherDay,
      maxPrice: /\b(?:cheaper|expensive|dear|too much)\b/i.test(reason) ? price - 1 : undefined,
      departs: otherDay === undefined ? readShift(reason, departs) : undefined,
    }),
    ...readWish(reason, today),
  };
}

function readTime(text: string): Wish['departs'] {
  if (/\bmorning\b/i.test(text)) return { before: '12:00' };
  if (/\bafternoon\b/i.test(text)) return { after: '12:00', before: '18:00' };
  if (/\b(?:evening|tonight|night)\b/i.test(text)) return { after: '17:00' };
  return undefined;
}

function readShift(text: string, departs: string): Wish['departs'] {
  if (/\b(?:later|too early)\b/i.test(text)) return { after: departs };
  if (/\b(?:earlier|sooner|too late)\b/i.test(text)) return { before: departs };
  return undefined;
}

function withoutGaps(wish: { [KEY in keyof Wish]: Wish[KEY] | undefined }): Wish {
  return Object.fromEntries(Object.entries(wish).filter(([, value]) => value !== undefined));
}
