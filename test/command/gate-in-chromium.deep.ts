import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { findChromium, launchChromium } from '../support/chromium.ts';
import { freePort } from '../support/free-port.ts';
import { GateClient, GateFolder } from './gate-driver.ts';

const { whyNot } = await findChromium();
let browser: Browser;
beforeAll(async () => {
  if (whyNot === undefined) browser = await launchChromium();
});
afterAll(async () => browser?.close());

/** Approves what the page lists of a call of `pay`, as a person does. */
async function approve(page: Page, euros: string): Promise<void> {
  const row = page.getByRole('row').filter({ hasText: 'wants to call pay' });
  await row.filter({ hasNotText: 'Approved' }).click({ timeout: 20_000 });
  await page.locator('.answers').waitFor();
  await page.getByText(euros, { exact: true }).waitFor();
  await page.locator('button.yes:not([aria-disabled="true"])').click();
}

test.skipIf(whyNot !== undefined)(
  'a call is approved in a browser, also in the same tab after the gate that served it was killed',
  async () => {
    using folder = new GateFolder();
    const port = ['--port', String(await freePort())];
    await using first = await GateClient.start(folder, ...port, '--', ...folder.bank);
    await first.client.listTools();
    await using second = await GateClient.start(folder, ...port, '--', ...folder.bank);
    const { output } = await folder.run('gate', '--page', ...port);
    const page = await browser.newPage();
    await page.goto(output.trim());
    expect(page.url()).not.toContain('token');
    const paid = second.call('pay', { euros: 5 });
    await approve(page, '5');
    expect(await paid).toBe('Paid.');
    process.kill(first.transport.pid ?? 0, 'SIGKILL');
    const paidLater = second.call('pay', { euros: 6 });
    await page.getByRole('button', { name: '1 new' }).click({ timeout: 20_000 });
    await approve(page, '6');
    expect(await paidLater).toBe('Paid.');
    expect(folder.countPayments()).toBe(2);
    await page.close();
  },
);

test.skipIf(whyNot !== undefined)(
  'what a server asks during its call is answered in a browser, and the call goes on',
  async () => {
    using folder = new GateFolder();
    const port = ['--port', String(await freePort())];
    const config = folder.writeConfig([{ tools: ['*'], approval: 'approved' }]);
    const args = [...port, '--config', config];
    await using gate = await GateClient.start(folder, ...args);
    await gate.client.listTools();
    const { output } = await folder.run('gate', '--page', ...args);
    const page = await browser.newPage();
    await page.goto(output.trim());
    const paid = gate.call('ask');
    await page.getByText('How many euros?').first().click({ timeout: 20_000 });
    await page.locator('.question textarea').fill('7');
    await page.getByLabel('Answer', { exact: true }).first().check();
    await page.waitForTimeout(1_500);
    await page.getByRole('button', { name: 'Answer', exact: true }).click();
    expect(await paid).toBe('Paid: {"action":"accept","content":{"euros":7}}');
    expect(folder.countPayments()).toBe(1);
    await page.close();
  },
);
