import { median, quantile } from '../measure.ts';
import { milliseconds, table } from '../table.ts';
import type { Target } from '../target.ts';
import type { ServerLoad } from './measure-server.ts';
import type { PageTimes } from './time-page.ts';

/** What was found out about an inbox on one database. Times are in milliseconds. */
export interface InboxResult {
  name: string;
  /** Of pages of rows in the store. */
  stored: Map<string, number[]>;
  /** Of what a page asks of `createInboxHandler`. */
  handled: Map<string, number[]>;
  page: PageTimes;
  server: ServerLoad;
}

/** What was found, as text. */
export function renderInbox(results: readonly InboxResult[], rounds: number): string {
  const stored = results.map(({ name, stored: samples }) => ({ name, samples }));
  const handled = results.map(({ name, handled: samples }) => ({ name, samples }));
  const seen = results.map(({ name, page, server }) => ({
    name,
    samples: nameSamples(page, server),
  }));
  const [whyNot] = results.flatMap(({ page }) => page.whyNot ?? []);
  return `
Pages of an inbox: 100 of 100,000 open requests and as many decided ones, among 100,000 threads on SQLite and 1,000,000 on Postgres.
Medians, and what nine of ten pages take at most, in ms, of ${rounds} rounds, from one process on the same machine.

${timesTable('a page', stored, 0.9)}

The same through \`createInboxHandler\`, with rights, entries and JSON, for a page of 50: medians, and what 95 of 100 take at most.

${timesTable('a request', handled, 0.95)}

From end to end, in ms, of 20 rounds.${whyNot === undefined ? '' : ` Without Chromium: ${whyNot}`}

${timesTable('what', seen, 0.95)}

What is held, in MB, after garbage is collected.

${table(['what', ...results.map(({ name }) => name)], heapRows(results))}
`;
}

function nameSamples({ loads, arrivals }: PageTimes, { told }: ServerLoad): Map<string, number[]> {
  return new Map([
    ['the page, from navigation to its first row painted', loads],
    ['a request of another process, from append to its row painted', arrivals],
    ['a change, from append to the last of 50 open streams', told],
  ]);
}

function heapRows(results: readonly InboxResult[]): string[][] {
  const rows: [string, (result: InboxResult) => number][] = [
    ['the server, before', ({ server }) => server.heap[0]],
    ['after 1,000 lists', ({ server }) => server.heap[1]],
    ['with 50 open streams', ({ server }) => server.heap[2]],
    ['the page, before', ({ page }) => page.heap[0]],
    ['after 500 arrivals', ({ page }) => page.heap[1]],
  ];
  return rows.map(([name, read]) => [name, ...results.map((result) => milliseconds(read(result)))]);
}

/** Medians and a quantile, a row for each thing that was timed. */
function timesTable(
  what: string,
  results: readonly { name: string; samples: ReadonlyMap<string, number[]> }[],
  part: number,
): string {
  const head = [what, ...results.flatMap(({ name }) => [name, `${part * 100} %`])];
  const names = [...(results[0]?.samples.keys() ?? [])];
  const rows = names.map((name) => [
    name,
    ...results.flatMap(({ samples }) => {
      const times = samples.get(name) ?? [];
      return [milliseconds(median(times)), milliseconds(quantile(times, part))];
    }),
  ]);
  return table(head, rows);
}

const limitMs = 5;
const paintedLimitMs = 200;

/** What an inbox should reach, and what was found. */
export function inboxTargets(results: readonly InboxResult[]): Target[] {
  return results.flatMap((result) => {
    const { name, stored, page } = result;
    const slowest = Math.max(...[...stored.values()].map(median));
    const pages: Target = {
      name: `a page of an inbox within ${limitMs} ms, ${name}`,
      reached: slowest <= limitMs,
      found: `${milliseconds(slowest)} ms for the slowest`,
    };
    if (page.whyNot !== undefined) return [pages];
    const arrivalLimitMs = name === 'SQLite' ? 1_000 : 300;
    return [
      pages,
      timeTarget(
        `the first page of mine painted within ${paintedLimitMs} ms, ${name}`,
        page.loads,
        paintedLimitMs,
      ),
      timeTarget(
        `a new request on the page within ${arrivalLimitMs} ms, ${name}`,
        page.arrivals,
        arrivalLimitMs,
      ),
    ];
  });
}

function timeTarget(name: string, times: readonly number[], limit: number): Target {
  const found = quantile(times, 0.95);
  return { name, reached: found <= limit, found: `${milliseconds(found)} ms for 95 of 100` };
}
