import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import axe from 'axe-core';
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { FetchHandler } from '../../examples/serve-fetch.ts';
import { findChromium, launchChromium } from '../support/chromium.ts';
import { freePort } from '../support/free-port.ts';
import { openDesk } from './link-desk.ts';

const { whyNot } = await findChromium();

const question = {
  question: 'Which class?',
  header: 'Class',
  options: [
    { label: 'Second', description: 'Quiet.' },
    { label: 'First', description: 'With lunch.' },
  ],
};
const asksClass = [{ id: 'q1', name: 'AskUserQuestion', input: { questions: [question] } }];

/** What axe finds wrong with a page for people who can't see or use a mouse. */
async function findBarriers(page: Page): Promise<unknown> {
  await page.evaluate(axe.source);
  return page.evaluate(
    'axe.run().then(({ violations }) => violations.map(({ id, nodes }) => id + ": " + nodes.map(({ html, any }) => html + any.map(({message}) => message)).join()))',
  );
}

/** Presses the keys that submit forms in each field and box of the page. */
async function pressEverywhere(page: Page): Promise<void> {
  for (const field of await page.locator('input:not([type=hidden]), textarea').all()) {
    for (const key of ['Enter', 'Control+Enter', 'Meta+Enter', 'Shift+Enter'])
      await field.press(key);
  }
}

