import axe from 'axe-core';
import type { Locator, Page } from 'playwright-core';
import { eventsOf } from 'holdpoint/schemas';
import { sqliteStore } from 'holdpoint/stores/sqlite';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { findChromium } from '../support/chromium.ts';
import { ReadmePageSite } from './readme-page-site.ts';

const { whyNot } = await findChromium();

const button = (page: Page, name: string): Locator =>
  page.getByRole('button', { name, exact: true });
/** How long the other person's page may take to show what is in the log. */
const timeout = 2_000;
const shows = async (page: Page, text: string): Promise<void> =>
  page.getByText(text).first().waitFor({ timeout });

/** What axe finds wrong with a page for people who can't see or use a mouse. */
async function findBarriers(page: Page): Promise<unknown> {
  await page.evaluate(axe.source);
  return page.evaluate('axe.run().then(({ violations }) => violations.map(({ id }) => id))');
}

async function says(page: Page, text: string): Promise<void> {
  await page.getByRole('textbox', { name: 'Message' }).fill(text);
  await button(page, 'Send').click();
}

describe.skipIf(whyNot !== undefined)(
  `two people at the documented page, from the packed tarball (${whyNot ?? 'in Chromium'})`,
  () => {
    let site: ReadmePageSite;
    beforeAll(async () => {
      site = await ReadmePageSite.make({ isPacked: true });
    }, 240_000);
    afterAll(async () => site[Symbol.asyncDispose](), 60_000);

    async function visit(person: string, hash: string): Promise<Page> {
      const context = await site.browser.newContext();
      context.setDefaultTimeout(20_000);
      await context.addCookies([{ name: 'person', value: person, url: site.url }]);
      const page = await context.newPage();
      await page.goto(`${site.url}#${hash}`);
      return page;
    }

    /** What the log has: who has voted, and who has decided. */
    async function logged(threadId: string): Promise<string[]> {
      using store = sqliteStore(site.pathOf('threads.sqlite'));
      return (await store.read(threadId)).flatMap(eventsOf).flatMap((event) => {
        if (event.type === 'request-voted') return [`${event.person} voted`];
        if (event.type !== 'request-answered' || event.response.type !== 'approval-response')
          return [];
        return [event.response.approved ? 'approved' : `rejected: ${event.response.reason}`];
      });
    }

    test('a quorum of two, one of them offline and one reloaded, through a restart of the server', async () => {
      const [ada, bob, cleo] = await Promise.all(
        ['ada', 'bob', 'cleo'].map(async (person) => visit(person, 'quorum')),
      );
      if (ada === undefined || bob === undefined || cleo === undefined)
        throw new Error('No pages.');
      await says(ada, 'Book Quorum');
      await button(ada, 'Approve').waitFor();
      await shows(cleo, 'you are not one of those who may answer it');
      for (const page of [ada, bob, cleo]) expect(await findBarriers(page)).toEqual([]);
      expect(await cleo.locator('section button').count()).toBe(0);
      await button(ada, 'Approve').click();
      await shows(ada, 'You have approved; 1 of 2.');
      await shows(bob, 'Approved by: ada, ');
      expect(await button(bob, 'Withdraw my approval').count()).toBe(0);
      expect(await logged('quorum')).toEqual(['ada voted']);
      await ada.reload();
      await shows(ada, 'You have approved; 1 of 2.');
      await site.killServer();
      await site.startServer();
      await bob.context().setOffline(true);
      await button(bob, 'Approve').click();
      await shows(bob, 'Sending your answer');
      expect(await logged('quorum')).toEqual(['ada voted']);
      await bob.context().setOffline(false);
      await bob.getByText('Booked.').first().waitFor();
      await shows(ada, 'Booked.');
      await shows(cleo, 'Booked.');
      for (const page of [ada, bob, cleo]) await shows(page, 'Approved by ada, bob');
      expect(await logged('quorum')).toEqual(['ada voted', 'approved']);
    }, 90_000);

    test('who asked is excluded and says so; the other one rejects, and both read why', async () => {
      const [ada, bob] = [await visit('ada', 'other'), await visit('bob', 'other')];
      await says(ada, 'Book Elsewhere');
      await shows(ada, 'You asked for this, so somebody else has to decide it.');
      expect(await ada.locator('section button').count()).toBe(0);
      await bob.getByLabel('Reason').fill('Too dear');
      await button(bob, 'Reject').click();
      for (const page of [bob, ada]) {
        await page.getByText('not done').first().waitFor();
        await page.getByText('Rejected by bob: Too dear').waitFor();
        expect(await findBarriers(page)).toEqual([]);
      }
      await ada.reload();
      await ada.getByText('Rejected by bob: Too dear').waitFor();
      expect(await logged('other')).toEqual(['rejected: Too dear']);
    }, 60_000);
  },
);
