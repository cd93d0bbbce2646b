import type { Flight } from '../flights.ts';
import type { Conversation } from './read-conversation.ts';
import { addDays } from './read-date.ts';
import { labelOf } from './read-pick.ts';
import type { Wish } from './read-wish.ts';

/** One step of the model: text, and at most one tool call. */
export interface ModelStep {
  text?: string;
  call?: { toolName: 'searchFlights' | 'bookFlight' | 'user_choice'; input: object };
}

const dayFormat = new Intl.DateTimeFormat('en-GB', {
  weekday: 'long',
  day: 'numeric',
  month: 'long',
  timeZone: 'UTC',
});

/** The model's next step. */
export function decideStep(
  { wish, found, proposed, rejected, latest }: Conversation,
  today: string,
): ModelStep {
  switch (latest.type) {
    case 'wished':
      return search(wish, today);
    case 'found':
      return offer(wish, found, rejected.length > 0);
    case 'picked':
      return book(latest.flight, wish);
    case 'booked':
      return { text: confirm(latest.confirmation, wish, proposed) };
    case 'thanked':
      return { text: `You are welcome.\n${whatElse}` };
    case 'refused':
      return { text: `Nothing was booked.\n${whatElse}` };
    case 'failed':
      return { text: `That did not work: ${latest.error}\n${whatElse}` };
    case 'unclear':
      return { text: 'I did not understand that.', ...again(wish, found, today) };
  }
}

const whatElse = 'Tell me another city, day, time or budget, and I will search again.';
const someCities = ['Lisbon', 'London', 'Paris', 'Rome'];

function search(wish: Wish, today: string): ModelStep {
  const question = askForMissing(wish, today);
  if (question !== undefined) return question;
  const { city, date, maxPrice, departs } = wish;
  return {
    call: {
      toolName: 'searchFlights',
      input: { to: city, date, ...(maxPrice !== undefined && { maxPrice }), ...departs },
    },
  };
}

function askForMissing({ city, date }: Wish, today: string): ModelStep | undefined {
  if (city === undefined) return ask('Where would you like to fly?', someCities);
  if (date !== undefined && date >= today) return undefined;
  const days = [1, 2, 3, 4, 5].map((ahead) => nameOf(addDays(today, ahead)));
  const question = ask(`On which day would you like to fly to ${city}?`, days);
  return date === undefined ? question : { text: `${nameOf(date)} has passed.`, ...question };
}

function offer(wish: Wish, found: readonly Flight[], isAgain: boolean): ModelStep {
  const [only, ...others] = found;
  if (only === undefined)
    return { text: `I found no ${isAgain ? 'other ' : ''}flight ${termsOf(wish)}.\n${whatElse}` };
  const text = `I found ${others.length === 0 ? 'one flight' : `${found.length} flights`} ${termsOf(wish)}.`;
  return { text, ...(others.length === 0 ? book(only, wish) : askWhich(found)) };
}

function again(wish: Wish, found: readonly Flight[], today: string): ModelStep {
  return found.length > 1 ? askWhich(found) : search(wish, today);
}

function askWhich(found: readonly Flight[]): ModelStep {
  return ask('Which flight shall I book?', found.map(labelOf));
}

function ask(question: string, options: readonly string[]): ModelStep {
  return {
    call: { toolName: 'user_choice', input: { question, options: JSON.stringify(options) } },
  };
}

function book({ flightId, to, date, departs, price }: Flight, { passenger }: Wish): ModelStep {
  const input = { flightId, to, date, departs, price, ...(passenger && { passenger }) };
  return { call: { toolName: 'bookFlight', input } };
}

function confirm(confirmation: string, wish: Wish, flight: Flight | undefined): string {
  const who = wish.passenger === undefined ? '' : ` for ${wish.passenger}`;
  const what = flight === undefined ? 'The flight' : `${flight.flightId} to ${flight.to}`;
  const when = flight === undefined ? '' : `, ${nameOf(flight.date)} at ${flight.departs}`;
  return `Booked${who}: ${what}${when}.\nYour confirmation is ${confirmation}. Have a good flight!`;
}

function termsOf({ city, date, maxPrice, departs }: Wish): string {
  return [
    `to ${city} on ${date === undefined ? 'that day' : nameOf(date)}`,
    departs?.after && `after ${departs.after}`,
    departs?.before && `before ${departs.before}`,
    maxPrice && `up to ${maxPrice} EUR`,
  ]
    .filter(Boolean)
    .join(', ');
}

function nameOf(date: string): string {
  return dayFormat.format(new Date(`${date}T00:00:00Z`));
}
