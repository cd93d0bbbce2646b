import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { generateText, type ModelMessage, streamText } from 'ai';
import { type NewThreadEvent, type ThreadStore } from 'holdpoint';
import { sqliteStore } from 'holdpoint/stores/sqlite';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { readWish } from '../../examples/travel-agent/demo-model/read-wish.ts';
import { demoModel } from '../../examples/travel-agent/demo-model.ts';
import { travelTools } from '../../examples/travel-agent/tools.ts';
import { chained } from '../support/chained.ts';

const request = 'Book me a flight to Paris on Friday, under 300';
/** A Saturday. */
const today = '2026-11-21';
const question = '[a]pprove, [r]eject, [q]uit: ';
const bookingSchema = z.object({ price: z.number(), idempotencyKey: z.string() });

/** A folder of the demo's own, and as many starts of the demo in it as a test needs. */
class World implements AsyncDisposable {
  readonly folder: string;
  readonly #demos: Demo[] = [];

  constructor(folder: string) {
    this.folder = folder;
  }

  static async make(): Promise<World> {
    return new World(await mkdtemp(join(tmpdir(), 'holdpoint-demo-')));
  }

  start(): Demo {
    const demo = new Demo(this.folder);
    this.#demos.push(demo);
    return demo;
  }

  async bookings(): Promise<z.infer<typeof bookingSchema>[]> {
    const text = await readFile(join(this.folder, 'bookings.jsonl'), 'utf8').catch(() => '');
    const lines = text.split('\n').filter((line) => line !== '');
    return lines.map((line) => bookingSchema.parse(JSON.parse(line)));
  }

  store(): ThreadStore & Disposable {
    return sqliteStore(join(this.folder, 'threads.sqlite'));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#demos.map((demo) => demo.kill('SIGKILL')));
    await rm(this.folder, { recursive: true });
  }
}

/** The demo as a child process, at the other end of two pipes. */
class Demo {
  readonly #child: ChildProcess;
  readonly #ended: Promise<unknown[]>;
  #unread = '';
  #errors = '';
  #over = false;
  #news = Promise.withResolvers<void>();

  constructor(folder: string) {
    const { AI_GATEWAY_API_KEY: _k, HOLDPOINT_MODEL: _m, FORCE_COLOR: _c, ...rest } = process.env;
    const program = ['--conditions=holdpoint-source', 'examples/travel-agent/main.ts'];
    this.#child = spawn(process.execPath, program, {
      cwd: new URL('../..', import.meta.url),
      env: { ...rest, NO_COLOR: '1', HOLDPOINT_DEMO_DIR: folder },
      stdio: 'pipe',
    });
    this.#ended = once(this.#child, 'close');
    this.#child.once('close', () => {
      this.#over = true;
      this.#news.resolve();
    });
    this.#child.stderr?.on('data', (chunk: Buffer) => (this.#errors += chunk.toString()));
    this.#child.stdout?.on('data', (chunk: Buffer) => {
      this.#unread += chunk.toString();
      this.#news.resolve();
      this.#news = Promise.withResolvers();
    });
  }

  /** What is printed from the last `shows` up to the text. */
  async shows(text: string): Promise<string> {
    for (;;) {
      const end = this.#unread.indexOf(text) + text.length;
      if (end >= text.length) {
        const shown = this.#unread.slice(0, end);
        this.#unread = this.#unread.slice(end);
        return shown;
      }
      if (this.#over || this.#unread.includes('That failed:')) {
        throw new Error(`The demo did not show '${text}': ${this.#unread}${this.#errors}`);
      }
      await this.#news.promise;
    }
  }

  types(...lines: string[]): this {
    this.#child.stdin?.write(lines.map((line) => `${line}\n`).join(''));
    return this;
  }

  /** Closes the input; the exit code, what was still unread, and what was said of errors. */
  async ends(): Promise<{ code: number | null; shown: string; errors: string }> {
    this.#child.stdin?.end();
    return this.#outcome();
  }

  async kill(signal: 'SIGKILL' | 'SIGINT'): Promise<{ code: number | null; shown: string }> {
    this.#child.kill(signal);
    return this.#outcome();
  }

  async #outcome(): Promise<{ code: number | null; shown: string; errors: string }> {
    await this.#ended;
    return { code: this.#child.exitCode, shown: this.#unread, errors: this.#errors };
  }
}

/** The arguments of the call in an approval as it was shown. */
function shownArguments(approval: string): string {
  return /bookFlight\n([^]*?) {2}Why:/.exec(approval)?.[1] ?? `no arguments in: ${approval}`;
}

function shownPrice(approval: string): number {
  return Number(/price +(\d+)/.exec(approval)?.[1]);
}

