import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import type { OfficeStage } from './office-stage.ts';
import { keepFromReading, openInbox, stoppable, waitForApproval } from './page-steps.ts';

/** Scenes of people whose sign-in ends while the page is open. */
export function playSignIns(stage: () => OfficeStage): void {
  test.each([
    ['this origin', 'nobody'],
    ['another origin', 'stranger'],
  ])(
    'once a sign-in at %s answers, no tab has anything of the inbox, and what was typed is kept',
    async (_where, person) => {
      const office = await stage().openOffice();
      await office.ask({ to: 'x' });
      const page = await stage().open(office);
      const context = page.context();
      const other = await openInbox(context, office.url);
      await page.keyboard.press('j');
      await waitForApproval(page, 'to x?');
      await page.keyboard.press('r');
      await page.locator('textarea.step:focus').fill('Too cheap.');
      /* It hears of the sign-out from the first tab alone. */
      await keepFromReading(other);
      await context.addCookies([{ name: 'person', value: person, url: office.url }]);
      await office.ask({ to: 'y' });
      for (const tab of [page, other]) await expectNothing(tab);
      const signIn = context.waitForEvent('page');
      await page.getByRole('button', { name: 'Sign in' }).click();
      await (await signIn).getByRole('heading', { name: 'Sign in' }).waitFor();
      await context.addCookies([{ name: 'person', value: 'ada', url: office.url }]);
      await other.unroute('**/api/**');
      await page.evaluate("document.dispatchEvent(new Event('visibilitychange'))");
      await page.locator('#request-title', { hasText: 'to x?' }).waitFor();
      expect(await page.locator('textarea.step').inputValue()).toBe('Too cheap.');
      await other.getByRole('row').first().waitFor();
    },
  );

  test('a stream of changes that is refused lets the page find out that nobody is signed in', async () => {
    const office = await stage().openOffice();
    await office.ask({ to: 'x' });
    const context = await stage().openContext();
    await context.addInitScript(stoppable);
    const asked = Promise.withResolvers<void>();
    const ended = Promise.withResolvers<void>();
    await context.route('**/api/changes*', async (route) => {
      asked.resolve();
      await ended.promise;
      await route.fulfill({ status: 200, contentType: 'text/html', body: '<h1>Sign in</h1>' });
    });
    const page = await openInbox(context, office.url);
    await asked.promise;
    /* No poll comes. */
    await page.evaluate('stopClock()');
    await context.addCookies([{ name: 'person', value: 'nobody', url: office.url }]);
    ended.resolve();
    await expectNothing(page);
  });
}

/* In the whole document, not only in what can be seen. */
async function expectNothing(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Sign in' }).waitFor();
  expect(await page.content()).not.toMatch(/Send a mail|Too cheap/);
  expect(await page.locator('textarea, [role="row"]').count()).toBe(0);
  expect(await page.title()).not.toMatch(/\d/);
}
