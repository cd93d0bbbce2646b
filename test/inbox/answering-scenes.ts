import { expect, test } from 'vitest';
import { waitUntil } from '../support/waiting.ts';
import type { OfficeStage } from './office-stage.ts';
import {
  hurry,
  keepFromReading,
  readFocusedId,
  readToEnd,
  reject,
  spoken,
  stoppable,
  waitForApproval,
  watchPosted,
} from './page-steps.ts';

/* What is wider than the page. */
const findTooWide = `[...document.querySelectorAll('body *')]
  .filter((element) => element.getBoundingClientRect().right > document.documentElement.clientWidth)
  .map(({ tagName, className }) => [tagName, className].join(' '))`;

/** Scenes of people who answer. */
export function playAnswering(stage: () => OfficeStage): void {
  test('fifty requests are cleared by one key each, and the log has what was shown', async () => {
    const office = await stage().openOffice();
    for (let each = 1; each <= 50; each += 1)
      await office.ask({ to: `p${each}`, topic: `t${each}` });
    const page = await stage().open(office, { script: hurry });
    await page.keyboard.press('j');
    const shown: string[] = [];
    for (let each = 1; each <= 50; each += 1) {
      await page.locator('button.yes:not([aria-disabled="true"])').waitFor();
      const title = (await page.locator('#request-title').textContent()) ?? '';
      shown.push(/to (\w+)\?/.exec(title)?.[1] ?? '');
      await page.keyboard.press('a');
      await waitUntil(async () => (await page.locator('#request-title').textContent()) !== title);
      expect(await readFocusedId(page)).toBe('request-title');
    }
    await waitUntil(async () => (await office.readLog()).size === 50);
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
    const office = await stage().openOffice();
    for (const to of ['x', 'y', 'z']) await office.ask({ to, topic: to });
    const page = await stage().open(office);
    await page.keyboard.press('j');
    await waitForApproval(page, 'to x?');
    if (focused !== undefined) await page.locator(focused).focus();
    for (let times = 0; times < 100; times += 1) {
      await page.keyboard.down(key);
      await page.waitForTimeout(30);
    }
    await waitForApproval(page, 'to y?');
    await waitUntil(async () => (await office.readLog()).size > 0);
    expect([...(await office.readLog()).keys()]).toEqual(['x']);
    await page.keyboard.up(key);
    await page.keyboard.press('a');
    await waitUntil(async () => (await office.readLog()).size === 2);
  });

  test('a pressed three times as fast as a finger can answers one request', async () => {
    const office = await stage().openOffice();
    for (const to of ['x', 'y', 'z']) await office.ask({ to, topic: to });
    const page = await stage().open(office, { script: stoppable });
    await page.keyboard.press('j');
    await waitForApproval(page, 'to x?');
    await page.evaluate('stopClock()');
    await page.keyboard.press('a');
    await page.locator('#answer-why', { hasText: 'It has only just been shown.' }).waitFor();
    await page.keyboard.press('a');
    await page.keyboard.press('a');
    await page.evaluate('startClock()');
    await waitForApproval(page, 'to y?');
    await waitUntil(async () => (await office.readLog()).size > 0);
    expect([...(await office.readLog()).keys()]).toEqual(['x']);
  });

  test('a double click answers one request', async () => {
    const office = await stage().openOffice();
    for (const to of ['x', 'y']) await office.ask({ to, topic: to });
    const page = await stage().open(office);
    await page.keyboard.press('j');
    await waitForApproval(page, 'to x?');
    await page.waitForTimeout(600);
    await page.locator('button.yes').dblclick();
    await waitUntil(async () => (await office.readLog()).size > 0);
    await page.waitForTimeout(600);
    expect([...(await office.readLog()).keys()]).toEqual(['x']);
  });

  test('what was decided elsewhere is refused by name, and the focus stays', async () => {
    const office = await stage().openOffice();
    for (const to of ['x', 'y']) await office.ask({ to, topic: to });
    const page = await stage().open(office);
    await page.keyboard.press('j');
    await waitForApproval(page, 'to x?');
    /* The page does not hear of it before the answer. */
    await keepFromReading(page);
    await office.answerElsewhere('bo', false, ['x']);
    await page.keyboard.press('a');
    await page.getByRole('alert').getByText('Not recorded').waitFor();
    await page.locator('.list-row.refused').waitFor();
    expect(await page.getByRole('alert').textContent()).toContain('to x?');
    expect(await readFocusedId(page)).toBe('request-title');
    expect((await office.readLog()).get('x')).toMatchObject({ status: 'rejected', by: 'bo' });
  });

  test('forty alike are approved together after all of them were shown, each with an outcome', async () => {
    const office = await stage().openOffice();
    const long = 'word '.repeat(180);
    for (let each = 0; each < 40; each += 1)
      await office.ask({ to: `p${each}`, body: `${long}${each === 17 ? 'all of it' : 'a bit'}` });
    const page = await stage().open(office);
    await page.keyboard.press('j');
    await page.locator('#request-title', { hasText: '40 × send_mail' }).waitFor();
    await page.keyboard.press('a');
    await spoken(page, 'Read it to the end first').waitFor();
    await office.ask({ to: 'late' });
    await page.getByRole('button', { name: '1 new' }).waitFor();
    await page.locator('.detail-pane').getByText('all of it').first().waitFor();
    await keepFromReading(page);
    await office.answerElsewhere('bo', false, ['p3', 'p4']);
    await page.keyboard.press('v');
    await readToEnd(page);
    await page.keyboard.press('a');
    await waitUntil(async () => (await office.readLog()).size === 40);
    const log = await office.readLog();
    expect([...log.values()].filter(({ status }) => status === 'approved')).toHaveLength(38);
    expect(log.has('late')).toBe(false);
    await page.getByRole('alert').getByText('Not recorded').waitFor();
    await page.getByText('2 not recorded').first().waitFor();
  });

  test('of three alike, all of which were shown, none runs: one reason is for all, and a late one waits', async () => {
    const office = await stage().openOffice();
    for (const to of ['a', 'b', 'c'])
      await office.ask({ to, body: `${'A line.\n'.repeat(60)}To ${to}` });
    const page = await stage().open(office);
    await page.keyboard.press('j');
    await page.locator('#request-title', { hasText: '3 × send_mail' }).waitFor();
    await page.keyboard.press('v');
    await readToEnd(page);
    await office.ask({ to: 'late' });
    await page.getByRole('button', { name: '1 new' }).waitFor();
    /* The log says that all four wait while the answers are on their way. */
    const mayReach = Promise.withResolvers<void>();
    await page.route('**/api/answers', async (route) => {
      await mayReach.promise;
      await route.continue();
    });
    await reject(page, 'Not this week.');
    await page.locator('#request-title:focus', { hasText: /to late|4 ×/ }).waitFor();
    expect(await page.locator('#request-title').textContent()).toBe('Send a mail to late?');
    mayReach.resolve();
    await spoken(page, '3 requests: Rejected by ada.').waitFor();
    const log = await office.readLog();
    expect([...log.keys()]).toEqual(['a', 'b', 'c']);
    for (const answered of log.values())
      expect(answered).toMatchObject({ status: 'rejected', by: 'ada', reason: 'Not this week.' });
  });

  test('“approve all rows” typed into a field answers nothing, with Ctrl+Enter neither', async () => {
    const office = await stage().openOffice();
    for (const to of ['x', 'y']) await office.ask({ to, topic: to });
    const page = await stage().open(office);
    const posted = watchPosted(page);
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
    expect(posted).toEqual([]);
  });

  test('at 320 px with letters twice as large, in forced colours, without letters, a request is approved', async () => {
    const office = await stage().openOffice();
    for (const to of ['x', 'y']) await office.ask({ to, topic: to });
    const page = await stage().open(office, {
      viewport: { width: 320, height: 640 },
      forcedColors: 'active',
    });
    const posted = watchPosted(page);
    await page.evaluate("document.documentElement.style.fontSize = '200%'");
    await page.getByRole('button', { name: 'Keys' }).click();
    await page.getByLabel('Letters are keys in this browser').uncheck();
    await page.getByRole('button', { name: 'Close' }).click();
    await page.getByRole('row').first().focus();
    await page.keyboard.press('Enter');
    await page.locator('#request-title:focus').waitFor();
    await page.keyboard.press('a');
    await readToEnd(page);
    expect(posted).toEqual([]);
    expect(await page.evaluate(findTooWide)).toEqual([]);
    while (!(await page.locator('button.yes:focus').isVisible())) await page.keyboard.press('Tab');
    const { y = -1, height = 0 } = (await page.locator('button.yes').boundingBox()) ?? {};
    expect(y).toBeGreaterThanOrEqual(0);
    expect(y + height).toBeLessThanOrEqual(640);
    await page.waitForTimeout(600);
    await page.keyboard.press('Enter');
    await waitUntil(async () => (await office.readLog()).size === 1);
  });

  test('after eight hours of sleep no key counts before the page has read the log again', async () => {
    const office = await stage().openOffice();
    for (const to of ['x', 'y']) await office.ask({ to, topic: to });
    const page = await stage().open(office, {
      script: 'const read = Date.now; window.ahead = 0; Date.now = () => read() + window.ahead;',
    });
    const posted = watchPosted(page);
    await page.keyboard.press('j');
    await waitForApproval(page, 'to x?');
    await keepFromReading(page);
    await page.evaluate('window.ahead = 8 * 60 * 60_000');
    await page.keyboard.press('a');
    await page.waitForTimeout(300);
    expect(posted).toEqual([]);
    await page.unroute('**/api/**');
    await waitForApproval(page, 'to x?');
    await page.keyboard.press('a');
    await waitUntil(async () => (await office.readLog()).size === 1);
  });

  test('an answer whose response is lost is sent again, and is recorded and shown once', async () => {
    const office = await stage().openOffice();
    for (const to of ['x', 'y']) await office.ask({ to, topic: to });
    const page = await stage().open(office);
    const posted = watchPosted(page);
    await page.keyboard.press('j');
    await waitForApproval(page, 'to x?');
    await page.route('**/api/answers', async (route) => {
      const response = await route.fetch();
      return posted.length < 3 ? route.fulfill({ status: 502 }) : route.fulfill({ response });
    });
    await page.keyboard.press('a');
    await spoken(page, 'Approved by ada: Send a mail to x?').waitFor();
    expect(posted).toHaveLength(3);
    expect(await page.getByRole('alert').textContent()).toBe('');
    expect([...(await office.readLog()).keys()]).toEqual(['x']);
  });

  test('an answer that gets no response is sent again as soon as the server responds to something else', async () => {
    const office = await stage().openOffice();
    await office.ask({ to: 'x' });
    const page = await stage().open(office, { script: `${hurry}${stoppable}` });
    const posted = watchPosted(page);
    await page.keyboard.press('j');
    await waitForApproval(page, 'to x?');
    await page.route('**/api/answers', async (route) =>
      posted.length === 1 ? new Promise(() => {}) : route.continue(),
    );
    await page.keyboard.press('a');
    /* The poll of each minute never comes. */
    await page.evaluate('stopClock()');
    await spoken(page, 'Approved by ada: Send a mail to x?').waitFor();
    expect(posted).toHaveLength(2);
  });

  test('after its person has signed out, the page shows nothing, and no key answers, until they are back', async () => {
    const office = await stage().openOffice();
    for (const to of ['x', 'y']) await office.ask({ to, topic: to });
    const page = await stage().open(office);
    await page.keyboard.press('j');
    await waitForApproval(page, 'to x?');
    const json = { error: { code: 'not-allowed', message: 'This user may not use this inbox.' } };
    await page.route('**/api/**', async (route) => route.fulfill({ status: 403, json }));
    await page.keyboard.press('a');
    await page.getByRole('alert').getByText('This user may not use this inbox.').waitFor();
    const text = await page.locator('#root').innerText();
    expect(text).not.toMatch(/Send a mail|office/);
    await page.unroute('**/api/**');
    for (const key of ['j', 'a', 'Enter']) await page.keyboard.press(key);
    expect(await office.readLog()).toEqual(new Map());
    await page.evaluate("document.dispatchEvent(new Event('visibilitychange'))");
    await page.locator('#request-title', { hasText: 'Send a mail to y?' }).waitFor();
  });

  test('after somebody else has signed in, an answer is not recorded, and the page says so without asking first', async () => {
    const office = await stage().openOffice();
    for (const to of ['x', 'y']) await office.ask({ to, topic: to });
    const page = await stage().open(office);
    const asked: string[] = [];
    page.on('dialog', async (dialog) => {
      asked.push(dialog.type());
      await dialog.accept();
    });
    await page.keyboard.press('j');
    await waitForApproval(page, 'to x?');
    await page.context().addCookies([{ name: 'person', value: 'bo', url: office.url }]);
    await page.keyboard.press('a');
    await page.getByRole('alert').getByText('The sign-in has changed.').waitFor();
    await page.locator('#request-title', { hasText: 'to y?' }).waitFor();
    expect(asked).toEqual([]);
    expect(await office.readLog()).toEqual(new Map());
    await page.reload();
    await page.locator('#request-title', { hasText: 'to y?' }).waitFor();
    expect(await page.getByRole('alert').textContent()).toBe('');
  });

  test('a critical request takes a second step, on which no button has the focus', async () => {
    const office = await stage().openOffice();
    await office.ask({ to: 'x', risk: 'critical' });
    const page = await stage().open(office, { script: stoppable });
    const posted = watchPosted(page);
    await page.keyboard.press('j');
    await waitForApproval(page, 'to x?');
    await page.evaluate('stopClock()');
    await page.keyboard.press('a');
    await page.keyboard.press('a');
    await page.locator('h3:focus', { hasText: 'critical' }).waitFor();
    await page.keyboard.press('a');
    await spoken(page, 'It has only just been shown.').waitFor();
    expect(posted).toEqual([]);
    await page.evaluate('startClock()');
    await waitForApproval(page, 'to x?');
    await page.keyboard.press('a');
    await waitUntil(async () => (await office.readLog()).size === 1);
  });

  test('an edit that the server refuses is marked, kept, corrected and approved', async () => {
    const office = await stage().openOffice();
    for (const to of ['x', 'y']) await office.ask({ to, topic: to });
    const page = await stage().open(office);
    const edit = async (text: string): Promise<void> => {
      await page.locator('.edit-form textarea').first().fill(text);
      await page.getByRole('button', { name: 'Check the edit' }).click();
      await page.locator('#request-title:focus', { hasText: /^Before the edit: Send/ }).waitFor();
      await readToEnd(page);
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
    await waitUntil(async () => (await office.readLog()).size === 1);
    expect((await office.readLog()).get('x')?.input).toEqual({ to: 'x', body: 'Buy it' });
  });
}
