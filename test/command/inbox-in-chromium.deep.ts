import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { findChromium, launchChromium } from '../support/chromium.ts';
import { freePort } from '../support/free-port.ts';
import { fillOffice, inStore, makeOffice } from './office.ts';
import { RunningInbox } from './running-inbox.ts';

const { whyNot } = await findChromium();
const folder = mkdtempSync(join(tmpdir(), 'holdpoint-chromium-'));
const file = join(folder, 'threads.sqlite');
let browser: Browser;
beforeAll(async () => {
  if (whyNot !== undefined) return;
  await inStore(file, fillOffice);
  browser = await launchChromium();
});
afterAll(async () => {
  await browser?.close();
  rmSync(folder, { recursive: true });
});

/** The address of a page as its server knows it: what the page shows is kept behind the hash. */
const readAddress = (page: Page) => page.url().replace(/#.*/, '');

/* What runs in a page is text: these tests have no types of the DOM. */
const look = `(async () => {
  const { entries } = await (await fetch(location.pathname + '/api/requests?list=all')).json();
  const loaded = performance.getEntriesByType('resource').map(({ name }) => name);
  return { count: entries.length, cookie: document.cookie, loaded };
})()`;
const seenSchema = z.object({ count: z.number(), cookie: z.string(), loaded: z.array(z.string()) });

const attack = (api: string) => `(async () => {
  const attempt = async (path, init) => {
    try {
      const { type, status } = await fetch('${api}' + path, { credentials: 'include', ...init });
      return type + ' ' + status;
    } catch {
      return 'refused';
    }
  };
  const frame = document.createElement('iframe');
  frame.src = '${api}'.replace('/api', '');
  const loaded = new Promise((resolve) => frame.addEventListener('load', resolve));
  document.body.append(frame);
  await loaded;
  const json = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' };
  const blind = { method: 'POST', mode: 'no-cors', body: '{}' };
  return {
    read: await attempt('/requests?list=all', {}),
    posted: await attempt('/answers', json),
    blind: await attempt('/answers', blind),
    framed: frame.contentDocument === null,
  };
})()`;

test.skipIf(whyNot !== undefined)(
  'a browser opens the address once, keeps no token of it, and the page works',
  async () => {
    await using inbox = await RunningInbox.start(file);
    const page = await browser.newPage();
    await page.goto(inbox.url.href);
    expect(readAddress(page)).toBe(inbox.url.origin + inbox.url.pathname);
    const seen = seenSchema.parse(await page.evaluate(look));
    expect(seen).toMatchObject({ count: 3, cookie: '' });
    expect(seen.loaded).toContain(`${readAddress(page)}/page.js`);
    expect(await page.content()).not.toContain('token');
    await page.reload();
    expect(readAddress(page)).toBe(inbox.url.origin + inbox.url.pathname);
    const other = await browser.newPage();
    const refused = await other.goto(inbox.url.href);
    expect(refused?.status()).toBe(403);
  },
);

test.skipIf(whyNot !== undefined)(
  'a page of another port gets no cookie, shows no frame of it, and answers nothing',
  async () => {
    await using inbox = await RunningInbox.start(file);
    const cookies: (string | undefined)[] = [];
    const port = await freePort();
    const server = createServer(({ headers }, response) => {
      cookies.push(headers.cookie);
      response.setHeader('content-type', 'text/html').end('<!doctype html><title>Other</title>');
    }).listen(port, '127.0.0.1');
    try {
      const page = await browser.newPage();
      await page.goto(inbox.url.href);
      await page.goto(`http://127.0.0.1:${port}/`);
      const api = `${inbox.url.origin}${inbox.url.pathname}/api`;
      const tried = await page.evaluate(attack(api));
      expect(tried).toEqual({ read: 'refused', posted: 'refused', blind: 'refused', framed: true });
      const frame = page.frames().find((each) => each !== page.mainFrame());
      expect((await frame?.content()) ?? '').not.toContain('id="root"');
      expect(cookies.every((cookie) => cookie === undefined)).toBe(true);
      await inStore(file, async (store) => {
        expect((await makeOffice(store).thread('invoice-7')).decisions).toEqual([]);
      });
    } finally {
      server.close();
    }
  },
);
