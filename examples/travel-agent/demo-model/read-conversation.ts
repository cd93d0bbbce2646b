import type { LanguageModel } from 'ai';
import { z } from 'zod';
import { type Flight, flightSchema } from '../flights.ts';
import { readChange, readWish, type Wish } from './read-wish.ts';
import { bookingSchema } from '../tools.ts';

/** The kind of model object that the AI SDK takes. */
export type DemoModel = Extract<LanguageModel, { specificationVersion: 'v4' }>;
/** The messages that a model is given at each step: all it knows. */
export type Prompt = Parameters<DemoModel['doGenerate']>[0]['prompt'];

type Message = Prompt[number];
type ResultPart = Extract<
  Extract<Message, { role: 'tool' }>['content'][number],
  { output: unknown }
>;

/** The latest thing that happened: what the model reacts to. */
type News =
  | { type: 'said'; understood: boolean }
  | { type: 'found' }
  | { type: 'booked'; confirmation: string }
  | { type: 'rejected'; understood: boolean }
  | { type: 'failed'; error: string };

/** A conversation as the demo model understands it. */
export interface Conversation {
  wish: Wish;
  /** What the latest search found. */
  found: Flight[];
  /** What was proposed last. */
  proposed?: Flight;
  news: News;
}

const searchSchema = z.object({ to: z.string(), date: z.string() });
const confirmationSchema = z.object({ confirmation: z.string() });

/** Reads the whole conversation anew; the model remembers nothing between its steps. */
export function readConversation(prompt: Prompt, today: string): Conversation {
  const start: Conversation = { wish: {}, found: [], news: { type: 'said', understood: false } };
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

/* After a booking, and where a text names both city and day, what was wanted before is over. */
function readUser(past: Conversation, text: string, today: string): Conversation {
  const { found, news } = past;
  const proposed = news.type === 'booked' ? undefined : past.proposed;
  const said = proposed === undefined ? readWish(text, today) : readChange(text, proposed, today);
  const anew = news.type === 'booked' || (said.city !== undefined && said.date !== undefined);
  return {
    wish: anew ? said : { ...past.wish, ...said },
    found,
    ...(proposed && { proposed }),
    news: { type: 'said', understood: Object.keys(said).length > 0 },
  };
}

/* The day in the call stands: "tomorrow" must not move when the thread goes on after midnight. */
function readCall(past: Conversation, toolName: string, input: unknown): Conversation {
  if (toolName === 'searchFlights') {
    const search = searchSchema.safeParse(input).data;
    return { ...past, wish: { ...past.wish, ...(search && { date: search.date }) } };
  }
  const flightId = bookingSchema.safeParse(input).data?.flightId;
  const proposed = past.found.find((flight) => flight.flightId === flightId);
  return { ...past, ...(proposed && { proposed }) };
}

function readResult(
  past: Conversation,
  { toolName, output }: ResultPart,
  today: string,
): Conversation {
  if (output.type === 'execution-denied') return readRejection(past, output.reason ?? '', today);
  const value = output.type === 'json' ? output.value : undefined;
  const found = z.array(flightSchema).safeParse(value);
  if (toolName === 'searchFlights' && found.success) {
    return { ...past, found: found.data, news: { type: 'found' } };
  }
  const booked = confirmationSchema.safeParse(value);
  if (booked.success) {
    return { ...past, news: { type: 'booked', confirmation: booked.data.confirmation } };
  }
  const error = output.type === 'error-text' ? output.value : 'It gave no answer I can read.';
  return { ...past, news: { type: 'failed', error } };
}

function readRejection(past: Conversation, reason: string, today: string): Conversation {
  const change = past.proposed === undefined ? {} : readChange(reason, past.proposed, today);
  const understood = Object.keys(change).length > 0;
  return { ...past, wish: { ...past.wish, ...change }, news: { type: 'rejected', understood } };
}

function textOf(content: Extract<Message, { role: 'user' }>['content']): string {
  return content.map((part) => (part.type === 'text' ? part.text : '')).join(' ');
}
