import axe from 'axe-core';
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { waitUntil } from '../support/waiting.ts';
import type { OfficeStage } from './office-stage.ts';
import { hurry, openInbox, spoken, waitForApproval, watchPosted } from './page-steps.ts';

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

/** Scenes of the list: what arrives, is found, is told to other tabs and to other people. */
export function playLists(stage: () => OfficeStage): void {
  test('twenty arrivals move nothing while the pointer rests on Approve', async () => {
    /* How long ago something was is written anew at each half of a minute. */
    const office = await stage().openOffice({ now: Date.UTC(2026, 10, 26, 14) });
    for (const to of ['x', 'y']) await office.ask({ to, topic: to });
    const page = await stage().open(office);
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

  test('the list is read once at first, and again when the stream was cut off', async () => {
    const office = await stage().openOffice();
    await office.ask({ to: 'x', topic: 'x' });
    const context = await stage().openContext();
    const asked: string[] = [];
    await context.route('**/api/**', async (route) => {
      const what = new URL(route.request().url()).pathname.split('/').at(-1) ?? '';
      if (what === 'requests' || what === 'changes') asked.push(what);
      const isFirst = asked.filter((each) => each === 'changes').length === 1;
      if (what !== 'changes' || !isFirst) return route.continue();
      return route.fulfill({ contentType: 'text/event-stream', body: 'retry: 300\n\n' });
    });
    await openInbox(context, office.url);
    await expect
      .poll(() => asked, { timeout: 20_000 })
      .toEqual(['requests', 'changes', 'changes', 'requests']);
  });

  test('seven tabs over HTTP/1.1 share one stream, and all of them can answer', async () => {
    const office = await stage().openOffice();
    for (let each = 0; each < 7; each += 1) await office.ask({ to: `p${each}`, topic: `t${each}` });
    let streams = 0;
    const context = await stage().openContext();
    context.on('request', (request) => {
      if (request.url().includes('/api/changes')) streams += 1;
    });
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

  test('side by side in 900 px the filter is inside the page, and titles have the most room', async () => {
    const office = await stage().openOffice();
    await office.ask({ to: 'x', topic: 'x' });
    const page = await stage().open(office, { viewport: { width: 900, height: 700 } });
    await page.getByText('Filter').click();
    const fields = await page.locator('.filter-fields').boundingBox();
    expect((fields?.x ?? 0) + (fields?.width ?? 0)).toBeLessThanOrEqual(900);
    const [row, what] = ['.list-row', '.list-row .what'].map((each) => page.locator(each));
    const widths = [(await row?.boundingBox())?.width, (await what?.boundingBox())?.width];
    expect((widths[1] ?? 0) / (widths[0] ?? 0)).toBeGreaterThan(0.5);
  });

  test('enlarged four times, the title of what is opened is in the window', async () => {
    const office = await stage().openOffice();
    await office.ask({ to: 'x', topic: 'x' });
    const page = await stage().open(office, { viewport: { width: 320, height: 200 } });
    await page.getByRole('row').press('Enter');
    await page.locator('#request-title:focus').waitFor();
    const { y = -1, height = 0 } = (await page.locator('#request-title').boundingBox()) ?? {};
    expect(y).toBeGreaterThanOrEqual(0);
    expect(Math.floor(y + height)).toBeLessThanOrEqual(200);
  });

  test('what keeps an approval from counting is shown in two whole lines where there is little room', async () => {
    const office = await stage().openOffice();
    await office.ask({ to: 'x', topic: 'x', body: 'A line.\n'.repeat(60) });
    const page = await stage().open(office, { viewport: { width: 390, height: 700 } });
    await page.getByRole('row').click();
    await page.locator('#answer-why', { hasText: 'Left: ' }).waitFor();
    const lines = `(() => {
      const why = document.querySelector('#answer-why');
      return why.getBoundingClientRect().height / parseFloat(getComputedStyle(why).lineHeight);
    })()`;
    expect(await page.evaluate(lines)).toBeGreaterThanOrEqual(2);
  });

  test.each(['light', 'dark'] as const)('axe finds nothing on the %s page', async (colorScheme) => {
    const office = await stage().openOffice();
    for (const to of ['x', 'y']) await office.ask({ to, topic: to, risk: 'critical' });
    for (const to of ['a', 'b']) await office.ask({ to });
    const page = await stage().open(office, { colorScheme });
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

  test('the accessibility tree, and what is spoken, are as in the file', async () => {
    /* What is asked in one millisecond has one time, and takes a line less. */
    const office = await stage().openOffice({ now: Date.UTC(2026, 10, 26, 14, 0, 0, 123) });
    await office.ask({ to: 'x', topic: 'x', risk: 'critical' });
    for (const to of ['a', 'b']) await office.ask({ to });
    const page = await stage().open(office);
    const heard: string[] = [];
    const listen = async (text: string): Promise<void> => void heard.push(text);
    await page.exposeFunction('heard', listen);
    await page.evaluate(`for (const region of document.querySelectorAll('[role=status], [role=alert]'))
      new MutationObserver(() => heard(region.role + ': ' + region.textContent.trim()))
        .observe(region, { childList: true, characterData: true, subtree: true })`);
    await page.getByRole('button', { name: 'For me 3' }).waitFor();
    const list = await page.locator('body').ariaSnapshot();
    await page.keyboard.press('j');
    await waitForApproval(page, 'to x?');
    await page.keyboard.press('a');
    await page.locator('h3:focus').waitFor();
    await page.waitForTimeout(600);
    await page.keyboard.press('a');
    await page.locator('#request-title', { hasText: '2 × send_mail' }).waitFor();
    await spoken(page, 'Approved').waitFor();
    const why = page.locator('#answer-why');
    await expect.poll(() => why.textContent()).toContain('Left: topic, who asks');
    const open = await page.locator('.detail-pane').ariaSnapshot();
    await office.ask({ to: 'late', topic: 'late' });
    await spoken(page, '1 new request.').waitFor();
    const said = heard.filter((text, nth) => text !== heard[nth - 1]);
    const times = /\w+, \w+ \d+, \d{4} at [\d:.]+\s[AP]M UTC|\d+ seconds? ago|in \d+ seconds?|now/g;
    const text = [list, open, ...said].join('\n\n').replaceAll(times, 'TIME');
    await expect(`${text}\n`).toMatchFileSnapshot('../golden/inbox-page.txt');
  });

  test('a notification is shown once for all tabs, when nobody looks, and without what it is about', async () => {
    const office = await stage().openOffice();
    await office.ask({ to: 'x', topic: 'x' });
    const context = await stage().openContext({ permissions: ['notifications'] });
    await context.addInitScript(hurry);
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
    await pages[0]?.waitForTimeout(1_100);
    await office.ask({ to: 'secret@example.com', topic: 'y' });
    await waitUntil(() => shown.length > 0);
    await pages[0]?.waitForTimeout(500);
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
    const office = await stage().openOffice();
    await office.ask({ to: 'x', topic: 'x' });
    const page = await stage().open(office, { script: `${hurry}${script}` });
    await office.ask({ to: 'y', topic: 'y' });
    await waitUntil(async () => (await page.getByRole('row').count()) === 2);
  });

  test.each([
    ['search', 'searchbox', 'Search'],
    ['filter', 'textbox', 'Agent'],
  ] as const)('what is typed into a %s stays while requests arrive', async (_what, role, name) => {
    const office = await stage().openOffice();
    await office.ask({ to: 'x', topic: 'x' });
    const page = await stage().open(office);
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
    const office = await stage().openOffice();
    for (const to of ['x', 'y', 'z']) await office.ask({ to, topic: to });
    const page = await stage().open(office);
    const posted = watchPosted(page);
    await page.keyboard.press('/');
    await page.keyboard.type('to y');
    await page.keyboard.press('Enter');
    await waitUntil(async () => (await page.getByRole('row').count()) === 1);
    await page.keyboard.press('Escape');
    await page.locator('[role=row]:focus', { hasText: 'to y?' }).waitFor();
    expect(posted).toEqual([]);
  });
}
