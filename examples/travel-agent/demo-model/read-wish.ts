import type { Flight } from '../flights.ts';
import { readBudget } from './read-budget.ts';
import { addDays, readDate } from './read-date.ts';
import { readCity, readPassenger, withoutUnwanted } from './read-place.ts';

/** What is known of the flight that a person wants. */
export interface Wish {
  city?: string;
  /** YYYY-MM-DD */
  date?: string;
  maxPrice?: number;
  passenger?: string;
  /** When it may depart, as HH:MM; both times are excluded. */
  departs?: { after?: string; before?: string };
}

/** Reads the wish in a text. What the text doesn't mention is absent. */
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

/** Reads how a text changes the wish after flights were shown. */
export function readChange(text: string, shown: readonly Flight[], today: string): Wish {
  const [first] = shown;
  if (first === undefined) return readWish(text, today);
  const otherDay = /\b(?:next day|day (?:after(?! tomorrow)|later))\b/i.test(text)
    ? addDays(first.date, 1)
    : /\bday (?:before|earlier)\b/i.test(text)
      ? addDays(first.date, -1)
      : undefined;
  const lowest = Math.min(...shown.map(({ price }) => price));
  return {
    ...withoutGaps({
      date: otherDay,
      maxPrice: tooDear.test(text) ? lowest - 1 : undefined,
      departs: otherDay === undefined ? readShift(text, shown) : undefined,
    }),
    ...readWish(text, today),
  };
}

/* "The cheaper one" is one of the flights shown. */
const tooDear = /(?<!\bthe )\b(?:cheaper|(?:too|so|less) (?:dear|expensive|much))\b/i;
const later = /(?<!\bthe )\b(?:later|too early)\b/i;
const earlier = /(?<!\bthe )\b(?:earlier|sooner|too late)\b/i;

function readTime(text: string): Wish['departs'] {
  const [, side, hour = '', minute] = /\b(after|before)\s+(\d\d?):(\d\d)\b/i.exec(text) ?? [];
  const time = `${hour.padStart(2, '0')}:${minute}`;
  if (side !== undefined)
    return side.toLowerCase() === 'after' ? { after: time } : { before: time };
  if (/\b(?:morning|before noon)\b/i.test(text)) return { before: '12:00' };
  if (/\bafternoon\b/i.test(text)) return { after: '12:00', before: '18:00' };
  if (/\b(?:evening|tonight|night)\b/i.test(text)) return { after: '17:00' };
  return undefined;
}

function readShift(text: string, shown: readonly Flight[]): Wish['departs'] {
  const times = shown.map(({ departs }) => departs).toSorted();
  if (later.test(text)) return { after: times.at(-1) ?? '' };
  if (earlier.test(text)) return { before: times[0] ?? '' };
  return undefined;
}

function withoutGaps(wish: { [KEY in keyof Wish]: Wish[KEY] | undefined }): Wish {
  return Object.fromEntries(Object.entries(wish).filter(([, value]) => value !== undefined));
}
