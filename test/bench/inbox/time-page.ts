import type { AddressInfo } from 'node:net';
import type { ThreadStore } from 'holdpoint';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { serveFetch } from '../../../examples/serve-fetch.ts';
import { findChromium, launchChromium } from '../../support/chromium.ts';
import type { Database } from '../durable/database.ts';
import { startAsker } from './asker.ts';
import { openInbox } from './bench-inbox.ts';

/* The page has the types of a browser; what is called in it is named here. */
declare const painted: {
  /** When the first row was painted, in milliseconds after the page was asked for. */
  first: Promise<number>;
  /** When a row with this title was painted, in milliseconds since 1970. */
  wait: (title: string) => Promise<number>;
  countRows: () => number;
};

/* Runs in the page before it: what a person sees is there after the next frame. */
const watchRows = `
  const seen = new Map();
  const waiting = new Map();
  let tellFirst;
  globalThis.painted = {
    first: new Promise((resolve) => (tellFirst = resolve)),
    wait: async (title) => seen.get(title) ?? new Promise((resolve) => waiting.set(title, resolve)),
    countRows: () => document.querySelectorAll('.list-row').length,
  };
  const note = (titles) => {
    for (const title of titles) {
      if (seen.has(title)) continue;
      seen.set(title, Date.now());
      waiting.get(title)?.(Date.now());
    }
    tellFirst(performance.now());
  };
  const look = () => {
    const titles = [...document.querySelectorAll('.list-row .title')].map(({ textContent }) => textContent);
    if (titles.some((title) => !seen.has(title))) requestAnimationFrame(() => setTimeout(note, 0, titles));
  };
  new MutationObserver(look).observe(document, { childList: true, subtree: true, characterData: true });
`;

/** What was found out about the page. Times are in milliseconds. */
export interface PageTimes {
  /** Whether there was no browser, and why. */
  whyNot?: string;
  /** From the request for the page to its first row, painted. */
  loads: number[];
  /** From the begin of an append in another process to its row, painted. */
  arrivals: number[];
  /** The heap of the page before and after 500 arrivals, in MB. */
  heap: readonly [before: number, after: number];
}

const arrivalCount = 500;

/** Loads the page of an inbox in Chromium, and lets requests arrive there. */
export async function timePage(
  database: Database,
  store: ThreadStore,
  rounds: number,
): Promise<PageTimes> {
  const { whyNot } = await findChromium();
  const nothing: PageTimes = { loads: [], arrivals: [], heap: [Number.NaN, Number.NaN] };
  if (whyNot !== undefined) return { ...nothing, whyNot };
  const server = await serveFetch(openInbox(store), 0);
  const browser = await launchChromium();
  try {
    const url = `http://127.0.0.1:${readPort(server.address())}/inbox`;
    const context = await openContext(browser);
    const loads: number[] = [];
    /* The first loads build the page and fill caches. */
    for (let round = -3; round < rounds; round += 1) {
      const page = await context.newPage();
      const took = await load(page, url);
      if (round >= 0) loads.push(took);
      await page.close();
    }
    return { loads, ...(await timeArrivals(context, { database, url, rounds })) };
  } finally {
    await browser.close();
    server.closeAllConnections();
    server.close();
  }
}

function readPort(address: AddressInfo | string | null): number {
  if (address === null || typeof address === 'string') throw new Error('The server has no port.');
  return address.port;
}

async function openContext(browser: Browser): Promise<BrowserContext> {
  const context = await browser.newContext({ viewport: { width: 1_280, height: 800 } });
  await context.addInitScript(watchRows);
  return context;
}

async function load(page: Page, url: string): Promise<number> {
  await page.goto(url);
  const took = await page.evaluate(() => painted.first);
  const rows = await page.evaluate(() => painted.countRows());
  if (rows < 3) throw new Error(`The page has ${rows} rows.`);
  return took;
}

async function timeArrivals(
  context: BrowserContext,
  { database, url, rounds }: { database: Database; url: string; rounds: number },
): Promise<Pick<PageTimes, 'arrivals' | 'heap'>> {
  const page = await context.newPage();
  await load(page, url);
  await using asker = await startAsker(database);
  const arrivals: number[] = [];
  const arrive = async (count: number): Promise<number> => {
    const [last] = (await asker.ask(count)).slice(-1);
    if (last === undefined) throw new Error('Nothing was asked.');
    return (await page.evaluate((text) => painted.wait(text), last.text)) - last.at;
  };
  for (let round = -2; round < rounds; round += 1) {
    const took = await arrive(1);
    if (round >= 0) arrivals.push(took);
    /* A person asks when nothing else has just happened. */
    await page.waitForTimeout(500 + Math.random() * 500);
  }
  const before = await readHeap(page);
  for (let arrived = 0; arrived < arrivalCount; arrived += 10) await arrive(10);
  return { arrivals, heap: [before, await readHeap(page)] };
}

/** What the scripts of a page hold, in MB. */
async function readHeap(page: Page): Promise<number> {
  const session = await page.context().newCDPSession(page);
  await session.send('HeapProfiler.collectGarbage');
  const { usedSize } = await session.send('Runtime.getHeapUsage');
  await session.detach();
  return usedSize / 2 ** 20;
}
