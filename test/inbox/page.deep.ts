import axe from 'axe-core';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { findChromium, launchChromium } from '../support/chromium.ts';
import { lostCalls } from '../support/lost-call.ts';
import { waitUntil } from '../support/waiting.ts';
import { openInbox, openOffice, serveInbox, waitForApproval } from './page-office.ts';

const { whyNot } = await findChromium();
let browser: Browser;
beforeAll(async () => {
  if (whyNot === undefined) browser = await launchChromium();
});
afterAll(async () => browser?.close());

const openPage = async (url: string, size?: { width: number; height: number }): Promise<Page> => {
  const page = await openInbox(browser, url, size);
  onTestFinished(async () => page.close());
  return page;
};

/* What is wider than the page. */
const findTooWide = `[...document.querySelectorAll('body *')]
  .filter((element) => element.getBoundingClientRect().right > document.documentElement.clientWidth)
  .map(({ tagName, className }) => [tagName, className].join(' '))`;

const focusedId = 'document.activeElement?.id';

const countLog = async ({ readLog }: Awaited<ReturnType<typeof openOffice>>): Promise<number> =>
  (await readLog()).size;

/* Where everything is that can be seen. */
const readPlaces = async (page: Page): Promise<unknown> =>
  page.evaluate(`
    [...document.querySelectorAll('.panes *')]
      .filter((element) => element.checkVisibility({ visibilityProperty: true }))
      .filter((element) => element.closest('.list-top, .how') === null)
      .map((element) => {
        const { x, y, width, height } = element.getBoundingClientRect();
        return [element.tagName, element.className, x, y, width, height];
      })
  `);

