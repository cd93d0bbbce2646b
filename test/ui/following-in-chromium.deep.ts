import { createUiHandler } from 'holdpoint/ui';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { findChromium, launchChromium } from '../support/chromium.ts';
import type { ScriptedStep } from '../support/script.ts';
import { book, memoryWorld } from '../support/travel-world.ts';
import { buildFixture, serveScript } from './script-site.ts';

const { whyNot } = await findChromium();

const asks: ScriptedStep[] = [{ calls: [book('c1', 'Paris')] }, { text: 'Booked.' }];
const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
const within = { timeout: 2_000 };

describe.skipIf(whyNot !== undefined)(`a page that follows (${whyNot ?? 'in Chromium'})`, () => {
  let script: string;
  let browser: Browser;
  beforeAll(async () => {
    [script, browser] = await Promise.all([buildFixture('followed-chat.ts'), launchChromium()]);
  }, 60_000);
  afterAll(async () => browser.close());

  /** A site, and what each browser has open there. */
  async function site(steps: ScriptedStep[]) {
    const world = memoryWorld(steps);
    const agent = world.agent();
    const open = new Map<string, number>();
    const handleChat = createUiHandler({
      agent,
      authorize: ({ request }) => ({ principal: request.headers.get('cookie') }),
    });
    const { url, close } = await serveScript(script, async (request) => {
      const person = request.headers.get('cookie') ?? '';
      if (new URL(request.url).searchParams.has('follow')) {
        open.set(person, (open.get(person) ?? 0) + 1);
        request.signal.addEventListener('abort', () =>
          open.set(person, (open.get(person) ?? 0) - 1),
        );
      }
      return handleChat(request);
    });
    const openBrowser = async (person: string): Promise<BrowserContext> => {
      const context = await browser.newContext();
      context.setDefaultTimeout(8_000);
      await context.addCookies([{ name: 'person', value: person, url }]);
      return context;
    };
    const visit = async (context: BrowserContext, id = 't'): Promise<Page> => {
      const page = await context.newPage();
      await page.goto(`${url}/#${id}`);
      await page.locator('main[aria-busy=false]').waitFor();
      return page;
    };
    const asyncDispose = async (): Promise<void> => {
      await Promise.all(browser.contexts().map(async (context) => context.close()));
      close();
    };
    const waiting = (person: string): number => open.get(`person=${person}`) ?? 0;
    return { world, agent, openBrowser, visit, waiting, [Symbol.asyncDispose]: asyncDispose };
  }

  test('shows a request that somebody else’s message led to, and the reply, within two seconds and without a touch', async () => {
    await using at = await site(asks);
    const bob = await at.visit(await at.openBrowser('bob'));
    const ann = await at.visit(await at.openBrowser('ann'));
    await button(ann, 'Ask').click();
    await button(ann, 'Approve').waitFor();
    await button(bob, 'Approve').waitFor(within);
    await button(ann, 'Approve').click();
    await ann.getByText('Booked.').waitFor();
    await bob.getByText('Booked.').waitFor(within);
  }, 30_000);

  test('of several tabs of a browser, one has a request waiting, and each shows its thread', async () => {
    await using at = await site([
      { calls: [book('c1', 'Paris')] },
      { calls: [book('c2', 'Rome')] },
    ]);
    const browserOfBob = await at.openBrowser('bob');
    const one = await at.visit(browserOfBob, 'one');
    const two = await at.visit(browserOfBob, 'two');
    for (let looks = 0; looks < 20; looks += 1) {
      await expect.poll(() => at.waiting('bob')).toBe(1);
      await two.evaluate('new Promise((done) => requestAnimationFrame(done))');
    }
    for (const [id, page] of Object.entries({ one, two })) {
      await at.agent.run('Book', await at.agent.thread(id), { principal: 'ann' });
      await button(page, 'Approve').waitFor(within);
    }
  }, 30_000);

  test('offline is said at once in both tabs, and an answer goes by itself when the connection is back', async () => {
    await using at = await site(asks);
    const context = await at.openBrowser('ann');
    const page = await at.visit(context);
    const other = await at.visit(context, 'other');
    await button(page, 'Ask').click();
    await button(page, 'Approve').waitFor();
    await context.setOffline(true);
    for (const each of [page, other]) await each.getByRole('alert').waitFor(within);
    await button(page, 'Approve').click();
    await page.getByText('Sending …').waitFor();
    await other.evaluate("location.hash = 'third'");
    await other.locator('main[data-id=third]').getByRole('alert').waitFor(within);
    await context.setOffline(false);
    await page.getByText('Booked.').waitFor();
    expect(await page.getByRole('alert').count()).toBe(0);
    await expect.poll(async () => other.getByRole('alert').count()).toBe(0);
    expect(at.world.ran).toHaveLength(1);
  }, 30_000);

  test('another id in the address drops the conversation before at once, and what it had not sent', async () => {
    await using at = await site(asks);
    const context = await at.openBrowser('ann');
    const page = await at.visit(context);
    await button(page, 'Ask').click();
    await button(page, 'Approve').waitFor();
    await context.setOffline(true);
    await button(page, 'Approve').click();
    await page.getByText('Sending …').waitFor();
    await page.evaluate("location.hash = 'other'");
    const other = page.locator('main[data-id=other]');
    await other.waitFor();
    expect(await other.getAttribute('data-sending')).toBe('0');
    expect(await other.innerText()).not.toMatch(/Sending|Approve|Book\b/);
    await context.setOffline(false);
    await page.locator('main[data-id=other][aria-busy=false]').waitFor();
    expect(await other.innerText()).toBe('Ask');
    expect(at.world.ran).toEqual([]);
    expect((await at.agent.thread('other')).revision).toBe(0);
    await page.evaluate("location.hash = 't'");
    await button(page, 'Approve').click();
    await page.getByText('Booked.').waitFor();
    expect(at.world.ran).toHaveLength(1);
  }, 30_000);
});
