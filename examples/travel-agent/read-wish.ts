import { readDate } from './read-date.ts';

/** A flight that somebody wants, as far as they said. */
export interface Wish {
  city?: string;
  /** YYYY-MM-DD */
  date?: string;
  maxPrice?: number;
  passenger?: string;
  /** When it departs: HH:MM, both ends left out. */
  departs?: { after?: string; before?: string };
}

/** Names in other languages come first among the names of a city where they contain it. */
const cities = new Map([
  ['Amsterdam', ['amsterdam']],
  ['Athens', ['athens', 'athina']],
  ['Barcelona', ['barcelona']],
  ['Berlin', ['berlin']],
  ['Copenhagen', ['copenhagen', 'københavn']],
  ['Dublin', ['dublin']],
  ['Lisbon', ['lisbon', 'lisboa']],
  ['London', ['london']],
  ['Madrid', ['madrid']],
  ['New York', ['new york city', 'new york', 'nyc']],
  ['Paris', ['paris']],
  ['Prague', ['prague', 'praha']],
  ['Rome', ['rome', 'roma']],
  ['Vienna', ['vienna', 'wien']],
]);

/** Some cities the demo model knows in any spelling. Others it takes when they are written as names. */
export const knownCities = [...cities.keys()];

const knownName = [...cities.values()].flat().join('|');
const dayOrMonth =
  '(?:mon|tue|wed|thu|fri|sat|sun|jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|today|tomorrow)';
const properName = `((?!${dayOrMonth.replace(/[a-z]/g, bothCases)})\\p{Lu}[\\p{L}'’-]+(?:\\s\\p{Lu}[\\p{L}'’-]+)*)`;
const refused = new RegExp(
  `\\b(?:from|instead of|rather than|not(?! (?:more|over|above))(?: to| on)?)\\s+(?:${knownName}|[\\p{L}-]+)`,
  'giu',
);
const knownCity = new RegExp(`(?<![\\p{L}])(${knownName})(?![\\p{L}])`, 'iu');
const knownCityTo = new RegExp(`\\b(?:to|in|visit)\\s+(${knownName})(?![\\p{L}])`, 'iu');
const otherCity = new RegExp(`\\b(?:to|visit)\\s+${properName}`, 'u');
const somebody = new RegExp(`\\bfor\\s+${properName}`, 'u');

const amount = '(\\d[\\d.,]*)(?![\\d.,])';
const currency = '(?:€|\\$|£|eur(?:os?)?|dollars?|usd|gbp|pounds?|bucks)';
const limit =
  '(?:under|below|less than|cheaper than|max(?:imum)?(?: of)?|at most|up to|not? more than|(?:not|nothing) (?:over|above)|within|budget(?: is| of)?|<=?)';
const budgets = [
  new RegExp(`${limit}\\s*:?\\s*[€$£]?\\s*${amount}(?!\\s*(?:day|week|hour|stop))`, 'i'),
  new RegExp(`[€$£]\\s*${amount}`),
  new RegExp(`${amount}\\s*${currency}(?!\\p{L})`, 'iu'),
  new RegExp(`${amount}\\s*(?:or (?:less|under|cheaper)|max(?:imum)?\\b|at most|tops)`, 'i'),
  new RegExp(`^\\s*${amount}\\s*$`),
];

/** What a text says about the flight that is wanted. What it doesn't mention is absent. */
export function readWish(text: string, today: string): Wish {
  const wanted = text.replace(refused, ' ');
  return withoutGaps({
    city: readCity(wanted),
    date: readDate(wanted, today),
    maxPrice: readBudget(wanted),
    passenger: readPassenger(wanted),
    departs: readTime(wanted),
  });
}

function readCity(text: string): string | undefined {
  const name = (knownCityTo.exec(text) ?? knownCity.exec(text))?.[1]?.toLowerCase();
  if (name === undefined) return otherCity.exec(text)?.[1];
  return knownCities.find((city) => cities.get(city)?.includes(name));
}

function readBudget(text: string): number | undefined {
  const digits = budgets.map((budget) => budget.exec(text)?.[1]).find((found) => found);
  if (digits === undefined) return undefined;
  const plain = digits.replace(/[.,]$/, '').replace(/[.,](?=\d{3}\b)/g, '');
  const price = Number(plain.replace(',', '.'));
  return price > 0 ? price : undefined;
}

function readPassenger(text: string): string | undefined {
  const name = somebody.exec(text)?.[1];
  return name === undefined || knownCity.test(name) ? undefined : name;
}

function readTime(text: string): Wish['departs'] {
  const [, side, hour, minutes = '00', half] =
    /\b(after|before)\s+(\d{1,2})(?::(\d\d)|(?=\s*[ap]m\b|\s*o'?clock))\s*([ap]m)?/i.exec(text) ?? [];
  if (side !== undefined) {
    const inDay = (Number(hour) % (half === undefined ? 24 : 12)) + (/pm/i.test(half ?? '') ? 12 : 0);
    return { [side.toLowerCase()]: `${String(inDay).padStart(2, '0')}:${minutes}` };
  }
  if (/\bmorning\b/i.test(text)) return { before: '12:00' };
  if (/\bafternoon\b/i.test(text)) return { after: '12:00', before: '18:00' };
  if (/\b(?:evening|tonight|night)\b/i.test(text)) return { after: '17:00' };
  return undefined;
}

function bothCases(letter: string): string {
  return `[${letter}${letter.toUpperCase()}]`;
}

function withoutGaps(wish: { [KEY in keyof Wish]: Wish[KEY] | undefined }): Wish {
  return Object.fromEntries(Object.entries(wish).filter(([, value]) => value !== undefined));
}
