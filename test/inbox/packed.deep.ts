import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { findChromium, launchChromium } from '../support/chromium.ts';
import { waitUntil } from '../support/waiting.ts';
import { playActions } from './action-scenes.ts';
import { playAnswering } from './answering-scenes.ts';
import { playLists } from './list-scenes.ts';
import { OfficeStage } from './office-stage.ts';
import { PackedOffice } from './packed-office.ts';
import { readToEnd, reject, spoken, waitForApproval } from './page-steps.ts';
import { playReaders } from './reader-scenes.ts';
import { playSignIns } from './sign-in-scenes.ts';

/* A scene that waits for what never comes ends soon. */
vi.setConfig({ testTimeout: 120_000 });

const { whyNot } = await findChromium();
const second = 1000;

const row = (page: Page, to: string) => page.getByRole('row').filter({ hasText: `to ${to}?` });
const alert = (page: Page) => page.getByRole('alert');

/** Opens a request by its row, and reads it. */
async function read(page: Page, to: string): Promise<void> {
  await row(page, to).click();
  await page.locator('#request-title', { hasText: `to ${to}?` }).waitFor();
}

/** Opens a request by its row, until it could be approved. */
async function readToApprove(page: Page, to: string): Promise<void> {
  await read(page, to);
  await waitForApproval(page, `to ${to}?`);
}

