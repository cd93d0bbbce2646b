import { createServer } from 'node:http';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
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
  'what the model reads of the page gets a server on another port no cookie, and leads the browser to the request',
  async () => {
    using folder = new GateFolder();
    const cookies: (string | undefined)[] = [];
    const other = createServer(({ headers }, response) => {
      cookies.push(headers.cookie);
      response.end('<p>A preview.');
    }).listen(0, '127.0.0.1');
    onTestFinished(() => void other.close());
    const config = folder.writeConfig([], { holdMs: 200 });
    const args = ['--port', String(await freePort()), '--config', config];
    await using gate = await GateClient.start(folder, ...args);
    const told = await gate.call('pay', { euros: 5 });
    const [address = ''] = /http:\S+/.exec(told) ?? [];
    const { output } = await folder.run('gate', '--page', ...args);
    await using context = await browser.newContext();
    const page = await context.newPage();
    await page.goto(address);
    await page.getByText('npx holdpoint gate --page').waitFor();
    await page.goto(output.trim());
    await page.getByRole('row').first().waitFor();
    const preview = new URL(address);
    preview.port = String(Reflect.get(Object(other.address()), 'port'));
    await page.goto(preview.href);
    await page.getByText('A preview.').waitFor();
    expect(cookies).toContain(undefined);
    expect(cookies.filter((cookie) => cookie !== undefined)).toEqual([]);
    await page.goto(address);
    await page.locator('.answers').waitFor();
    await page.getByText('5', { exact: true }).waitFor();
    expect(page.url()).toContain(new URL(output).pathname);
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
