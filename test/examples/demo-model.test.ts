import { generateText, type ModelMessage, streamText, type ToolResultPart } from 'ai';
import { userChoice } from 'holdpoint/tools';
import { describe, expect, it } from 'vitest';
import { readWish } from '../../examples/travel-agent/demo-model/read-wish.ts';
import { demoModel } from '../../examples/travel-agent/demo-model.ts';
import { travelTools } from '../../examples/travel-agent/tools.ts';

const request = 'Book me a flight to Paris on Friday, under 300';
/** A Saturday. */
const today = '2026-11-21';

describe('the demo model', () => {
  it.each([
    [
      'Book me a flight to Paris on Friday, under 300',
      { city: 'Paris', date: '2026-11-27', maxPrice: 300 },
    ],
    ['fly me to LONDON tomorrow', { city: 'London', date: '2026-11-22' }],
    [
      'I would like to go to Rome on 2026-12-03, max 250 euros',
      { city: 'Rome', date: '2026-12-03', maxPrice: 250 },
    ],
    ['berlin today for €200', { city: 'Berlin', date: '2026-11-21', maxPrice: 200 }],
    [
      'Madrid next Tuesday, at most 180 EUR, for Ada Lovelace',
      { city: 'Madrid', date: '2026-11-24', maxPrice: 180, passenger: 'Ada Lovelace' },
    ],
    [
      'A ticket to Wien, day after tomorrow, no more than 1,200',
      { city: 'Vienna', date: '2026-11-23', maxPrice: 1200 },
    ],
    ['Lisbon on 3 December please', { city: 'Lisbon', date: '2026-12-03' }],
    [
      'to Prague on December 3rd, budget 99.50',
      { city: 'Prague', date: '2026-12-03', maxPrice: 99.5 },
    ],
    ['from Berlin to Athens on sat', { city: 'Athens', date: '2026-11-28' }],
    [
      'NYC in two weeks, 400 dollars or less',
      { city: 'New York', date: '2026-12-05', maxPrice: 400 },
    ],
    [
      'Barcelona on wed morning',
      { city: 'Barcelona', date: '2026-11-25', departs: { before: '12:00' } },
    ],
    [
      'something to Dublin tonight below $150',
      { city: 'Dublin', date: '2026-11-21', maxPrice: 150, departs: { after: '17:00' } },
    ],
    [
      'Please book Amsterdam for Sunday up to 120€',
      { city: 'Amsterdam', date: '2026-11-22', maxPrice: 120 },
    ],
    [
      'a flight to Oslo Friday evening',
      { city: 'Oslo', date: '2026-11-27', departs: { after: '17:00' } },
    ],
    ['not Paris, Copenhagen on 5 January', { city: 'Copenhagen', date: '2027-01-05' }],
    ['instead of Friday on Monday', { date: '2026-11-23' }],
    ['in 3 days', { date: '2026-11-24' }],
    ['150', { maxPrice: 150 }],
    [
      'not more than 150, and in the afternoon',
      { maxPrice: 150, departs: { after: '12:00', before: '18:00' } },
    ],
    ['I only have 120', { maxPrice: 120 }],
    ['nobody for Friday, but a seat for Jane Doe', { date: '2026-11-27', passenger: 'Jane Doe' }],
    ["please don't spend more than EUR 250", { maxPrice: 250 }],
    ['for 2 people within 3 days', {}],
    ['after 9:30, not on Friday', { departs: { after: '09:30' } }],
    ['on 2026-02-30', {}],
    ['Thanks, that is all!', {}],
  ])('reads %j', (text, wish) => {
    expect(readWish(text, today)).toEqual(wish);
  });

  it.each([
    ['HP202 at 11:50, 1 h 40 min, 150 EUR', 'HP202'],
    ['hp101', 'HP101'],
    ['2', 'HP202'],
    ['the cheapest one', 'HP303'],
    ['the cheaper one please', 'HP303'],
    ['whatever', 'HP303'],
    ['the fastest', 'HP202'],
    ['first one', 'HP101'],
    ['the earliest', 'HP101'],
    ['the second', 'HP202'],
    ['the third one', 'HP303'],
    ['the last one', 'HP303'],
    ['the one at 6:40', 'HP101'],
  ])('takes the answer %j for the choice of a flight', async (answer, flightId) => {
    const said = await answerTo(offered(answer));
    expect(said.toolCalls).toMatchObject([{ toolName: 'bookFlight', input: { flightId } }]);
  });

  it.each([
    ['something in the morning', { before: '12:00' }],
    ['an earlier one', { before: '06:40' }],
    ['later', { after: '20:20' }],
    ['no, after 12:00 please', { after: '12:00' }],
    ['cheaper', { maxPrice: 89 }],
    ['the cheapest one on Saturday', { date: '2026-11-28' }],
    ['the next day', { date: '2026-11-28' }],
    ['rather Rome', { to: 'Rome' }],
    ['Vienna on Sunday', { to: 'Vienna', date: '2026-11-22', maxPrice: undefined }],
  ])('takes the answer %j for another wish', async (answer, change) => {
    const said = await answerTo(offered(answer));
    const [call] = said.toolCalls;
    expect(call?.toolName).toBe('searchFlights');
    expect(call?.input).toEqual({ ...wish, ...change });
  });

  it('asks again where it can make nothing of an answer', async () => {
    const said = await answerTo(offered('the blue one'));
    expect(said.text).toBe('I did not understand that.');
    const [question] = (await answerTo(offered('the blue one').slice(0, -2))).toolCalls;
    expect(said.toolCalls).toMatchObject([{ toolName: 'user_choice', input: question?.input }]);
  });

  it.each(['cancelled', 'none of these', 'never mind'])(
    'books nothing when the answer is %j',
    async (answer) => {
      const said = await answerTo(offered(answer));
      expect(said.text).toMatch(/^Nothing was booked/);
      expect(said.toolCalls).toEqual([]);
    },
  );

  it('asks for the city and the day by questions, and takes any name for a city', async () => {
    const start: ModelMessage[] = [{ role: 'user', content: 'I need a flight' }];
    expect((await answerTo(start)).toolCalls).toMatchObject([
      { input: { question: 'Where would you like to fly?' } },
    ]);
    const city = [...start, ...called('user_choice', {}, { type: 'text', value: 'Timbuktu' })];
    expect((await answerTo(city)).toolCalls).toMatchObject([
      { input: { question: 'On which day would you like to fly to Timbuktu?' } },
    ]);
    const day = [...city, ...called('user_choice', {}, { type: 'text', value: 'in two weeks' })];
    expect((await answerTo(day)).toolCalls).toMatchObject([
      { toolName: 'searchFlights', input: { to: 'Timbuktu', date: '2026-12-05' } },
    ]);
  });

  it.each([
    ['cheaper', { maxPrice: 216 }],
    ['under 100', { maxPrice: 100 }],
    ['the day after please', { date: '2026-11-28' }],
    ['Saturday', { date: '2026-11-28' }],
    ['later', { after: '17:45' }],
    ['something earlier', { before: '17:45' }],
    ['in the morning', { before: '12:00' }],
    ['rather to Rome', { to: 'Rome' }],
    ['too dear', { maxPrice: 216 }],
    ['an earlier one', { before: '17:45' }],
  ])('searches again after the rejection %j', async (reason, change) => {
    const said = await answerTo(rejected(reason));
    expect(said.toolCalls).toMatchObject([
      {
        toolName: 'searchFlights',
        input: { to: 'Paris', date: '2026-11-27', maxPrice: 300, ...change },
      },
    ]);
  });

  it.each([undefined, 'I have changed my mind.'])('books nothing after %j', async (reason) => {
    const said = await answerTo(rejected(reason));
    expect(said.text).toMatch(/^Nothing was booked/);
    expect(said.toolCalls).toEqual([]);
  });

  it('does not offer the rejected flight again when it searches on the same day', async () => {
    const flights = [
      { flightId: 'HP116', departs: '17:45', minutes: 120, price: 217 },
      { flightId: 'HP303', departs: '20:20', minutes: 120, price: 290 },
      { flightId: 'HP404', departs: '06:40', minutes: 120, price: 180 },
    ];
    const again = [...rejected('under 300'), ...found(...flights).slice(1)];
    const [offer] = (await answerTo(again)).toolCalls;
    expect(JSON.stringify(offer)).toContain('HP303');
    expect(JSON.stringify(offer)).toContain('HP404');
    expect(JSON.stringify(offer)).not.toContain('HP116');
    const none = [...rejected('under 300'), ...found(...flights.slice(0, 1)).slice(1)];
    const said = await answerTo(none);
    expect([said.toolCalls, said.text]).toEqual([
      [],
      expect.stringContaining('I found no other flight to Paris'),
    ]);
  });

  it('books what the reason of a rejection names instead', async () => {
    const said = await answerTo(rejected('rather the one at 20:20'));
    expect(said.toolCalls).toMatchObject([
      { toolName: 'bookFlight', input: { flightId: 'HP303' } },
    ]);
  });

  it('says the same in a stream', async () => {
    const asked = { model: demoModel(() => today), tools, messages: rejected('cheaper') };
    const { text, toolCalls } = await generateText(asked);
    const streamed = streamText(asked);
    expect(await streamed.text).toBe(text);
    expect(await streamed.toolCalls).toEqual(toolCalls);
  });
});