describe.skipIf(whyNot !== undefined)(`the page of the inbox (${whyNot ?? 'in Chromium'})`, () => {
  test('fifty requests are cleared by one key each, and the log has what was shown', async () => {
    using office = await openOffice();
    for (let each = 1; each <= 50; each += 1)
      await office.ask({ to: `p${each}`, topic: `t${each}` });
    const page = await openPage(office.url);
    await page.keyboard.press('j');
    const shown: string[] = [];
    for (let each = 1; each <= 50; each += 1) {
      await page.locator('button.yes:not([aria-disabled="true"])').waitFor();
      const title = (await page.locator('#request-title').textContent()) ?? '';
      shown.push(/to (\w+)\?/.exec(title)?.[1] ?? '');
      await page.keyboard.press('a');
      await waitUntil(async () => (await page.locator('#request-title').textContent()) !== title);
      expect(await page.evaluate(focusedId)).toBe('request-title');
    }
    await waitUntil(async () => (await countLog(office)) === 50);
    const log = await office.readLog();
    expect(new Set(shown)).toEqual(new Set(log.keys()));
    expect([...log.values()].every(({ status, by }) => status === 'approved' && by === 'ada')).toBe(
      true,
    );
    await page.getByText('Nothing is left.').first().waitFor();
  });

  test.each([
    ['a', undefined],
    ['Enter', 'button.yes'],
  ])('%s held for three seconds answers one request', async (key, focused) => {
    using office = await openOffice();
    for (const to of ['x', 'y', 'z']) await office.ask({ to, topic: to });
    const page = await openPage(office.url);
    await page.keyboard.press('j');
    await waitForApproval(page, 'to x?');
    if (focused !== undefined) await page.locator(focused).focus();
    for (let times = 0; times < 100; times += 1) {
      await page.keyboard.down(key);
      await page.waitForTimeout(30);
    }
    expect([...(await office.readLog()).keys()]).toEqual(['x']);
    await page.keyboard.up(key);
    await page.keyboard.press('a');
    await waitUntil(async () => (await countLog(office)) === 2);
  });

  test('a pressed three times as fast as a finger can answers one request', async () => {
    using office = await openOffice();
    for (const to of ['x', 'y', 'z']) await office.ask({ to, topic: to });
    const page = await openPage(office.url);
    await page.keyboard.press('j');
    await waitForApproval(page, 'to x?');
    for (let times = 0; times < 3; times += 1) {
      await page.keyboard.press('a');
      await page.waitForTimeout(80);
    }
    await waitForApproval(page, 'to y?');
    expect([...(await office.readLog()).keys()]).toEqual(['x']);
  });

  test('a double click answers one request', async () => {
    using office = await openOffice();
    for (const to of ['x', 'y']) await office.ask({ to, topic: to });
    const page = await openPage(office.url);
    await page.keyboard.press('j');
    await waitForApproval(page, 'to x?');
    await page.waitForTimeout(600);
    await page.locator('button.yes').dblclick();
    await waitUntil(async () => (await countLog(office)) > 0);
    await page.waitForTimeout(600);
    expect([...(await office.readLog()).keys()]).toEqual(['x']);
  });

  test('what was decided elsewhere is refused by name, and the focus stays', async () => {
    using office = await openOffice();
    for (const to of ['x', 'y']) await office.ask({ to, topic: to });
    const page = await openPage(office.url);
    await page.keyboard.press('j');
    await waitForApproval(page, 'to x?');
    /* The page does not hear of it before the answer. */
    await page.route('**/api/**', async (route) =>
      route.request().method() === 'GET' ? route.abort() : route.continue(),
    );
    await office.rejectElsewhere('x');
    await page.keyboard.press('a');
    await page.getByRole('alert').getByText('Not recorded').waitFor();
    await page.locator('.list-row.refused').waitFor();
    expect(await page.getByRole('alert').textContent()).toContain('to x?');
    expect(await page.evaluate(focusedId)).toBe('request-title');
    expect((await office.readLog()).get('x')).toMatchObject({ status: 'rejected', by: 'bo' });
  });

  test('twenty arrivals move nothing while the pointer rests on Approve', async () => {
    using office = await openOffice();
    for (const to of ['x', 'y']) await office.ask({ to, topic: to });
    const page = await openPage(office.url);
    await page.keyboard.press('j');
    await waitForApproval(page, 'to x?');
    await page.locator('button.yes').hover();
    const before = await readPlaces(page);
    for (let each = 0; each < 20; each += 1)
      await office.ask({ to: `new${each}`, topic: `new${each}`, risk: 'high' });
    await page.getByRole('button', { name: '20 new' }).waitFor();
    expect(await readPlaces(page)).toEqual(before);
    expect(await page.getByRole('row').count()).toBe(2);
    await page.getByRole('button', { name: '20 new' }).click();
    await waitUntil(async () => (await page.getByRole('row').count()) === 22);
  });

  test('forty alike are approved together after all of them were shown, each with an outcome', async () => {
    using office = await openOffice();
    const long = 'word '.repeat(180);
    for (let each = 0; each < 40; each += 1)
      await office.ask({ to: `p${each}`, body: `${long}${each === 17 ? 'all of it' : 'a bit'}` });
    const page = await openPage(office.url);
    await page.keyboard.press('j');
    await page.locator('#request-title', { hasText: '40 × send_mail' }).waitFor();
    await page.keyboard.press('a');
    await page.getByRole('status').getByText('Read it to the end first').waitFor();
    await office.ask({ to: 'late' });
    await page.getByRole('button', { name: '1 new' }).waitFor();
    await page.locator('.detail-pane').getByText('all of it').first().waitFor();
    await page.route('**/api/**', async (route) =>
      route.request().method() === 'GET' ? route.abort() : route.continue(),
    );
    for (const to of ['p3', 'p4']) await office.rejectElsewhere(to);
    await page.keyboard.press('v');
    while (await page.locator('button.yes[aria-disabled="true"]').isVisible()) {
      await page.keyboard.press('Space');
      await page.waitForTimeout(50);
    }
    await page.keyboard.press('a');
    await waitUntil(async () => (await countLog(office)) === 40);
    const log = await office.readLog();
    expect([...log.values()].filter(({ status }) => status === 'approved')).toHaveLength(38);
    expect(log.has('late')).toBe(false);
    await page.getByRole('alert').getByText('Not recorded').waitFor();
    await page.getByText('2 not recorded').first().waitFor();
  });

  test('“approve all rows” typed into a field answers nothing, with Ctrl+Enter neither', async () => {
    using office = await openOffice();
    for (const to of ['x', 'y']) await office.ask({ to, topic: to });
    const page = await openPage(office.url);
    await page.keyboard.press('j');
    await waitForApproval(page, 'to x?');
    const type = async (): Promise<void> => {
      await page.keyboard.type('approve all rows');
      await page.keyboard.press('Control+Enter');
      await page.keyboard.press('Meta+Enter');
    };
    await page.keyboard.press('r');
    await page.locator('textarea.step:focus').waitFor();
    await type();
    await page.keyboard.press('Escape');
    await page.keyboard.press('e');
    await page.locator('.edit-form :focus').waitFor();
    await type();
    await page.keyboard.press('Escape');
    await page.getByText('Filter').click();
    await page.getByRole('combobox', { name: 'Risk', exact: true }).focus();
    await type();
    await page.keyboard.press('/');
    await page.getByRole('searchbox').focus();
    await type();
    await page.waitForTimeout(200);
    expect(office.posted).toEqual([]);
  });

  test('at 320 px with letters twice as large, in forced colours, without letters, a request is approved', async () => {
    using office = await openOffice();
    for (const to of ['x', 'y']) await office.ask({ to, topic: to });
    const page = await openPage(office.url, { width: 320, height: 640 });
    await page.emulateMedia({ forcedColors: 'active' });
    await page.evaluate("document.documentElement.style.fontSize = '200%'");
    await page.getByRole('button', { name: 'Keys' }).click();
    await page.getByLabel('Letters are keys in this browser').uncheck();
    await page.getByRole('button', { name: 'Close' }).click();
    await page.getByRole('row').first().focus();
    await page.keyboard.press('Enter');
    await page.locator('#request-title:focus').waitFor();
    await page.keyboard.press('a');
    while (await page.locator('button.yes[aria-disabled="true"]').isVisible()) {
      await page.keyboard.press('Space');
      await page.waitForTimeout(50);
    }
    expect(office.posted).toEqual([]);
    expect(await page.evaluate(findTooWide)).toEqual([]);
    while (!(await page.locator('button.yes:focus').isVisible())) await page.keyboard.press('Tab');
    const { y = -1, height = 0 } = (await page.locator('button.yes').boundingBox()) ?? {};
    expect(y).toBeGreaterThanOrEqual(0);
    expect(y + height).toBeLessThanOrEqual(640);
    await page.waitForTimeout(600);
    await page.keyboard.press('Enter');
    await waitUntil(async () => (await countLog(office)) === 1);
  });

  test('seven tabs over HTTP/1.1 share one stream, and all of them can answer', async () => {
    using office = await openOffice();
    for (let each = 0; each < 7; each += 1) await office.ask({ to: `p${each}`, topic: `t${each}` });
    let streams = 0;
    office.gate.pass = (request, response) => {
      if (request.url.includes('/api/changes')) streams += 1;
      return response;
    };
    const context = await browser.newContext();
    onTestFinished(async () => context.close());
    const pages: Page[] = [];
    for (let each = 0; each < 7; each += 1) pages.push(await openInbox(context, office.url));
    for (const [each, page] of pages.entries()) {
      await page.bringToFront();
      await page.getByText(`to p${each}?`).first().click();
      await waitForApproval(page, `to p${each}?`);
      await page.keyboard.press('a');
      await waitUntil(async () => (await office.readLog()).has(`p${each}`));
    }
    expect(streams).toBe(1);
    /* What a tab has answered is over in all of them. */
    await waitUntil(async () => (await pages[0]?.title()) === 'Inbox');
  });

  test('the list is read once at first, and again when the stream was cut off', async () => {
    using office = await openOffice();
    await office.ask({ to: 'x', topic: 'x' });
    const asked: string[] = [];
    office.gate.pass = (request, response) => {
      const { pathname } = new URL(request.url);
      const what = pathname.split('/').at(-1) ?? '';
      if (what === 'requests' || what === 'changes') asked.push(what);
      if (asked.filter((each) => each === 'changes').length !== 1) return response;
      if (what !== 'changes') return response;
      const { headers } = response;
      void response.body?.cancel();
      return new Response('retry: 300\n\n', { headers });
    };
    await openPage(office.url);
    await expect.poll(() => asked).toEqual(['requests', 'changes', 'changes', 'requests']);
  });

  test('after eight hours of sleep no key counts before the page has read the log again', async () => {
    using office = await openOffice();
    for (const to of ['x', 'y']) await office.ask({ to, topic: to });
    const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
    onTestFinished(async () => page.close());
    await page.addInitScript(
      'const read = Date.now; window.ahead = 0; Date.now = () => read() + window.ahead;',
    );
    await page.goto(office.url);
    await page.locator('[role=row]').first().waitFor();
    await page.keyboard.press('j');
    await waitForApproval(page, 'to x?');
    await page.route('**/api/**', async (route) =>
      route.request().method() === 'GET' ? route.abort() : route.continue(),
    );
    await page.evaluate('window.ahead = 8 * 60 * 60_000');
    await page.keyboard.press('a');
    await page.waitForTimeout(300);
    expect(office.posted).toEqual([]);
    await page.unroute('**/api/**');
    await waitUntil(async () => {
      await page.keyboard.press('a');
      return (await countLog(office)) === 1;
    });
  });

  test.each(['light', 'dark'] as const)('axe finds nothing on the %s page', async (colorScheme) => {
    using office = await openOffice();
    for (const to of ['x', 'y']) await office.ask({ to, topic: to, risk: 'critical' });
    for (const to of ['a', 'b']) await office.ask({ to });
    const page = await openPage(office.url);
    await page.emulateMedia({ colorScheme });
    const check = async (): Promise<unknown> => {
      await page.evaluate(axe.source);
      return page.evaluate(
        'axe.run().then(({ violations }) => violations.map(({ id, nodes }) => [id, nodes[0].html]))',
      );
    };
    expect(await check()).toEqual([]);
    await page.keyboard.press('j');
    await page.keyboard.press('Enter');
    expect(await check()).toEqual([]);
    await page.keyboard.press('r');
    expect(await check()).toEqual([]);
    await page.keyboard.press('Escape');
    await page.keyboard.press('?');
    expect(await check()).toEqual([]);
  });

  test('an answer whose response is lost is sent again, and is recorded and shown once', async () => {
    using office = await openOffice();
    for (const to of ['x', 'y']) await office.ask({ to, topic: to });
    const page = await openPage(office.url);
    await page.keyboard.press('j');
    await waitForApproval(page, 'to x?');
    office.gate.pass = (request, response) =>
      request.method === 'POST' && office.posted.length < 3
        ? new Response('The server is gone.', { status: 502 })
        : response;
    await page.keyboard.press('a');
    await page.getByRole('status').getByText('Approved by ada: Send a mail to x?').waitFor();
    expect(office.posted).toHaveLength(3);
    expect(await page.getByRole('alert').textContent()).toBe('');
    expect([...(await office.readLog()).keys()]).toEqual(['x']);
  });

  test('a critical request takes a second step, on which no button has the focus', async () => {
    using office = await openOffice();
    await office.ask({ to: 'x', risk: 'critical' });
    const page = await openPage(office.url);
    await page.keyboard.press('j');
    await waitForApproval(page, 'to x?');
    await page.keyboard.press('a');
    await page.keyboard.press('a');
    await page.locator('h3:focus', { hasText: 'critical' }).waitFor();
    expect(office.posted).toEqual([]);
    await page.waitForTimeout(600);
    await page.keyboard.press('a');
    await waitUntil(async () => (await countLog(office)) === 1);
  });

  test('the accessibility tree, and what is spoken, are as in the file', async () => {
    using office = await openOffice();
    await office.ask({ to: 'x', topic: 'x', risk: 'critical' });
    for (const to of ['a', 'b']) await office.ask({ to });
    const page = await openPage(office.url);
    const said: string[] = [];
    const listen = async (text: string): Promise<void> => void said.push(text);
    await page.exposeFunction('heard', listen);
    await page.evaluate(`for (const region of document.querySelectorAll('[role=status], [role=alert]'))
      new MutationObserver(() => heard(region.role + ': ' + region.textContent.trim()))
        .observe(region, { childList: true, characterData: true, subtree: true })`);
    const list = await page.locator('body').ariaSnapshot();
    await page.keyboard.press('j');
    await waitForApproval(page, 'to x?');
    await page.keyboard.press('a');
    await page.locator('h3:focus').waitFor();
    await page.waitForTimeout(600);
    await page.keyboard.press('a');
    await page.locator('#request-title', { hasText: '2 × send_mail' }).waitFor();
    await page.getByRole('status').getByText('Approved').waitFor();
    const open = await page.locator('.detail-pane').ariaSnapshot();
    await office.ask({ to: 'late', topic: 'late' });
    await page.getByRole('status').getByText('1 new request.').waitFor();
    const spoken = said.filter((text, nth) => text !== said[nth - 1]);
    const times = /\w+, \w+ \d+, \d{4} at [\d:.]+\s[AP]M UTC|\d+ seconds? (ago)|now/g;
    const text = [list, open, ...spoken].join('\n\n').replaceAll(times, 'TIME');
    await expect(`${text}\n`).toMatchFileSnapshot('../golden/inbox-page.txt');
  });

  test('a notification is shown once for all tabs, when nobody looks, and without what it is about', async () => {
    using office = await openOffice();
    await office.ask({ to: 'x', topic: 'x' });
    const context = await browser.newContext({ permissions: ['notifications'] });
    onTestFinished(async () => context.close());
    const shown: string[] = [];
    await context.exposeFunction('notified', (text: string) => void shown.push(text));
    await context.addInitScript(`
      window.Notification = class extends EventTarget {
        static permission = 'granted';
        static requestPermission = async () => 'granted';
        constructor(title, { body }) { super(); notified(title + ': ' + body); }
      };
      let hidden = false;
      Object.defineProperty(document, 'hidden', { get: () => hidden });
      window.hide = () => { hidden = true; document.dispatchEvent(new Event('visibilitychange')); };
    `);
    const pages = [await openInbox(context, office.url), await openInbox(context, office.url)];
    await pages[0]?.getByRole('button', { name: 'Notify me' }).click();
    await pages[1]?.reload();
    await office.ask({ to: 'seen', topic: 'seen' });
    for (const page of pages) await waitUntil(async () => (await page.title()) === '(2) Inbox');
    expect(shown).toEqual([]);
    for (const page of pages) await page.evaluate('hide()');
    await pages[0]?.waitForTimeout(11_000);
    await office.ask({ to: 'secret@example.com', topic: 'y' });
    await waitUntil(() => shown.length > 0);
    await pages[0]?.waitForTimeout(1_500);
    expect(shown).toEqual(['Inbox: 3 requests wait for you.']);
    expect(await pages[1]?.title()).toBe('(3) Inbox');
  });

  test.each([
    ['without locks', 'Object.defineProperty(navigator, "locks", { value: undefined })'],
    [
      'where streams are cut off',
      'window.EventSource = class { readyState = 2; addEventListener() {} static CLOSED = 2; static OPEN = 1; }',
    ],
  ])('%s each visible tab asks, and shows what is new', async (_how, script) => {
    using office = await openOffice();
    await office.ask({ to: 'x', topic: 'x' });
    const context = await browser.newContext();
    onTestFinished(async () => context.close());
    await context.addInitScript(script);
    const page = await openInbox(context, office.url);
    await office.ask({ to: 'y', topic: 'y' });
    await waitUntil(async () => (await page.getByRole('row').count()) === 2, { timeout: 40_000 });
  });

  test('others see that somebody is looking at a request', async () => {
    using office = await openOffice({
      authorize: ({ request }) => ({
        principal: /as=(\w+)/.exec(request.headers.get('cookie') ?? '')?.[1] ?? 'ada',
      }),
    });
    await office.ask({ to: 'x', topic: 'x' });
    const page = await openPage(office.url);
    const context = await browser.newContext();
    onTestFinished(async () => context.close());
    await context.addCookies([{ name: 'as', value: 'bo', url: office.url }]);
    const other = await openInbox(context, office.url);
    await page.keyboard.press('j');
    await other.getByRole('row').getByText('ada is looking at it').waitFor();
    await other.keyboard.press('j');
    await other.locator('#request-title', { hasText: 'to x?' }).waitFor();
    await other.keyboard.press('Space');
    await waitForApproval(other, 'to x?');
    await other.keyboard.press('a');
    await waitUntil(async () => (await countLog(office)) === 1);
    expect((await office.readLog()).get('x')?.by).toBe('bo');
    await page.locator('.ended', { hasText: 'Approved by bo' }).waitFor();
  });

  test('an edit that the server refuses is marked, kept, corrected and approved', async () => {
    using office = await openOffice();
    for (const to of ['x', 'y']) await office.ask({ to, topic: to });
    const page = await openPage(office.url);
    const edit = async (text: string): Promise<void> => {
      await page.locator('.edit-form textarea').first().fill(text);
      await page.getByRole('button', { name: 'Check the edit' }).click();
      await page.locator('#request-title:focus').waitFor();
      while (await page.locator('button.yes[aria-disabled="true"]').isVisible()) {
        await page.keyboard.press('Space');
        await page.waitForTimeout(50);
      }
      await page.keyboard.press('a');
    };
    await page.keyboard.press('j');
    await waitForApproval(page, 'to x?');
    await page.keyboard.press('e');
    await edit('Buy it, it is cheap');
    await page.getByRole('alert').getByText('Not recorded').waitFor();
    await page.locator('#request-title', { hasText: 'to y?' }).waitFor();
    await page.locator('.list-row.refused').click();
    await page.locator('.refusal').first().waitFor();
    await page.keyboard.press('e');
    expect(await page.locator('.edit-form textarea').first().inputValue()).toMatch(/cheap$/);
    expect(await page.locator('.edit-form').textContent()).toContain('must not say cheap');
    await edit('Buy it');
    await waitUntil(async () => (await countLog(office)) === 1);
    expect((await office.readLog()).get('x')?.input).toEqual({ to: 'x', body: 'Buy it' });
  });

  test('a lost call is settled by whoever may, with what became of it', async () => {
    const lost = await lostCalls(['t1'], { name: 'office' });
    const { agent } = lost.agent();
    await agent.thread('t1');
    using site = await serveInbox({ agents: [agent], maySettle: () => true, maySee: () => true });
    const page = await openInbox(browser, `${site.url}#list=unsettled`);
    onTestFinished(async () => page.close());
    await page.keyboard.press('j');
    await page.getByRole('button', { name: 'Settle …' }).click();
    await page.locator('legend:focus').waitFor();
    await page.getByLabel('It did not happen; this is why:').check();
    await page.getByRole('textbox', { name: 'Why' }).fill('The airline was closed.');
    await page.waitForTimeout(600);
    await page.getByRole('button', { name: 'Settle', exact: true }).click();
    await page.getByRole('status').getByText('Settled').waitFor();
    const [call] = (await agent.thread('t1')).calls;
    expect(call).toMatchObject({ status: 'failed', outcome: { error: 'The airline was closed.' } });
  });

  test.each([
    ['search', 'searchbox', 'Search'],
    ['filter', 'textbox', 'Agent'],
  ] as const)('what is typed into a %s stays while requests arrive', async (_what, role, name) => {
    using office = await openOffice();
    await office.ask({ to: 'x', topic: 'x' });
    const page = await openPage(office.url);
    await page.getByText('Filter').click();
    const field = page.getByRole(role, { name, exact: true });
    await field.focus();
    await page.keyboard.type('off');
    await office.ask({ to: 'y', topic: 'y' });
    await page.getByText('to y?').first().waitFor();
    await page.keyboard.type('ice');
    expect(await field.inputValue()).toBe('office');
  });

  test('a search shows what it finds, and Escape leaves it without an answer', async () => {
    using office = await openOffice();
    for (const to of ['x', 'y', 'z']) await office.ask({ to, topic: to });
    const page = await openPage(office.url);
    await page.keyboard.press('/');
    await page.keyboard.type('to y');
    await page.keyboard.press('Enter');
    await waitUntil(async () => (await page.getByRole('row').count()) === 1);
    await page.keyboard.press('Escape');
    await page.locator('[role=row]:focus', { hasText: 'to y?' }).waitFor();
    expect(office.posted).toEqual([]);
  });

  test('a rule that was earned is suggested away from Approve, and made by a dialog alone', async () => {
    using office = await openOffice();
    const { agent } = office;
    for (let each = 1; each <= 8; each += 1) {
      await office.ask({ to: `p${each}`, mayBeRemembered: true });
      const thread = await agent.thread(`thread ${each}`);
      const answers = thread.activeApprovalRequests.map((request) => request.approve());
      await agent.respond(answers, thread, { principal: 'ada' });
    }
    await office.ask({ to: 'x', mayBeRemembered: true });
    const page = await openPage(office.url);
    await page.keyboard.press('j');
    await page.locator('#request-title', { hasText: 'to x?' }).waitFor();
    await page.keyboard.press('Space');
    await waitForApproval(page, 'to x?');
    await page.keyboard.press('a');
    const rule = page.getByRole('button', { name: /make a rule/ });
    await rule.waitFor();
    expect(await page.locator('.answers').getByText('rule').count()).toBe(0);
    const before = office.posted.length;
    await rule.click();
    await page.locator('dialog h2:focus').waitFor();
    await page.keyboard.press('a');
    await page.keyboard.press('Enter');
    expect(office.posted).toHaveLength(before);
    expect(await agent.grants()).toEqual([]);
    await page.getByRole('button', { name: 'Make the rule' }).click();
    await page.getByRole('status').getByText('The rule is made').waitFor();
    expect(await agent.grants()).toMatchObject([{ toolName: 'send_mail' }]);
  });
});
