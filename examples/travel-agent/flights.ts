import { z } from 'zod';

/** A flight that can be booked. Prices are whole euros. */
export const flightSchema = z.object({
  flightId: z.string(),
  to: z.string(),
  date: z.string(),
  departs: z.string(),
  minutes: z.number(),
  price: z.number(),
});

/** A flight that can be booked. */
export type Flight = z.infer<typeof flightSchema>;

const departures = ['06:40', '09:15', '11:50', '14:30', '17:45', '20:20'];

/** The flights of a day, made up: always the same for a city and a day. */
export function flightsOf(to: string, date: string): Flight[] {
  const seed = hash(`${to.toLowerCase()} ${date}`);
  return departures.map((_, index) => ({
    flightId: `HP${100 + ((seed + index * 137) % 900)}`,
    to,
    date,
    departs: departures[(seed + index * 5) % departures.length] ?? '12:00',
    minutes: 95 + (seed % 60) + (departures.length - index) * 25,
    price: 59 + (seed % 31) + index * 41 + ((seed >>> (index * 4)) & 15),
  }));
}

/* FNV-1a */
function hash(text: string): number {
  let value = 0x811c9dc5;
  for (const character of text) {
    value = Math.imul(value ^ (character.codePointAt(0) ?? 0), 0x01000193) >>> 0;
  }
  return value;
}
