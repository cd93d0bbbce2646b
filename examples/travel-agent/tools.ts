import { appendFile } from 'node:fs/promises';
import { setTimeout } from 'node:timers/promises';
import { tool } from 'ai';
import type { ToolRunOptions } from 'holdpoint';
import { z } from 'zod';
import { type Flight, flightsOf } from './flights.ts';

const clock = z.string().regex(/^\d\d:\d\d$/);

/** A flight to book: a person is shown exactly this, and exactly this is booked. */
export const bookingSchema = z.object({
  flightId: z.string(),
  to: z.string(),
  date: z.iso.date(),
  departs: clock,
  price: z.number().positive().describe('In euros, as searchFlights gave it'),
  passenger: z.string().optional(),
});

/** Searches flights. It changes nothing, so it needs no approval. */
const searchFlights = tool({
  description:
    'Flights to a city on a day: the four cheapest that fit, by departure. Prices are in euros. ' +
    'maxPrice, after and before (departure, HH:MM) narrow the search.',
  inputSchema: z.object({
    to: z.string(),
    date: z.iso.date(),
    maxPrice: z.number().positive().optional(),
    after: clock.optional(),
    before: clock.optional(),
  }),
  execute: ({ to, date, maxPrice = Infinity, after = '00:00', before = '24:00' }): Flight[] =>
    flightsOf(to, date)
      .filter(({ price }) => price <= maxPrice)
      .filter(({ departs }) => departs > after && departs < before)
      .toSorted((one, other) => one.price - other.price)
      .slice(0, 4)
      .toSorted((one, other) => one.departs.localeCompare(other.departs)),
});

/** The tools of the travel agent. Each booking appends a line to a file and takes `airlineMs`. */
export function travelTools({
  bookingsPath,
  airlineMs,
}: {
  bookingsPath: string;
  airlineMs: number;
}) {
  const bookFlight = tool({
    description: 'Books one flight that searchFlights found. It costs money.',
    inputSchema: bookingSchema,
    execute: async (booking, { idempotencyKey }: ToolRunOptions) => {
      const { flightId, to, date, departs, price } = booking;
      const flight = flightsOf(to, date).find((found) => found.flightId === flightId);
      if (flight?.price !== price || flight.departs !== departs) {
        throw new Error(
          `There is no flight ${flightId} to ${to} on ${date} at ${departs} for ${price} EUR.`,
        );
      }
      const confirmation = `${flightId}-${date.replaceAll('-', '')}`;
      /* A real airline would receive the key, to recognise a repeated call. */
      const line = JSON.stringify({ confirmation, ...booking, idempotencyKey });
      await appendFile(bookingsPath, `${line}\n`, { flush: true });
      await setTimeout(airlineMs);
      return { confirmation };
    },
  });
  return { searchFlights, bookFlight };
}