describe('the travel agent', () => {
  it('books once what was approved, from a pipe that has ended already', async () => {
    await using world = await World.make();
    const demo = world.start().types(request, 'a');
    const { code, shown, errors } = await demo.ends();
    expect(shown).toContain('Booked: ');
    expect({ code, errors }).toEqual({ code: 0, errors: '' });
    const bookings = await world.bookings();
    expect(bookings).toHaveLength(1);
    expect(bookings[0]?.price).toBe(shownPrice(shown));
    expect(bookings[0]?.price).toBeLessThanOrEqual(300);
  });

  it('proposes again within the budget that a rejection names', async () => {
    await using world = await World.make();
    const demo = world.start().types(request);
    const price = shownPrice(await demo.shows(question));
    demo.types('r', `too dear, max ${price - 1} please`);
    const lower = shownPrice(await demo.shows(question));
    expect(lower).toBeLessThan(price);
    await demo.types('yes').shows('Booked: ');
    expect(await world.bookings()).toMatchObject([{ price: lower }]);
  });

  it('books nothing when a rejection has no reason', async () => {
    await using world = await World.make();
    const demo = world.start().types(request);
    await demo.shows(question);
    demo.types('r', '');
    await demo.shows('Nothing was booked.');
    expect(await demo.ends()).toMatchObject({ code: 0, errors: '' });
    expect(await world.bookings()).toEqual([]);
  });

  it.each([
    ['q', (demo: Demo) => demo.types('q').ends()],
    ['the end of the input', (demo: Demo) => demo.ends()],
    ['Ctrl+C', (demo: Demo) => demo.kill('SIGINT')],
  ])('keeps the request when it is left by %s, and books once afterwards', async (_, leave) => {
    await using world = await World.make();
    const before = world.start().types(request);
    const asked = await before.shows(question);
    const { code, shown } = await leave(before);
    expect(code).toBe(0);
    expect(shown).toMatch(/Waiting for your answer: bookFlight .* Come back with: npm start/);
    expect(await world.bookings()).toEqual([]);

    const after = world.start();
    await after.shows('Left from before:');
    const askedAgain = await after.types('1').shows(question);
    expect(shownArguments(askedAgain)).toBe(shownArguments(asked));
    await after.types('a').shows('Booked: ');
    expect((await after.ends()).shown).toContain('Nothing is waiting for you.');
    expect(await world.bookings()).toHaveLength(1);
  });

  it('keeps the request when it is killed', async () => {
    await using world = await World.make();
    const before = world.start().types(request);
    const asked = await before.shows(question);
    await before.kill('SIGKILL');
    const after = world.start();
    const askedAgain = await after.types('').shows(question);
    expect(shownArguments(askedAgain)).toBe(shownArguments(asked));
    await after.types('approve').shows('Booked: ');
    await after.ends();
    expect(await world.bookings()).toHaveLength(1);
  });

  it('takes nothing but a clear yes for an approval', async () => {
    await using world = await World.make();
    const demo = world.start().types(request);
    await demo.shows(question);
    for (const line of ['', ' ', 'ok', 'aa', 'approve?', 'true', 'book it']) {
      await demo.types(line).shows(question);
    }
    expect((await demo.ends()).shown).toContain('Waiting for your answer: bookFlight');
    expect(await world.bookings()).toEqual([]);
  });

  it('starts a new conversation beside the one that waits', async () => {
    await using world = await World.make();
    const before = world.start().types(request);
    await before.shows(question);
    await before.types('q').ends();
    const after = world.start().types('Fly me to Rome tomorrow');
    expect(await after.shows(question)).toContain('"Rome"');
    await after.types('a').shows('Booked: ');
    expect((await after.ends()).shown).toContain('"Paris"');
    expect(await world.bookings()).toHaveLength(1);
  });

  it('asks for what is missing, and starts over at /new', async () => {
    await using world = await World.make();
    const demo = world.start().types('I need a flight');
    await demo.shows('Where would you like to fly?');
    await demo.types('Lisbon').shows('On which day would you like to fly to Lisbon?');
    expect(await demo.types('/new', 'next monday').shows('Where would')).not.toContain('Lisbon');
    await demo.types('to Madrid').shows('"Madrid"');
    expect((await demo.types('q').ends()).code).toBe(0);
  });

  it('goes on where a run was cut off before the model had answered', async () => {
    await using world = await World.make();
    {
      using store = world.store();
      await crashBeforeTheAnswer(store);
    }
    const demo = world.start();
    expect(await demo.shows('Type a number')).toContain(`not answered yet: ${request}`);
    await demo.types('1').shows(question);
    await demo.types('a').shows('Booked: ');
    expect(await world.bookings()).toHaveLength(1);
  });

  it('shows what was typed without obeying it', async () => {
    await using world = await World.make();
    const demo = world.start().types('Fly me to Rome tomorrow for \u202E\u001B[31mme', 'q');
    const { shown } = await demo.ends();
    expect(shown).toContain('\\u{202e}\\u{1b}[31mme');
    expect(shown).not.toContain('\u001B');
  });

  it.each([
    ['is being run, or its run was cut off', 60_000],
    ['was cut off while a call ran', -1],
  ])('says that a conversation %s', async (told, leaseLeft) => {
    await using world = await World.make();
    const before = world.start().types(request);
    await before.shows(question);
    await before.kill('SIGKILL');
    {
      using store = world.store();
      await crashInTheCall(store, Date.now() + leaseLeft);
    }
    const after = world.start();
    expect(await after.shows('You: ')).toContain(told);
    expect(await after.ends()).toMatchObject({ code: 0, errors: '' });
    expect(await world.bookings()).toEqual([]);
  });
});