/** Serves a handler to every host and page, so that only the handler refuses any. */
async function serveOpenly(handler: FetchHandler, port = 0): Promise<Server> {
  const respond = async (incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> => {
    const { method = '', url = '', headers } = incoming;
    const body = method === 'POST' ? { body: await text(incoming) } : {};
    const named = Object.entries(headers).map(([name, value]): [string, string] => [
      name,
      String(value),
    ]);
    const address = new URL(url, `http://${headers.host}`);
    const response = await handler(new Request(address, { method, headers: named, ...body }));
    outgoing.writeHead(response.status, Object.fromEntries(response.headers));
    outgoing.end(await response.text());
  };
  const server = createServer((incoming, outgoing) => void respond(incoming, outgoing));
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

const press = async (page: Page, name: string): Promise<void> => {
  await page.getByRole('button', { name, exact: true }).click();
};
const heading = (page: Page) => page.locator('h1').textContent();

describe.skipIf(whyNot !== undefined)(`the page of a link (${whyNot ?? 'in Chromium'})`, () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchChromium();
  }, 60_000);
  afterAll(async () => browser.close());

  /** A desk whose links are served on this machine, and people with browsers of their own. */
  async function site(options: Parameters<typeof openDesk>[0] = {}) {
    const port = await freePort();
    const url = `http://localhost:${port}/answer`;
    const desk = await openDesk({ ...options, links: { ...options.links, url } });
    const methods: string[] = [];
    const server = await serveOpenly(async (request) => {
      methods.push(request.method);
      return desk.links.handler(request);
    }, port);
    const contexts: BrowserContext[] = [];
    const faults: string[] = [];
    const visit = async (person: string, settings: BrowserContextOptions = {}) => {
      const context = await browser.newContext({ javaScriptEnabled: false, ...settings });
      contexts.push(context);
      context.setDefaultTimeout(8_000);
      const page = await context.newPage();
      page.on('console', (message) => faults.push(message.text()));
      await page.goto((await desk.invite(person)).link);
      return page;
    };
    const asyncDispose = async (): Promise<void> => {
      await Promise.all(contexts.map(async (context) => context.close()));
      server.closeAllConnections();
      server.close();
    };
    return { ...desk, methods, faults, visit, [Symbol.asyncDispose]: asyncDispose };
  }

  test('without scripts a person reads, approves, and is told; a reload tells who it was', async () => {
    await using at = await site();
    const page = await at.visit('ada');
    expect(await heading(page)).toBe('Pay 500 EUR to ACME?');
    await press(page, 'Approve');
    expect(await heading(page)).toBe('Approved');
    await page.goto(page.url());
    expect(await page.locator('main').textContent()).toContain('There is nothing left to answer.');
    await at.work();
    expect(at.paid).toHaveLength(1);
    expect(at.faults).toEqual([]);
  });

  test.each([
    ['an approval', {}],
    ['a question', { calls: asksClass }],
  ])('no key in a field or a box answers %s', async (_what, options) => {
    await using at = await site(options);
    const page = await at.visit('ada');
    await pressEverywhere(page);
    expect(new Set(at.methods)).toEqual(new Set(['GET']));
    expect(await at.answers()).toEqual([]);
  });

  test('no key in a field or the box of the second page answers', async () => {
    await using at = await site({ rule: { risk: 'critical' } });
    const page = await at.visit('ada');
    await press(page, 'Approve');
    await page.getByRole('checkbox').waitFor();
    await pressEverywhere(page);
    await page.getByRole('checkbox').press('Space');
    await page.getByRole('checkbox').press('Enter');
    expect(await page.getByRole('checkbox').isChecked()).toBe(true);
    expect(at.methods.filter((method) => method === 'POST')).toEqual(['POST']);
    expect(await at.answers()).toEqual([]);
  });

  test('the highest risk takes a tick on a second page, which a double click does not give', async () => {
    await using at = await site({ rule: { risk: 'critical', requireReason: true } });
    const page = await at.visit('ada');
    await page.getByLabel('Reason (needed to approve)').fill('Budgeted,\nby Ben.');
    await page.getByRole('button', { name: 'Approve' }).dblclick();
    await page.getByRole('checkbox').waitFor();
    expect(await at.answers()).toEqual([]);
    await press(page, 'Approve');
    expect(await page.getByRole('alert').textContent()).toContain(
      'Say that you have read all of it.',
    );
    await page.getByRole('checkbox').check();
    await press(page, 'Approve');
    expect(await heading(page)).toBe('Approved');
    expect(await at.answers()).toMatchObject([{ said: 'yes: Budgeted,\nby Ben.' }]);
  });

  test('a question is answered by its labels', async () => {
    await using at = await site({ calls: asksClass });
    const page = await at.visit('ada');
    await press(page, 'Answer');
    expect(await page.getByRole('alert').textContent()).toContain('needs at least 1 option');
    await page.getByRole('group', { name: 'Which class?' }).getByLabel('First').check();
    await press(page, 'Answer');
    expect(await heading(page)).toBe('Answered');
    expect(await at.answers()).toHaveLength(1);
  });

  test('a page of another site can neither frame a link nor send its form', async () => {
    await using at = await site();
    const ada = await at.invite('ada');
    const { hidden } = await ada.send();
    const fields = Object.entries({ ...hidden, action: 'approve' })
      .map(([name, value]) => `<input name="${name}" value="${value}">`)
      .join('');
    const evil: FetchHandler = async () =>
      new Response(
        `<!doctype html><iframe src="${ada.link}"></iframe><form method="post" action="${ada.link}">${fields}<button>Win</button></form>`,
        { headers: { 'content-type': 'text/html' } },
      );
    const server = await serveOpenly(evil, 0);
    const address = server.address();
    const page = await at.visit('ada');
    await page.goto(`http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`);
    expect(await page.frameLocator('iframe').locator('form').count()).toBe(0);
    await press(page, 'Win');
    await page.waitForURL(ada.link);
    expect(await page.locator('body').textContent()).not.toContain('Approved');
    expect(at.methods).toContain('POST');
    expect(await at.answers()).toEqual([]);
    server.closeAllConnections();
    server.close();
  });

  test('everybody can use it: axe finds nothing, it fits 320 px, and its style is let in', async () => {
    const long = { to: `ACME ${'x'.repeat(300)}`, euros: 500, note: 'Line 1\nLine 2' };
    const kinds = [
      { calls: [{ id: 'c1', name: 'pay', input: long }], rule: { risk: 'critical' as const } },
      { calls: asksClass },
    ];
    for (const options of kinds) {
      await using at = await site(options);
      for (const colorScheme of ['light', 'dark'] as const) {
        const page = await at.visit('ada', {
          javaScriptEnabled: true,
          colorScheme,
          viewport: { width: 320, height: 640 },
        });
        const first = 'rule' in options ? 'Approve' : 'Answer';
        for (let step = 0; step < 2; step += 1) {
          expect(await findBarriers(page)).toEqual([]);
          const width = 'document.documentElement.scrollWidth';
          expect(await page.evaluate(width)).toBe(320);
          const shape = 'getComputedStyle(document.querySelector("main")).maxWidth';
          expect(await page.evaluate(shape)).toBe('720px');
          await press(page, first);
        }
        expect(await findBarriers(page)).toEqual([]);
      }
      expect(at.faults.filter((fault) => !fault.includes('status of 400'))).toEqual([]);
    }
  });
});
