/** Known cities, each with its other names; case does not matter. */
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
  ['New York', ['new york', 'nyc']],
  ['Paris', ['paris']],
  ['Prague', ['prague', 'praha']],
  ['Rome', ['rome', 'roma']],
  ['Vienna', ['vienna', 'wien']],
]);

const anyCity = [...cities.values()].flat().join('|');
const known = new RegExp(`(?<!\\p{L})(${anyCity})(?!\\p{L})`, 'iu');
const knownAsGoal = new RegExp(`(?<!\\p{L})(?:to|in|visit)\\s+(${anyCity})(?!\\p{L})`, 'iu');
const unwanted = new RegExp(
  `(?<!\\p{L})(?:from|instead of|rather than|not(?: to| on)?)\\s+(?!(?:more|over|above) )(?:${anyCity}|[\\p{L}-]+)`,
  'giu',
);
const properName = "(\\p{Lu}[\\p{L}'’-]+(?:\\s\\p{Lu}[\\p{L}'’-]+)*)";
const otherGoal = new RegExp(`\\b(?:to|To|visit|Visit)\\s+${properName}`, 'u');
const somebody = new RegExp(`\\b(?:for|For|passenger)\\s+${properName}`, 'gu');
const dayOrMonth =
  /^(?:(?:mon|tues|wednes|thurs|fri|satur|sun)day|today|tomorrow|january|february|march|april|may|june|july|august|september|october|november|december)$/i;

/** The text without the places and days that it excludes: "not Paris", "from Berlin", "instead of Friday". */
export function withoutUnwanted(text: string): string {
  return text.replace(unwanted, ' ');
}

/** The destination in a text: a known city, or any capitalised name after "to". */
export function readCity(text: string): string | undefined {
  const name = (knownAsGoal.exec(text) ?? known.exec(text))?.[1]?.toLowerCase();
  if (name === undefined) return withoutDays(otherGoal.exec(text)?.[1]);
  return [...cities].find(([, aliases]) => aliases.includes(name))?.[0];
}

/** The passenger in a text: a name after "for". */
export function readPassenger(text: string): string | undefined {
  const names = [...text.matchAll(somebody)].map(([, name]) => withoutDays(name));
  return names.find((name) => name !== undefined && !known.test(name));
}

/* "to Oslo Friday" means Oslo, and "for Friday" names no passenger. */
function withoutDays(name: string | undefined): string | undefined {
  const words = name?.split(/\s/) ?? [];
  const end = words.findIndex((word) => dayOrMonth.test(word));
  return words.slice(0, end === -1 ? words.length : end).join(' ') || undefined;
}
