import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { expect } from 'vitest';
import type { InboxEntry } from '../../src/apps/inbox/inbox-api.ts';
import type { EditedInput } from '../../src/view/edited-input.ts';
import type { ShownState } from '../../src/apps/inbox/page/shown-state.ts';
import { readAt } from './inbox-entries.ts';

/* The page has the types of a browser; what is called in it is named here. */
declare const reading: {
  showRequest: (props: object) => void;
  showDifferences: (props: object) => void;
  showEdit: (props: object) => void;
  readShown: () => ShownState[];
  readDraft: () => EditedInput | undefined;
};

interface ReadingOptions extends BrowserContextOptions {
  /** Runs in the page before its own script. */
  script?: string;
}

/** An empty page for reading, in which no script may fail. */
export async function openReading(
  browser: Browser,
  url: string,
  { script, ...options }: ReadingOptions = {},
) {
  const context = await browser.newContext({
    viewport: { width: 1280, height: 800 },
    locale: 'en-GB',
    timezoneId: 'Europe/Zurich',
    ...options,
  });
  const page = await context.newPage();
  const faults: string[] = [];
  page.on('pageerror', (error) => faults.push(error.message));
  if (script !== undefined) await page.addInitScript(script);
  await page.goto(url);
  return {
    page,
    async [Symbol.asyncDispose]() {
      await context.close();
      expect(faults).toEqual([]);
    },
  };
}

export async function show(page: Page, entry: InboxEntry, more: object = {}): Promise<void> {
  await page.evaluate((props) => reading.showRequest(props), { entry, now: readAt, ...more });
}

export async function showTogether(page: Page, entries: readonly InboxEntry[]): Promise<void> {
  await page.evaluate((props) => reading.showDifferences(props), { entries, now: readAt });
}

export async function showEdit(page: Page, entry: InboxEntry, more: object = {}): Promise<void> {
  await page.evaluate((props) => reading.showEdit(props), { entry, ...more });
}

/** What was shown by now. */
export async function readShown(page: Page): Promise<ShownState | undefined> {
  return page.evaluate(() => reading.readShown().at(-1));
}

export async function readDraft(page: Page): Promise<EditedInput | undefined> {
  return page.evaluate(() => reading.readDraft());
}

export const readText = async (page: Page): Promise<string> => page.locator('#root').innerText();