describe.skipIf(whyNot !== undefined)(`the packed inbox (${whyNot ?? 'in Chromium'})`, () => {
  let browser: Browser;
  let office: PackedOffice;
  let stage: OfficeStage;
  beforeAll(async () => {
    browser = await launchChromium();
    office = await PackedOffice.make(browser);
    stage = await OfficeStage.start(browser, office.pathOf('.'));
  }, 300_000);
  afterAll(async () => {
    await stage[Symbol.asyncDispose]();
    await office[Symbol.asyncDispose]();
    await browser.close();
  });

  const open = async (person: string): Promise<Page> => {
    const page = await office.open(person);
    onTestFinished(async () => page.context().close());
    return page;
  };

  test('the page comes from the built files, and keeps to its policy without a complaint', async () => {
    const complaints: string[] = [];
    const loaded: string[] = [];
    const page = await open('ben');
    await page.goto('about:blank');
    page.on('console', (message) => complaints.push(message.text()));
    page.on('pageerror', (error) => complaints.push(error.message));
    page.on('request', (request) => loaded.push(request.url()));
    page.on('requestfailed', (request) => complaints.push(`${request.url()} failed`));
    const response = await page.goto(office.url);
    await page.locator('.empty:not(:empty)').waitFor();
    await page.keyboard.press('?');
    await page.getByRole('dialog').waitFor();

    expect(await response?.headerValue('content-security-policy')).toBe(
      "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; " +
        "img-src 'self' data: blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    );
    const files = office.pathOf('node_modules/holdpoint/dist/apps/inbox/page-files.js');
    const built = await readFile(files, 'utf8');
    for (const name of ['page.js', 'page.css']) {
      const served = await (await fetch(`${office.url}/${name}`)).text();
      expect(built.includes(JSON.stringify(served))).toBe(true);
    }
    for (const name of ['rolldown', 'preact', 'diff'])
      expect(existsSync(office.pathOf(`node_modules/${name}`))).toBe(false);
    const elsewhere = loaded.filter((url) => !url.startsWith(office.url) && url !== 'data:,');
    expect([elsewhere, complaints]).toEqual([[], []]);
  });

  test('what another process asks is on the page within a second, and what it answers is too', async () => {
    const page = await open('ben');
    const took: number[] = [];
    for (const to of ['one', 'two', 'three']) {
      const { threadId, at } = await office.ask('eve', { to, euros: 20 });
      await row(page, to).waitFor();
      took.push(Date.now() - at);
      const answeredAt = await office.approve(threadId, 'cleo');
      await row(page, to)
        .filter({ hasText: 'Approved by cleo' })
        .or(page.locator('.empty'))
        .waitFor();
      took.push(Date.now() - answeredAt);
      await waitUntil(async () => (await office.findPaid(to)).length === 1);
    }
    /* The middle one, as something else on this machine may take its processors for a while. */
    const middle = took.toSorted((one, other) => one - other)[3];
    expect(middle).toBeLessThan(second);
  });

  test('what is asked elsewhere is read, approved by keys, and run once by the worker', async () => {
    const page = await open('ben');
    const { threadId } = await office.ask('eve', { to: 'ACME', euros: 20 });
    await row(page, 'ACME').waitFor();
    await page.keyboard.press('j');
    await waitForApproval(page, 'Pay 20 EUR to ACME?');
    await page.keyboard.press('a');
    await spoken(page, 'Approved by ben: Pay 20 EUR to ACME?').waitFor();
    await waitUntil(async () => (await office.findPaid('ACME')).length > 0);
    expect(await office.readAnswers(threadId)).toMatchObject([
      { principal: 'ben', channel: 'inbox', response: { approved: true } },
    ]);
    expect(await office.findPaid('ACME')).toEqual([{ to: 'ACME', euros: 20 }]);
  });

  test('two of a quorum approve in two browsers, and who has asked is told why they may not', async () => {
    const { threadId } = await office.ask('ada', { to: 'Bank', euros: 30 }, 'payTogether');
    const [ada, ben, cleo] = [await open('ada'), await open('ben'), await open('cleo')];
    await ada.getByRole('button', { name: /^All open/ }).click();
    await read(ada, 'Bank');
    await ada.getByText('only read it. You asked for this').first().waitFor();
    expect(await ada.locator('button.yes').count()).toBe(0);
    await ada.keyboard.press('a');

    await readToApprove(ben, 'Bank');
    await readToApprove(cleo, 'Bank');
    await ben.keyboard.press('a');
    await spoken(ben, 'Pay 30 EUR to Bank?').waitFor();
    await waitUntil(async () => (await office.readVotes(threadId)).length === 1);
    expect(await office.findPaid('Bank')).toEqual([]);
    await cleo.keyboard.press('a');
    await spoken(cleo, 'Approved by').waitFor();
    await ada.locator('.ended', { hasText: 'Approved' }).waitFor();
    await waitUntil(async () => (await office.findPaid('Bank')).length > 0);
    expect(await office.findPaid('Bank')).toHaveLength(1);
    expect(await office.readVotes(threadId)).toEqual(['ben', 'cleo']);
  });

  test.each([
    ['the other one rejects', 'Contested', 'Not recorded'],
    ['both approve', 'Twice', undefined],
  ])(
    'at the same moment, where %s, the first answer stands, and the second person is told who',
    async (_how, to, refused) => {
      const { threadId } = await office.ask('eve', { to, euros: 40 });
      const [ben, cleo] = [await open('ben'), await open('cleo')];
      const [isSent, mayReach] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      await cleo.route('**/api/answers', async (route) => {
        isSent.resolve();
        await mayReach.promise;
        await route.continue();
      });
      for (const page of [ben, cleo]) await readToApprove(page, to);
      if (refused === undefined) await cleo.keyboard.press('a');
      else await reject(cleo, 'Too dear.');
      await isSent.promise;
      await ben.keyboard.press('a');
      await spoken(ben, `Approved by ben: Pay 40 EUR to ${to}?`).waitFor();
      mayReach.resolve();
      if (refused === undefined)
        await spoken(cleo, `Approved by ben: Pay 40 EUR to ${to}?`).waitFor();
      else await alert(cleo).getByText(refused).waitFor();
      await row(cleo, to)
        .or(cleo.locator('.ended'))
        .filter({ hasText: /by ben|Not recorded/ })
        .first()
        .waitFor();
      await waitUntil(async () => (await office.findPaid(to)).length > 0);
      expect(await office.readAnswers(threadId)).toMatchObject([
        { principal: 'ben', response: { approved: true } },
      ]);
      expect(await office.findPaid(to)).toHaveLength(1);
    },
  );

  test('an answer whose server is killed before its reply is recorded once, and shown once after the restart', async () => {
    const { threadId } = await office.ask('eve', { to: 'Killed', euros: 50 });
    const page = await open('ben');
    await readToApprove(page, 'Killed');
    let sent = 0;
    page.on('request', (request) => {
      if (request.method() === 'POST' && request.url().endsWith('/answers')) sent += 1;
    });
    const { killed } = await office.killAtNextAnswer();
    await page.keyboard.press('a');
    await killed;
    await alert(page).getByText('can’t be reached').waitFor();
    expect(await office.readAnswers(threadId)).toHaveLength(1);
    await office.startServer();
    await spoken(page, 'Approved by ben: Pay 50 EUR to Killed?').waitFor();
    await waitUntil(async () => (await alert(page).textContent()) === '');
    expect(sent).toBeGreaterThan(1);
    await page.getByRole('button', { name: 'Decided' }).click();
    await row(page, 'Killed').waitFor();
    expect(await row(page, 'Killed').count()).toBe(1);
    await waitUntil(async () => (await office.findPaid('Killed')).length > 0);
    expect(await office.readAnswers(threadId)).toHaveLength(1);
    expect(await office.findPaid('Killed')).toHaveLength(1);
  });

  test('an edit that the schema refuses is corrected, and runs as corrected', async () => {
    const { threadId } = await office.ask('eve', { to: 'Edited', euros: 60 });
    const page = await open('ben');
    const approveAs = async (euros: string): Promise<void> => {
      await page.keyboard.press('e');
      await page.getByLabel('euros').fill(euros);
      await page.getByRole('button', { name: 'Check the edit' }).click();
      await page.getByRole('heading', { name: 'This will run' }).waitFor();
      await readToEnd(page);
      await page.waitForTimeout(600);
      await page.getByRole('button', { name: 'Approve as edited' }).click();
    };
    await readToApprove(page, 'Edited');
    await approveAs('5000');
    await alert(page).getByText('At most 500 EUR.').waitFor();
    expect(await office.readAnswers(threadId)).toEqual([]);
    await read(page, 'Edited');
    await readToEnd(page);
    await approveAs('450');
    await spoken(page, 'Approved by ben').waitFor();
    await waitUntil(async () => (await office.findPaid('Edited')).length > 0);
    expect(await office.findPaid('Edited')).toEqual([{ to: 'Edited', euros: 450 }]);
  });

  test('whoever loses the right while the page is open is refused, and sees nothing more', async () => {
    const { threadId } = await office.ask('eve', { to: 'Lost', euros: 70 });
    const [dora, ben] = [await open('dora'), await open('ben')];
    await readToApprove(dora, 'Lost');
    await office.changeTeams({ finance: ['ben'] });
    onTestFinished(async () => office.changeTeams());
    let received = '';
    dora.on('response', async (response) => {
      if (response.url().includes('/changes')) return;
      received += await response.text().catch(() => '');
    });
    await dora.keyboard.press('a');
    await alert(dora).getByText('Not recorded').waitFor();
    await office.ask('eve', { to: 'Hidden', euros: 80 });
    await row(ben, 'Hidden').waitFor();
    await dora.getByRole('button', { name: /^All open/ }).click();
    await dora.reload();
    await dora.getByText(/^Nothing waits for/).waitFor();
    expect(await dora.locator('body').textContent()).not.toMatch(/Lost|Hidden/);
    expect(received).not.toMatch(/EUR/);
    expect(await office.readAnswers(threadId)).toEqual([]);
    expect(await office.findPaid('Lost')).toEqual([]);
  });

  playAnswering(() => stage);
  playActions(() => stage);
  playLists(() => stage);
  playReaders(() => stage);
  playSignIns(() => stage);
});
