import type { Flight } from '../flights.ts';

type Order = (one: Flight, other: Flight) => number;

const orders: [words: RegExp, order: Order][] = [
  [
    /\b(?:cheapest|lowest|the cheaper|any|either|whatever|you choose)\b/i,
    (a, b) => a.price - b.price,
  ],
  [
    /\b(?:fastest|quickest|shortest|the (?:fast|quick|short)er)\b/i,
    (a, b) => a.minutes - b.minutes,
  ],
  [/\b(?:earliest|first|1st|the earlier)\b/i, (a, b) => a.departs.localeCompare(b.departs)],
  [/\b(?:latest|last|the later)\b/i, (a, b) => b.departs.localeCompare(a.departs)],
];
const ordinals = [/\b(?:second|2nd)\b/i, /\b(?:third|3rd)\b/i, /\b(?:fourth|4th)\b/i];

/** The label of a flight in a list to pick from. */
export function labelOf({ flightId, departs, minutes, price }: Flight): string {
  return `${flightId} at ${departs}, ${Math.floor(minutes / 60)} h ${minutes % 60} min, ${price} EUR`;
}

/** The flight that a text names: by its position in the list, its number or its time. */
export function readFlight(text: string, found: readonly Flight[]): Flight | undefined {
  const place = /^\s*([1-9])\s*$/.exec(text)?.[1];
  if (place !== undefined) return found[Number(place) - 1];
  const number = /\bHP\d{3}\b/i.exec(text)?.[0].toUpperCase();
  const [, hour = '', minute] = /(?<!\b(?:after|before)\s+)\b(\d\d?):(\d\d)\b/i.exec(text) ?? [];
  const time = `${hour.padStart(2, '0')}:${minute}`;
  return found.find(({ flightId, departs }) =>
    number === undefined ? departs === time : flightId === number,
  );
}

/** The flight that a text describes among those found: "the cheapest one", "the second". */
export function readPick(text: string, found: readonly Flight[]): Flight | undefined {
  const ordinal = ordinals.findIndex((words) => words.test(text));
  if (ordinal !== -1) return found[ordinal + 1];
  const order = orders.find(([words]) => words.test(text))?.[1];
  return order && found.toSorted(order)[0];
}

/** Whether a text refuses everything that was offered. */
export function isRefusal(text: string): boolean {
  return /^\s*(?:no|none|nothing|never ?mind|cancel(?:led)?|stop|forget it)\b/i.test(text);
}