/** Writes what a run writes that takes a message, and is gone before the model has answered. */
async function crashBeforeTheAnswer(store: ThreadStore): Promise<void> {
  const threadId = 'trip-42';
  const at = Date.now() - 2;
  const leaseUntil = at + 1;
  const summary = { threadId, openRequests: 0, nextDeadline: leaseUntil, updatedAt: at };
  const events = chained([
    { type: 'thread-created', at, threadId },
    { type: 'message-added', at, message: { role: 'user', content: request } },
    { type: 'run-started', at, runId: 'run-that-crashed', leaseUntil },
  ]);
  await store.append(threadId, 0, events, { ...summary, status: 'running', revision: 3 });
}

/** Writes what a run writes that approves the one open request, starts the call, and is gone. */
async function crashInTheCall(store: ThreadStore, leaseUntil: number): Promise<void> {
  const [summary] = await store.list({ status: 'waiting' });
  if (summary === undefined) throw new Error('No thread waits.');
  const { threadId, revision } = summary;
  const before = await store.read(threadId);
  const opened = before.find(({ type }) => type === 'request-opened');
  if (opened?.type !== 'request-opened' || opened.place === undefined)
    throw new Error('No request.');
  const { requestId } = opened.request;
  const { at } = opened;
  const added: NewThreadEvent[] = [
    {
      type: 'request-answered',
      at,
      response: { type: 'approval-response', requestId, approved: true },
    },
    { type: 'run-started', at, runId: 'run-that-crashed', leaseUntil },
    { type: 'call-started', at, ...opened.place },
  ];
  const events = chained(added, before.at(-1)?.hash);
  const after = { status: 'running', revision: revision + 3, nextDeadline: leaseUntil } as const;
  await store.append(threadId, revision, events, { ...summary, openRequests: 0, ...after });
}

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
    ['on 2026-02-30', {}],
    ['Thanks, that is all!', {}],
  ])('reads %j', (text, wish) => {
    expect(readWish(text, today)).toEqual(wish);
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

  it('says the same in a stream', async () => {
    const prompt = 'I need a flight';
    const model = demoModel(() => today);
    const { text } = await generateText({ model, prompt });
    expect(await streamText({ model, prompt }).text).toBe(text);
  });
});

async function answerTo(messages: ModelMessage[]) {
  const { searchFlights, bookFlight } = travelTools('/dev/null');
  const tools = {
    searchFlights: { ...searchFlights, execute: undefined },
    bookFlight: { ...bookFlight, execute: undefined },
  };
  return generateText({ model: demoModel(() => today), messages, tools });
}

/** A conversation in which a flight to Paris was proposed and rejected. */
function rejected(reason: string | undefined): ModelMessage[] {
  const flight = { flightId: 'HP116', to: 'Paris', date: '2026-11-27', price: 217 };
  const search = { toolCallId: '1', toolName: 'searchFlights' };
  const booking = { toolCallId: '2', toolName: 'bookFlight' };
  const found = [{ ...flight, departs: '17:45', minutes: 120 }];
  const denied = { type: 'execution-denied' as const, ...(reason && { reason }) };
  return [
    { role: 'user', content: request },
    {
      role: 'assistant',
      content: [{ type: 'tool-call', ...search, input: { to: 'Paris', date: flight.date } }],
    },
    {
      role: 'tool',
      content: [{ type: 'tool-result', ...search, output: { type: 'json', value: found } }],
    },
    { role: 'assistant', content: [{ type: 'tool-call', ...booking, input: flight }] },
    { role: 'tool', content: [{ type: 'tool-result', ...booking, output: denied }] },
  ];
}
