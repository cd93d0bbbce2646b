import type { RequestQuery } from 'holdpoint';
import { type Database, isRepresentative, openDatabase } from '../durable/database.ts';
import { startPostgres } from '../durable/postgres-databases.ts';
import { median, quantile } from '../measure.ts';
import { milliseconds, table } from '../table.ts';
import type { Target } from '../target.ts';
import { TemporaryFiles } from '../temporary-files.ts';
import { fillInbox, writeRequestTexts } from './fill-inbox.ts';
import { timeHandler } from './time-handler.ts';

const mine = ['ada', 'finance', 'legal'];

/** The pages of an inbox that are timed. Of the agents, `booking` has a third of the requests and `rare` a thousandth. */
const pages: Record<string, RequestQuery> = {
  'the oldest': {},
  'by risk': { order: 'risk' },
  'of a tenant': { tenant: 'tenant-8' },
  'of an agent': { agent: 'booking' },
  'of an agent with 0.1 % of the rows': { agent: 'rare' },
  'for a person (three names)': { approver: mine },
  'for a person, by risk': { approver: mine, order: 'risk' },
  'for a person, of an agent': { approver: mine, agent: 'booking' },
  'for a person, of an agent with 0.1 %': { approver: mine, agent: 'rare' },
  'what was decided last': { state: 'decided', order: 'decided' },
  'what was decided last, of an agent with 0.1 %': {
    agent: 'rare',
    state: 'decided',
    order: 'decided',
  },
};

/** How long each page took, in milliseconds. */
interface InboxResult {
  name: string;
  times: Map<string, number[]>;
  /** Of what a page asks of `createInboxHandler`. */
  handled: Map<string, number[]>;
}

const limitMs = 5;
/* From request to pixels a page of an inbox has 200 ms, of which the page needs the rest. */
const handlerLimitMs = 100;

/** Times pages of an inbox with 100,000 open requests on SQLite and Postgres, prints what it finds, and gives the targets. */
export async function runInbox(quick: boolean): Promise<Target[]> {
  using files = new TemporaryFiles();
  await using postgres = await startPostgres();
  if (postgres.problem !== undefined) console.log(`Without Postgres: ${postgres.problem}\n`);
  const rounds = quick ? 20 : 200;
  const results: InboxResult[] = [];
  for (const database of [files.database(), ...postgres.databases.filter(isRepresentative)]) {
    results.push(await measurePages(database, rounds));
  }
  console.log(`
Pages of an inbox: 100 of 100,000 open requests and as many decided ones, among 100,000 threads on SQLite and 1,000,000 on Postgres.
Medians, and what nine of ten pages take at most, in ms, of ${rounds} rounds, from one process on the same machine.

${inboxTable(results)}

The same through \`createInboxHandler\`, with rights, entries and JSON, for a page of 50.

${handlerTable(results)}
`);
  return [...results.map(inboxTarget), ...results.map(handlerTarget)];
}

async function measurePages(database: Database, rounds: number): Promise<InboxResult> {
  await fillInbox(database);
  await using open = openDatabase(database);
  const name = database.kind === 'sqlite' ? 'SQLite' : 'Postgres';
  const times = await timePages(open.store.requests, rounds);
  await writeRequestTexts(database);
  return { name, times, handled: await timeHandler(open.store, rounds) };
}

async function timePages(
  requests: { list(query: RequestQuery): Promise<readonly unknown[]> } | undefined,
  rounds: number,
): Promise<Map<string, number[]>> {
  const times = new Map(Object.keys(pages).map((name): [string, number[]] => [name, []]));
  /* The first rounds fill caches. */
  for (let round = -10; round < rounds; round += 1) {
    for (const [name, query] of Object.entries(pages)) {
      const begin = performance.now();
      const rows = await requests?.list({ state: 'open', at: 10, ...query });
      const took = performance.now() - begin;
      if (rows === undefined || rows.length < 99) throw new Error(`The page ${name} is short.`);
      if (round >= 0) times.get(name)?.push(took);
    }
  }
  return times;
}

function inboxTable(results: readonly InboxResult[]): string {
  const named = results.map(({ name, times }) => ({ name, times }));
  return timesTable('a page', named, 0.9);
}

function handlerTable(results: readonly InboxResult[]): string {
  const named = results.map(({ name, handled }) => ({ name, times: handled }));
  return timesTable('a request', named, 0.95);
}

/** Medians and a quantile, a row for each thing that was timed. */
function timesTable(
  what: string,
  results: readonly { name: string; times: ReadonlyMap<string, number[]> }[],
  part: number,
): string {
  const head = [what, ...results.flatMap(({ name }) => [name, `${part * 100} %`])];
  const names = [...(results[0]?.times.keys() ?? [])];
  const rows = names.map((name) => [
    name,
    ...results.flatMap(({ times }) => {
      const samples = times.get(name) ?? [];
      return [milliseconds(median(samples)), milliseconds(quantile(samples, part))];
    }),
  ]);
  return table(head, rows);
}

function handlerTarget({ name, handled }: InboxResult): Target {
  const found = quantile(handled.get('first page of mine') ?? [], 0.95);
  return {
    name: `the first page of mine within ${handlerLimitMs} ms for 95 of 100, ${name}`,
    reached: found <= handlerLimitMs,
    found: `${milliseconds(found)} ms`,
  };
}

function inboxTarget({ name, times }: InboxResult): Target {
  const slowest = Math.max(...[...times.values()].map(median));
  return {
    name: `a page of an inbox within ${limitMs} ms, ${name}`,
    reached: slowest <= limitMs,
    found: `${milliseconds(slowest)} ms for the slowest`,
  };
}