const { searchFlights, bookFlight } = travelTools({ bookingsPath: '/dev/null', airlineMs: 0 });
const tools = {
  searchFlights: { ...searchFlights, execute: undefined },
  bookFlight: { ...bookFlight, execute: undefined },
  user_choice: userChoice(),
};
const wish = { to: 'Paris', date: '2026-11-27', maxPrice: 300 };

async function answerTo(messages: ModelMessage[]) {
  return generateText({ model: demoModel(() => today), messages, tools });
}

/** A call and its result. */
function called(
  toolName: string,
  input: object,
  output: ToolResultPart['output'],
): [ModelMessage, ModelMessage] {
  const call = { toolCallId: crypto.randomUUID(), toolName };
  return [
    { role: 'assistant', content: [{ type: 'tool-call', ...call, input }] },
    { role: 'tool', content: [{ type: 'tool-result', ...call, output }] },
  ];
}

/** A conversation in which flights to Paris were found. */
function found(
  ...flights: { flightId: string; departs: string; minutes: number; price: number }[]
) {
  const { to, date } = wish;
  const value = flights.map((flight) => ({ ...flight, to, date }));
  return [
    { role: 'user' as const, content: request },
    ...called('searchFlights', wish, { type: 'json', value }),
  ];
}

/** A conversation in which three flights were offered, and answered with a text. */
function offered(answer: string): ModelMessage[] {
  const flights = [
    { flightId: 'HP101', departs: '06:40', minutes: 150, price: 200 },
    { flightId: 'HP202', departs: '11:50', minutes: 100, price: 150 },
    { flightId: 'HP303', departs: '20:20', minutes: 120, price: 90 },
  ];
  return [...found(...flights), ...called('user_choice', {}, { type: 'text', value: answer })];
}

/** A conversation in which one of two flights was proposed and rejected. */
function rejected(reason: string | undefined): ModelMessage[] {
  const flight = { flightId: 'HP116', departs: '17:45', minutes: 120, price: 217 };
  const other = { flightId: 'HP303', departs: '20:20', minutes: 120, price: 290 };
  const { to, date } = wish;
  const { minutes: _minutes, ...proposed } = { ...flight, to, date };
  const denied = { type: 'execution-denied' as const, ...(reason && { reason }) };
  return [...found(flight, other), ...called('bookFlight', proposed, denied)];
}
