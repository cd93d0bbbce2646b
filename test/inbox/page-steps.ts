import type { BrowserContext, Page } from 'playwright-core';

/** In the page, time passes ten times as fast. */
export const hurry = `
  const [readTime, startedAt, after, each] = [Date.now, Date.now(), setTimeout, setInterval];
  Date.now = () => startedAt + (readTime() - startedAt) * 10;
  window.setTimeout = (run, ms = 0) => after(run, ms / 10);
  window.setInterval = (run, ms = 0) => each(run, ms / 10);
`;

/** In the page, the clock can be stopped: what happens then takes no time, however busy the machine is. */
export const stoppable = `
  const readClock = Date.now;
  let stoppedAt;
  Date.now = () => stoppedAt ?? readClock();
  window.stopClock = () => (stoppedAt = readClock());
  window.startClock = () => (stoppedAt = undefined);
`;

/** A page on an inbox, with its list read. */
export async function openInbox(context: BrowserContext, url: string): Promise<Page> {
  const page = await context.newPage();
  await page.goto(url);
  await page
    .locator('.rows')
    .or(page.getByText(/^Nothing (waits|is lost|was)/))
    .first()
    .waitFor();
  return page;
}

/** Until the request with this title is open, and could be approved. */
export async function waitForApproval(page: Page, title: string): Promise<void> {
  await page.locator('#request-title', { hasText: title }).waitFor();
  await page.locator('button.yes:not([aria-disabled="true"])').waitFor();
}

/** Reads what is open, screen by screen, until it could be approved. */
export async function readToEnd(page: Page): Promise<void> {
  while (await page.locator('button.yes[aria-disabled="true"]').isVisible()) {
    await page.keyboard.press('Space');
    await page.waitForTimeout(50);
  }
}

/** Rejects what is open, for this reason. */
export async function reject(page: Page, reason: string, button = 'Reject'): Promise<void> {
  await page.keyboard.press('r');
  await page.locator('textarea.step:focus').fill(reason);
  await press(page, button);
}

/** Presses a named button by the keyboard, once a double click is over. */
export async function press(page: Page, name: string): Promise<void> {
  await page.getByRole('button', { name, exact: true }).press('Enter');
}

/** Shows another list by its button, and opens its first request. */
export async function openList(page: Page, name: RegExp): Promise<void> {
  const list = page.getByRole('button', { name });
  await list.press('Enter');
  await page.locator('.lists [aria-current="true"]').and(list).waitFor();
  await page.getByRole('row').first().press('Enter');
  await page.locator('#request-title:focus').waitFor();
}

/** The region that a screen reader speaks, with this text in it. */
export const spoken = (page: Page, text: string) => page.getByRole('status').getByText(text);

/** Lets the page hear of nothing more, until it answers. */
export async function keepFromReading(page: Page): Promise<void> {
  await page.route('**/api/**', async (route) =>
    route.request().method() === 'GET' ? route.abort() : route.continue(),
  );
}

/** What the page has posted, in order; it grows. */
export function watchPosted(page: Page): unknown[] {
  const posted: unknown[] = [];
  page.on('request', (request) => {
    if (request.method() === 'POST') posted.push(request.postDataJSON());
  });
  return posted;
}

export const readFocusedId = async (page: Page): Promise<unknown> =>
  page.evaluate('document.activeElement?.id');
