import type { Flight } from '../flights.ts';
import type { Conversation } from './read-conversation.ts';
import { knownCities } from './read-place.ts';
import type { Wish } from './read-wish.ts';

/** What the model does next: it says something, and may call one tool. */
export interface Turn {
  text?: string;
  call?: { toolName: 'searchFlights' | 'bookFlight'; input: object };
}

const dayFormat = new Intl.DateTimeFormat('en-GB', {
  weekday: 'long',
  day: 'numeric',
  month: 'long',
  timeZone: 'UTC',
});

/** The model's next turn. */
export function decideTurn({ wish, found, proposed, news }: Conversation, today: string): Turn {
  switch (news.type) {
    case 'said':
      return news.understood ? search(wish, today) : { text: askFor(wish, today) ?? whatElse };
    case 'found':
      return propose(wish, found);
    case 'booked':
      return { text: confirm(news.confirmation, wish, proposed) };
    case 'rejected':
      return news.understood ? search(wish, today) : { text: `Nothing was booked. ${whatElse}` };
    case 'failed':
      return { text: `That did not work: ${news.error} ${whatElse}` };
  }
}

const iKnow = `I know ${knownCities.join(', ')}; for another city say "to" and its name.`;
const whatElse = 'Tell me another city, day, time or budget, and I will look again.';

function askFor({ city, date }: Wish, today: string): string | undefined {
  if (city === undefined) return `Where would you like to fly? ${iKnow}`;
  if (date === undefined) return `On which day would you like to fly to ${city}?`;
  return date < today ? `${nameOf(date)} is over. On which day would you like to fly?` : undefined;
}

function search(wish: Wish, today: string): Turn {
  const question = askFor(wish, today);
  if (question !== undefined) return { text: question };
  const { city, date, maxPrice, departs } = wish;
  return {
    call: {
      toolName: 'searchFlights',
      input: { to: city, date, ...(maxPrice !== undefined && { maxPrice }), ...departs },
    },
  };
}

function propose(wish: Wish, found: readonly Flight[]): Turn {
  const [cheapest] = found.toSorted((one, other) => one.price - other.price);
  if (cheapest === undefined) return { text: `I found no flight ${termsOf(wish)}. ${whatElse}` };
  const { flightId, to, date, price, departs } = cheapest;
  const passenger = wish.passenger === undefined ? {} : { passenger: wish.passenger };
  const which = found.length === 1 ? 'one flight' : `${found.length} flights`;
  return {
    text: `I found ${which} ${termsOf(wish)}. The cheapest is ${flightId} at ${departs}, for ${price} EUR.`,
    call: { toolName: 'bookFlight', input: { flightId, to, date, price, ...passenger } },
  };
}

function confirm(confirmation: string, wish: Wish, flight: Flight | undefined): string {
  const who = wish.passenger === undefined ? '' : ` for ${wish.passenger}`;
  const what = flight === undefined ? 'The flight' : `${flight.flightId} to ${flight.to}`;
  const when = flight === undefined ? '' : `, ${nameOf(flight.date)} at ${flight.departs}`;
  return `Booked${who}: ${what}${when}. Your confirmation is ${confirmation}. Have a good flight!`;
}

function termsOf({ city, date, maxPrice, departs }: Wish): string {
  return [
    `to ${city} on ${date === undefined ? 'that day' : nameOf(date)}`,
    departs?.after && `after ${departs.after}`,
    departs?.before && `before ${departs.before}`,
    maxPrice && `for ${maxPrice} EUR or less`,
  ]
    .filter(Boolean)
    .join(', ');
}

function nameOf(date: string): string {
  return dayFormat.format(new Date(`${date}T00:00:00Z`));
}
