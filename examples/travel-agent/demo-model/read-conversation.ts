import { z } from 'zod';
import type { Prompt } from '../../demo-language-model.ts';
import { type Flight, flightSchema } from '../flights.ts';
import { bookingSchema } from '../tools.ts';
import { isRefusal, readFlight, readPick } from './read-pick.ts';
import { readChange, type Wish } from './read-wish.ts';

type Message = Prompt[number];
type ResultPart = Extract<
  Extract<Message, { role: 'tool' }>['content'][number],
  { output: unknown }
>;

/** The latest event of the conversation: the model reacts to it. */
type LatestEvent =
  | { type: 'wished' | 'found' | 'refused' | 'thanked' | 'unclear' }
  | { type: 'picked'; flight: Flight }
  | { type: 'booked'; confirmation: string }
  | { type: 'failed'; error: string };

/** A conversation as the demo model understands it. */
export interface Conversation {
  wish: Wish;
  /** The flights of the latest search. */
  found: Flight[];
  /** The flight that was proposed last. */
  proposed?: Flight | undefined;
  /** The flights that a person rejected, by number and day: they are not offered again. */
  rejected: string[];
  latest: LatestEvent;
}

const searchSchema = z.object({ to: z.string(), date: z.string() });
const confirmationSchema = z.object({ confirmation: z.string() });

/** Reads the whole conversation; the model keeps nothing between its steps. */
export function readConversation(prompt: Prompt, today: string): Conversation {
  const start: Conversation = { wish: {}, found: [], rejected: [], latest: { type: 'wished' } };
  return prompt.reduce((past, message) => readMessage(past, message, today), start);
}

function readMessage(past: Conversation, message: Message, today: string): Conversation {
  switch (message.role) {
    case 'system':
      return past;
    case 'user':
      return readUser(past, textOf(message.content), today);
    case 'assistant':
      return message.content.reduce(
        (before, part) =>
          part.type === 'tool-call' ? readCall(before, part.toolName, part.input) : before,
        past,
      );
    case 'tool':
      return message.content.reduce(
        (before, part) => (part.type === 'tool-result' ? readResult(before, part, today) : before),
        past,
      );
  }
}

/* A booking completes the earlier wish. */
function readUser(past: Conversation, text: string, today: string): Conversation {
  const isOver = past.latest.type === 'booked' || past.latest.type === 'thanked';
  const latest: LatestEvent = { type: isOver ? 'thanked' : 'wished' };
  const said = readReply(
    isOver ? { wish: {}, found: [], rejected: [], latest } : past,
    text,
    today,
  );
  return said.latest.type === 'unclear' ? { ...said, latest } : said;
}

/* The day in the call counts: "tomorrow" must not change if the thread resumes after midnight. */
function readCall(past: Conversation, toolName: string, input: unknown): Conversation {
  if (toolName === 'searchFlights') {
    const search = searchSchema.safeParse(input).data;
    return { ...past, wish: { ...past.wish, ...(search && { date: search.date }) } };
  }
  if (toolName !== 'bookFlight') return past;
  const flightId = bookingSchema.safeParse(input).data?.flightId;
  return { ...past, proposed: past.found.find((flight) => flight.flightId === flightId) };
}

function readResult(
  past: Conversation,
  { toolName, output }: ResultPart,
  today: string,
): Conversation {
  if (output.type === 'execution-denied') {
    const { proposed } = past;
    const rejected = [...past.rejected, ...(proposed === undefined ? [] : [identify(proposed)])];
    return readRejection({ ...past, rejected }, output.reason ?? '', today);
  }
  if (toolName === 'user_choice' && output.type === 'text') {
    return readChoice(past, output.value, today);
  }
  const value = output.type === 'json' ? output.value : undefined;
  const found = z.array(flightSchema).safeParse(value).data;
  if (toolName === 'searchFlights' && found !== undefined) {
    const offered = found.filter((flight) => !past.rejected.includes(identify(flight)));
    return { ...past, found: offered, proposed: undefined, latest: { type: 'found' } };
  }
  const booked = confirmationSchema.safeParse(value).data;
  if (booked !== undefined) return { ...past, latest: { type: 'booked', ...booked } };
  const error = output.type === 'error-text' ? output.value : "The tool's result can't be read.";
  return { ...past, latest: { type: 'failed', error } };
}

/* When people are asked for a city, they often answer with its name only. */
function readChoice(past: Conversation, text: string, today: string): Conversation {
  const chosen = readReply(past, text, today);
  const isCity = chosen.latest.type === 'unclear' && past.wish.city === undefined;
  return isCity
    ? { ...past, wish: { ...past.wish, city: text }, latest: { type: 'wished' } }
    : chosen;
}

function readRejection(past: Conversation, reason: string, today: string): Conversation {
  const said = readReply(past, reason, today);
  return said.latest.type === 'unclear' ? { ...said, latest: { type: 'refused' } } : said;
}

/* A named flight, a changed wish, or one of the flights found; in this order, as "the last one on Monday" is a wish. */
function readReply(past: Conversation, text: string, today: string): Conversation {
  const { wish, found, proposed } = past;
  const offered = found.filter((flight) => !past.rejected.includes(identify(flight)));
  const named = readFlight(text, offered);
  if (named !== undefined) return { ...past, latest: { type: 'picked', flight: named } };
  const said = readChange(text, proposed === undefined ? found : [proposed], today);
  if (Object.keys(said).length > 0) {
    const isAnew = said.city !== undefined && said.date !== undefined;
    const changed = isAnew ? said : { ...wish, ...said };
    return { ...past, wish: changed, found: [], latest: { type: 'wished' } };
  }
  const flight = readPick(text, offered);
  if (flight !== undefined) return { ...past, latest: { type: 'picked', flight } };
  return { ...past, latest: { type: isRefusal(text) ? 'refused' : 'unclear' } };
}

function identify({ flightId, date }: Flight): string {
  return `${flightId} ${date}`;
}

function textOf(content: Extract<Message, { role: 'user' }>['content']): string {
  return content.map((part) => (part.type === 'text' ? part.text : '')).join(' ');
}
