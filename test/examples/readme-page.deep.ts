import type { Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { findChromium } from '../support/chromium.ts';
import { ReadmePageSite } from './readme-page-site.ts';

const { whyNot } = await findChromium();

async function secondTab(page: Page): Promise<Page> {
  const tab = await page.context().newPage();
  await tab.goto(page.url());
  return tab;
}

async function says(page: Page, text: string): Promise<void> {
  await page.getByRole('textbox', { name: 'Message' }).fill(text);
  await button(page, 'Send').click();
}

const button = (page: Page, name: string): Locator =>
  page.getByRole('button', { name, exact: true });
const call = (page: Page): Locator => page.getByRole('region', { name: 'bookFlight' });
const seen = async (place: Locator, text: string): Promise<void> =>
  place.filter({ hasText: text }).first().waitFor();
const reply = (page: Page): Locator => page.getByRole('article', { name: 'Assistant' }).last();

describe.skipIf(whyNot !== undefined)(`the documented page (${whyNot ?? 'in Chromium'})`, () => {
  let site: ReadmePageSite;
  const errors: string[] = [];
  beforeAll(async () => {
    site = await ReadmePageSite.make();
  }, 120_000);
  afterAll(async () => site[Symbol.asyncDispose](), 60_000);

  /** A person with a tab of their own. */
  async function visit(): Promise<Page> {
    const context = await site.browser.newContext();
    context.setDefaultTimeout(20_000);
    /* Chromium may let a request pass that is sent just after interception began: here it begins before the first page. */
    await context.route('**/chat*', async (route) => route.fallback());
    const page = await context.newPage();
    page.on('pageerror', (error) => errors.push(String(error)));
    await page.goto(site.url);
    await page.getByText('Where would you like to fly?').waitFor();
    return page;
  }

  test('takes a message, shows the whole call, and runs it after Approve alone', async () => {
    const page = await visit();
    await says(page, 'Book Rome');
    await seen(call(page), 'waits for you');
    expect(await call(page).textContent()).toContain('"city": "Rome"');
    expect(await button(page, 'Send').isDisabled()).toBe(true);
    await button(page, 'Approve').click();
    await seen(reply(page), 'Booked.');
    await seen(call(page), 'done');
    await says(page, 'Book Oslo');
    await button(page, 'Reject').click();
    await seen(reply(page), 'No flight, then.');
    await seen(call(page), 'not done');
  });

  test('shows a question as a question, and takes its answer', async () => {
    const page = await visit();
    await says(page, 'Ask me');
    await page.getByText('Window or aisle?').first().waitFor();
    expect(await button(page, 'Approve').count()).toBe(0);
    await page.getByRole('radio', { name: 'Aisle' }).check();
    await button(page, 'Answer').click();
    await seen(reply(page), 'You have chosen.');
  });

  test('shows paragraphs as paragraphs', async () => {
    const page = await visit();
    await says(page, 'Tell a story');
    await seen(reply(page), 'Once upon a time.\n\nA plane');
    await button(page, 'Stop').click();
  });

  test('without a network says so, and sends the answer when it is back', async () => {
    const page = await visit();
    await says(page, 'Book Rome');
    await seen(call(page), 'waits for you');
    await page.context().setOffline(true);
    await button(page, 'Approve').click();
    await page.getByText('Sending your answer').waitFor();
    await seen(page.getByRole('alert'), 'The server can’t be reached.');
    await page.context().setOffline(false);
    await seen(reply(page), 'Booked.');
    expect(await page.getByRole('alert').count()).toBe(0);
  });

  test('with a server that was killed sends the answer when it is back', async () => {
    const page = await visit();
    await says(page, 'Book Rome');
    await seen(call(page), 'waits for you');
    await site.killServer();
    await button(page, 'Reject').click();
    await seen(page.getByRole('alert'), 'The server can’t be reached.');
    await site.startServer();
    await seen(reply(page), 'No flight, then.');
  });

  test('with a server that is killed in the middle of a reply shows what it has afterwards', async () => {
    const page = await visit();
    await says(page, 'Tell a story');
    await seen(reply(page), 'A plane flew');
    await site.killServer();
    await seen(page.getByRole('alert'), 'The server can’t be reached.');
    await site.startServer();
    await page.getByRole('alert').waitFor({ state: 'detached' });
    await page.getByText('Tell a story').waitFor();
  });

  test('without a network gives the words back when sending is stopped, beside what was typed since', async () => {
    const page = await visit();
    await page.context().setOffline(true);
    await says(page, 'Book Rome');
    await seen(page.getByRole('alert'), 'The server can’t be reached.');
    await page.getByRole('textbox', { name: 'Message' }).fill('or Oslo');
    await button(page, 'Stop').click();
    await page.context().setOffline(false);
    await seen(page.getByRole('alert'), 'Your message was not sent.');
    const field = page.getByRole('textbox', { name: 'Message' });
    expect(await field.inputValue()).toBe('Book Rome or Oslo');
    await button(page, 'Send').click();
    await seen(call(page), 'waits for you');
  });

  test('says that a message is too large, each time, and keeps its words', async () => {
    const page = await visit();
    const field = page.getByRole('textbox', { name: 'Message' });
    for (const length of [1_100_000, 2_000_000]) {
      await field.fill('x'.repeat(length));
      await button(page, 'Send').click();
      await seen(page.getByRole('alert'), 'This is too large to send.');
      await button(page, 'Send').and(page.locator(':enabled')).waitFor();
      expect((await field.inputValue()).length).toBe(length);
    }
  });

  test('with a sign-in page in the way says so, and shows the request as open', async () => {
    const page = await visit();
    await says(page, 'Book Rome');
    await seen(call(page), 'waits for you');
    const signIn = { contentType: 'text/html', body: '<!doctype html><p>Sign in' };
    await page.route('**/chat*', async (route) => route.fulfill(signIn));
    await button(page, 'Approve').click();
    await seen(page.getByRole('alert'), 'You may have to sign in again.');
    await seen(call(page), 'waits for you');
    await page.unroute('**/chat*');
    await button(page, 'Approve').click();
    await seen(reply(page), 'Booked.');
  });

  test('in a second tab says that the first answer counts, and shows what came of it', async () => {
    const page = await visit();
    await says(page, 'Book Rome');
    await seen(call(page), 'waits for you');
    const tab = await secondTab(page);
    await call(tab).waitFor();
    await button(page, 'Approve').click();
    await seen(reply(page), 'Booked.');
    await button(tab, 'Reject').click();
    await seen(tab.getByRole('alert'), 'The first answer counts.');
    await seen(reply(tab), 'Booked.');
    await seen(call(tab), 'done');
    await says(page, 'Ask me');
    await page.getByRole('radio', { name: 'Aisle' }).waitFor();
    await says(tab, 'Book Oslo');
    await seen(tab.getByRole('alert'), 'Answer what is open first');
    await tab.getByRole('radio', { name: 'Aisle' }).waitFor();
    expect(await tab.getByRole('textbox', { name: 'Message' }).inputValue()).toBe('Book Oslo');
  });

  test('that is reloaded shows the same, what waits and what was done', async () => {
    const page = await visit();
    await says(page, 'Book Rome');
    await seen(call(page), 'waits for you');
    await page.reload();
    await button(page, 'Approve').click();
    await seen(reply(page), 'Booked.');
    await page.reload();
    await seen(reply(page), 'Booked.');
    await seen(call(page), 'done');
  });

  test('that is reloaded in the middle of a reply goes on showing it', async () => {
    const page = await visit();
    await says(page, 'Tell a story');
    await seen(reply(page), 'A plane flew');
    await page.reload();
    await seen(reply(page), 'Once upon a time.');
    await seen(reply(page), 'The end.');
    await button(page, 'Send').and(page.locator(':enabled')).waitFor();
  });

  test('stops a reply, keeps what was said, and takes the next message', async () => {
    const page = await visit();
    await says(page, 'Tell a story');
    await seen(reply(page), 'A plane flew');
    await button(page, 'Stop').click();
    await button(page, 'Send').and(page.locator(':enabled')).waitFor();
    const said = (await reply(page).textContent()) ?? '';
    expect(said).toContain('A plane flew');
    expect(said).not.toContain('The end.');
    await page.reload();
    await seen(reply(page), 'A plane flew');
    expect(await reply(page).textContent()).toBe(said);
    await says(page, 'Book Rome');
    await seen(call(page), 'waits for you');
  });

  test('says after a failure that it failed, without secrets, also when reloaded, and tries again', async () => {
    const page = await visit();
    await says(page, 'Break');
    await seen(page.getByRole('alert'), 'An error occurred.');
    await page.reload();
    await seen(page.getByRole('alert'), 'An error occurred.');
    expect(await page.content()).not.toContain('sk-secret');
    await button(page, 'Try again').click();
    await seen(reply(page), 'I am back.');
    expect(await page.getByRole('alert').count()).toBe(0);
  });

  test('has thrown nothing in all of this', () => {
    expect(errors).toEqual([]);
  });
});
