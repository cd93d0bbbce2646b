import axe from 'axe-core';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { InboxEntry } from '../../src/apps/inbox/inbox-api.ts';
import type { ShownState } from '../../src/apps/inbox/page/shown-state.ts';
import { hidePrincipals } from '../../src/content/user-input.ts';
import { findChromium, launchChromium } from '../support/chromium.ts';
import { makeEntry, readAt } from './inbox-entries.ts';
import { hiddenFact, richRequest, shownFacts } from '../view/rich-request.ts';
import { serveReading } from './reading-site.ts';
import {
  openReading,
  readDraft,
  readShown,
  readText,
  show,
  showEdit,
  showTogether,
} from './reading-steps.ts';

/* The page has the types of a browser; what is called in it is named here. */
declare const reading: {
  showRequest: (props: object) => void;
  showDifferences: (props: object) => void;
  readShown: () => ShownState[];
  press: (key: string) => void;
  frame: (then: (time: unknown) => void) => void;
};

const { whyNot } = await findChromium();

const wide = { width: 1280, height: 800 };
const narrow = { width: 320, height: 640 };
const longText = 'A line of a long letter.\n'.repeat(400);

/** How long it takes until the request is painted. */
const paint = async (props: object): Promise<number> => {
  const start = performance.now();
  reading.showRequest(props);
  await new Promise((resolve) => reading.frame(resolve));
  await new Promise((resolve) => setTimeout(resolve, 0));
  return performance.now() - start;
};

/** Waits until only this was not shown. */
async function waitForShown(page: Page, missing: readonly string[]): Promise<ShownState> {
  const isWhole = missing.length === 0;
  let shown: ShownState | undefined;
  await expect
    .poll(async () => (shown = await readShown(page)))
    .toMatchObject({ isWhole, missing });
  return shown ?? { isWhole, missing, hidden: 0 };
}

/** Does what a key does, and waits until it was painted, as nobody is faster. */
const press = async (page: Page, key: string): Promise<void> => {
  await page.evaluate((name) => reading.press(name), key);
  await page.evaluate(
    'new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(resolve, 0))))',
  );
};

/** Goes on to the next screen until all was shown; how many there were. */
async function readOn(page: Page): Promise<number> {
  for (let screens = 0; screens < 80; screens += 1) {
    if ((await readShown(page))?.isWhole === true) return screens;
    await press(page, 'showNext');
  }
  throw new Error(`Not shown: ${JSON.stringify(await readShown(page))}`);
}

const scrollToEnd = async (page: Page): Promise<void> =>
  page.evaluate("document.querySelector('main').scrollTo(0, 1e9)");

/** The value of an argument, as it is read. */
const valueOf = async (page: Page, name: string): Promise<string> => {
  const row = page.locator('.row', { has: page.locator(`dt:text-is("${name}")`) });
  return (await row.locator('dd').first().innerText()).replaceAll(/\s+/g, ' ').trim();
};

const nest = (levels: number, value: unknown, wrap: (inner: unknown) => unknown): unknown =>
  Array.from({ length: levels }).reduce(wrap, value);

/** A letter of 900 characters, of which one word differs in the odd one. */
const nthLetter = (index: number): string =>
  `${'So it goes. '.repeat(75)}${index === 17 ? 'June' : 'May'} it is.`;
const letterBy = (month: string): string =>
  `Dear Ada,\n\nplease pay it by ${month}, as we have agreed.\n\nBest,\nMia`;

/** Says of an amount where its currency is. */
const money = (path: string[], currency: string[]): InboxEntry['formats'][number] => ({
  path,
  format: { type: 'money', currency: { path: currency }, unit: 'major' },
});

/* A PNG image of one pixel. Its data begins at the 41st byte. */
const pixel =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==';

describe.skipIf(whyNot !== undefined)(`reading a request (${whyNot ?? 'in Chromium'})`, () => {
  let site: Awaited<ReturnType<typeof serveReading>>;
  let browser: Browser;
  beforeAll(async () => {
    [site, browser] = await Promise.all([serveReading(), launchChromium()]);
  }, 60_000);
  afterAll(async () => {
    await browser.close();
    site.close();
  });

  const open = async (options?: BrowserContextOptions) => openReading(browser, site.url, options);

  describe('what was shown', () => {
    test('of a request that fits one screen is all of it, once it was painted', async () => {
      await using at = await open();
      await show(at.page, makeEntry({ to: 'Ada', amount: 5 }));
      await waitForShown(at.page, []);
      const [first] = await at.page.evaluate(() => reading.readShown());
      expect(first).toEqual({
        isWhole: false,
        missing: ['effect', 'to', 'amount', 'who asks, and until when'],
        hidden: 0,
      });
    });

    test('of a longer one is what the keys have reached, screen by screen', async () => {
      await using at = await open();
      await show(at.page, makeEntry({ body: longText, to: 'Ada' }));
      await waitForShown(at.page, ['body', 'to', 'who asks, and until when']);
      /* 400 lines, of which some 30 fit. */
      expect(await readOn(at.page)).toBeGreaterThan(10);
      await press(at.page, 'showPrevious');
      expect((await readShown(at.page))?.isWhole).toBe(true);
    });

    test('is not what was passed over by End; the key for the next screen goes back to it', async () => {
      await using at = await open();
      await show(at.page, makeEntry({ first: longText, to: 'Ada', last: longText }));
      await waitForShown(at.page, ['first', 'to', 'last', 'who asks, and until when']);
      await at.page.locator('main').focus();
      await at.page.keyboard.press('End');
      await waitForShown(at.page, ['first', 'to']);
      await press(at.page, 'showNext');
      await expect.poll(async () => (await readShown(at.page))?.missing).not.toContain('first');
      await readOn(at.page);
    });

    test('is not what is in a closed fold, until it was opened', async () => {
      await using at = await open();
      const list = Array.from({ length: 300 }, (_, index) => `item ${index}`);
      await show(at.page, makeEntry({ list }));
      await waitForShown(at.page, ['list']);
      await press(at.page, 'unfoldAll');
      await at.page.locator('dt:has-text("[299]")').waitFor({ state: 'attached' });
      const folds = ['list[0] to list[99]', 'list[100] to list[199]', 'list[200] to list[299]'];
      await waitForShown(at.page, ['list', ...folds]);
      await readOn(at.page);
    });

    test('is nothing while the page is hidden, or lies under a dialog', async () => {
      await using at = await open();
      await at.page.evaluate(
        "Object.defineProperty(document, 'visibilityState', { get: () => 'hidden', configurable: true })",
      );
      const all = ['effect', 'to', 'who asks, and until when'];
      await show(at.page, makeEntry({ to: 'Ada' }));
      await at.page.waitForTimeout(400);
      await waitForShown(at.page, all);
      await at.page.evaluate(`
        document.body.append(document.createElement('dialog'));
        document.querySelector('dialog').showModal();
        delete document.visibilityState;
        document.dispatchEvent(new Event('visibilitychange'));
      `);
      await at.page.waitForTimeout(400);
      await waitForShown(at.page, all);
      await at.page.evaluate("document.querySelector('dialog').close()");
      await waitForShown(at.page, []);
    });

    test('counts what can’t be shown: secrets, and files that are no text and no image', async () => {
      await using at = await open();
      const format = { type: 'file' } as const;
      const entry = makeEntry(
        { token: '••••••', key: 'k', zip: btoa('PK\u0003\u0004\0'), note: btoa('plain text') },
        {
          masked: [['token']],
          formats: [
            { path: ['key'], format: { type: 'secret' } },
            { path: ['zip'], format },
            { path: ['note'], format },
          ],
        },
      );
      await show(at.page, entry);
      const { hidden } = await waitForShown(at.page, []);
      expect(hidden).toBe(3);
      expect(await valueOf(at.page, 'key')).toBe('not shown a secret');
      expect(await valueOf(at.page, 'note')).toContain('plain text');
    });

    test.each([
      ['whole', '', 0],
      ['whose data is damaged', '/'.repeat(8), 1],
    ])('counts a picture %s', async (_how, damage, hidden) => {
      await using at = await open();
      const image = pixel.slice(0, 56) + damage + pixel.slice(56 + damage.length);
      const entry = makeEntry(
        { image },
        { formats: [{ path: ['image'], format: { type: 'file' } }] },
      );
      await show(at.page, entry);
      expect(await waitForShown(at.page, [])).toMatchObject({ hidden });
      expect((await valueOf(at.page, 'image')).includes('not shown')).toBe(hidden === 1);
    });

    test('is never all of a request that is not here, alone or among others', async () => {
      await using at = await open();
      const { request: _leftOut, ...entry } = makeEntry({ to: 'Ada' });
      await show(at.page, entry);
      await waitForShown(at.page, ['what is asked']);
      const entries = [makeEntry({ to: 'Bob' }, { requestId: 'r2' }), entry];
      await showTogether(at.page, entries);
      await expect
        .poll(async () => (await readShown(at.page))?.missing)
        .toEqual(['what some of them ask']);
    });

    test('of five megabytes is painted within 200 ms, is there whole, and ends at its end', async () => {
      await using at = await open();
      const line = 'The quick brown fox jumps over the lazy dog, and pays 250 EUR to order 7.\n';
      const body = line.repeat(Math.ceil(5_000_000 / line.length));
      const times: number[] = [];
      for (let round = 0; round < 3; round += 1) {
        const entry = makeEntry({ body }, { requestId: `r${round}` });
        times.push(await at.page.evaluate(paint, { entry, now: readAt }));
      }
      expect(Math.min(...times)).toBeLessThan(200);
      /* Between blocks there is no line feed. */
      const readBlocks = async (): Promise<string> =>
        (await at.page.locator('.block').allTextContents()).join('\n');
      await expect.poll(async () => (await readBlocks()) === body, { timeout: 20_000 }).toBe(true);
      expect((await readShown(at.page))?.missing).toContain('body');
      await scrollToEnd(at.page);
      await expect.poll(async () => (await readShown(at.page))?.missing).not.toContain('body');
      const place = await at.page.locator('.text-place').innerText();
      expect(place).toMatch(/^5,000,\d{3} characters, 67,\d{3} lines, at (?:99|100)%$/);
    });
  });

  describe('a value', () => {
    test('is what it is: absent, null, an empty text, 0 and a text of digits all differ', async () => {
      await using at = await open();
      const rows = [{ a: null, b: 1 }, { a: '', b: 2 }, { a: 0, b: 3 }, { b: 4 }];
      const input = {
        none: null,
        empty: '',
        zero: 0,
        digits: '0',
        word: 'null',
        rows,
        list: [],
        object: {},
      };
      await show(at.page, makeEntry(input));
      const names = ['none', 'empty', 'zero', 'digits', 'word', 'list', 'object'];
      const values = await Promise.all(names.map(async (name) => valueOf(at.page, name)));
      expect(values).toEqual([
        'null',
        'empty text',
        '0',
        '0text',
        'nulltext',
        'empty list',
        'empty object',
      ]);
      const cells = await at.page.locator('tbody td:nth-of-type(1) > div').allInnerTexts();
      expect(cells.map((text) => text.trim())).toEqual(['null', 'empty text', '0', 'absent']);
    });

    test('is formatted only as it is declared, with the exact value beside', async () => {
      await using at = await open();
      const input = {
        amount: 123450,
        currency: 'EUR',
        due: '2026-12-24T18:00:00+01:00',
        wait: 5400,
        count: 250,
        order: 'order 7',
        day: '2026-12-24',
        id: '90071992547409931234',
      };
      const formats: InboxEntry['formats'] = [
        {
          path: ['amount'],
          format: { type: 'money', currency: { path: ['currency'] }, unit: 'minor' },
        },
        { path: ['due'], format: { type: 'date-time', unit: 'iso' } },
        { path: ['wait'], format: { type: 'duration', unit: 'seconds' } },
      ];
      await show(at.page, makeEntry(input, { formats }));
      const names = ['amount', 'due', 'wait', 'count', 'order', 'day', 'id'];
      const values = await Promise.all(names.map(async (name) => valueOf(at.page, name)));
      expect(values).toEqual([
        'EUR 1,234.50 exactly 123450',
        'Thu, 24 December 2026 at 18:00 CET in 28 days exactly "2026-12-24T18:00:00+01:00"',
        '1 hour, 30 minutes exactly 5400',
        '250',
        'order 7',
        '2026-12-24text',
        '90071992547409931234text',
      ]);
    });

    test('an amount is the same in all rows, and in all requests, only in the same currency', async () => {
      await using at = await open();
      const rows = [
        { amount: 5, currency: 'EUR', by: 'post' },
        { amount: 5, currency: 'JPY', by: 'post' },
      ];
      const formats = [money(['rows', '*', 'amount'], ['rows', '*', 'currency'])];
      await show(at.page, makeEntry({ rows }, { formats }));
      const cells = await at.page.locator('td[role=cell] > div').allInnerTexts();
      expect(cells.map((text) => text.replaceAll(/\s+/g, ' ').trim())).toEqual([
        'EUR 5.00 exactly 5',
        'EUR',
        'JPY 5 exactly 5',
        'JPY',
      ]);
      const entries = rows.map((row, index) =>
        makeEntry(row, { requestId: `r${index}`, formats: [money(['amount'], ['currency'])] }),
      );
      await showTogether(at.page, entries);
      expect(await valueOf(at.page, 'by')).toBe('post');
      const text = (await readText(at.page)).replaceAll(/\s+/g, ' ');
      expect(text).toContain('EUR 5.00');
      expect(text).toContain('JPY 5');
      expect(text).not.toContain('not known');
    });

    test('secrets of the rows of a table are counted, and are not called the same', async () => {
      await using at = await open();
      const rows = ['a', 'b'].map((to) => ({
        to,
        key: '(secret)',
        login: { pin: '(secret)' },
        by: 'post',
      }));
      const formats: InboxEntry['formats'] = [
        { path: ['rows', '*', 'key'], format: { type: 'secret' } },
        { path: ['rows', '*', 'login', 'pin'], format: { type: 'secret' } },
      ];
      await show(at.page, makeEntry({ rows }, { formats }));
      expect(await waitForShown(at.page, [])).toMatchObject({ hidden: 4 });
      const columns = await at.page.locator('[role=columnheader]').allTextContents();
      expect(columns).toEqual(['to', 'key', 'login']);
    });

    test('of a lost call is beside why it counts as lost; of a stuck thread there is none', async () => {
      await using at = await open();
      const { request: _none, ...entry } = makeEntry({});
      const lostCall = {
        toolCallId: 'c',
        toolName: 'pay',
        input: { to: 'Ada' },
        error: 'No reply.',
      };
      await show(at.page, { ...entry, kind: 'lost-call', lostCall });
      expect(await valueOf(at.page, 'to')).toBe('Ada');
      expect(await readText(at.page)).toContain('Lost: No reply.');
      await waitForShown(at.page, []);
      const stuck = { failures: 3, error: 'No model.' };
      await show(at.page, { ...entry, kind: 'stuck-thread', stuck });
      expect(await readText(at.page)).toContain('3 runs in a row have failed: No model.');
      await waitForShown(at.page, []);
    });

    test.each([
      ['1280 px', wide, '100%'],
      ['320 px', narrow, '100%'],
      ['320 px with letters twice as large', narrow, '200%'],
    ])('has room however deep it is, at %s', async (_at, viewport, size) => {
      await using at = await open({ viewport });
      await at.page.evaluate(`document.documentElement.style.fontSize = '${size}'`);
      const value = 'the deepest value';
      const objects = nest(200, value, (level) => ({ level }));
      const tables = nest(12, value, (a) => [
        { a: { a, b: 1 }, b: 1 },
        { a: { a: 'x' }, b: 2 },
      ]);
      /* As text: no browser is told of an object that is so deep. */
      const text = JSON.stringify({ entry: makeEntry({ objects, tables }), now: readAt });
      await at.page.evaluate(`reading.showRequest(JSON.parse(${JSON.stringify(text)}))`);
      await press(at.page, 'unfoldAll');
      const deepest = at.page.locator('.text', { hasText: value });
      await expect.poll(async () => deepest.count(), { timeout: 20_000 }).toBe(2);
      const narrowest = await at.page.evaluate(`Math.min(
        ...[...document.querySelectorAll('dd .text')]
          .map((text) => text.closest('dd, td > div').clientWidth),
      )`);
      expect(narrowest).toBeGreaterThan(40);
      const sideways = "document.querySelector('main').scrollWidth - innerWidth";
      expect(await at.page.evaluate(sideways)).toBeLessThanOrEqual(0);
    });

    test('that is a list of objects is a table, whose constant columns are named once', async () => {
      await using at = await open();
      const items = ['A1', 'B2', 'C3'].map((sku) => ({ sku, currency: 'EUR' }));
      await show(at.page, makeEntry({ items }));
      expect(await at.page.getByRole('columnheader').allInnerTexts()).toEqual(['sku']);
      expect(await at.page.getByRole('rowheader').allInnerTexts()).toEqual(['[0]', '[1]', '[2]']);
      expect(await readText(at.page)).toContain('The same in all 3:');
    });

    test('with many columns is a block for each row, each value with the name of its column', async () => {
      await using at = await open();
      const columns = ['a', 'b', 'c', 'd', 'e', 'f', 'g'];
      const items = [1, 2].map((row) => Object.fromEntries(columns.map((name) => [name, row])));
      await show(at.page, makeEntry({ items }));
      expect(await at.page.locator('.cell-name').first().isVisible()).toBe(true);
      expect(await at.page.locator('.cell-name').allInnerTexts()).toEqual([...columns, ...columns]);
      await show(at.page, makeEntry({ items: items.map(({ a, b }) => ({ a, b })) }));
      expect(await at.page.locator('.cell-name').first().isVisible()).toBe(false);
    });

    test('that was edited is shown before and after, with words for what was added and removed', async () => {
      await using at = await open();
      const original = { input: { body: letterBy('May'), cc: 'bob' }, text: 'Send?', digest: 'd0' };
      const edit = {
        original,
        patches: [{ op: 'remove' as const, path: ['cc'] }],
        person: 'Bob',
        at: readAt,
      };
      await show(at.page, makeEntry({ body: letterBy('June') }, { request: { edit } }));
      const section = at.page.locator('section', {
        has: at.page.locator('h3:has-text("Edited by Bob")'),
      });
      expect((await section.locator('.diff-word').allInnerTexts()).slice(0, 3)).toEqual([
        'Removed',
        'Added',
        'Removed',
      ]);
      expect(await section.locator('del b, ins b').allInnerTexts()).toEqual(['May', 'June']);
      expect(await section.innerText()).toContain('Asked before the edit: Send?');
      await readOn(at.page);
    });
  });

  test('shows of a request all that other channels show', async () => {
    await using at = await open();
    const { threadId, requestId, toolCall } = richRequest;
    const request = hidePrincipals(richRequest);
    await show(at.page, {
      ...makeEntry(toolCall?.input),
      threadId,
      requestId,
      request,
      toolName: 'buy',
      risk: 'high',
    });
    const text = await at.page.locator('#site').innerText();
    for (const words of Object.values(shownFacts)) expect(text).toMatch(words);
    expect(text).not.toContain(hiddenFact);
  });

  describe('hostile text', () => {
    const evil =
      'a\u202Eb\u200Bc<img src=x onerror="document.title=1"><script>document.title=2</script>';
    const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><script>document.title=3</script><image href="/spy.png" width="9" height="9"/></svg>`;

    test('is inert in every field, and nothing is fetched', async () => {
      await using at = await open();
      const fetched: string[] = [];
      at.page.on('request', (request) => fetched.push(request.url()));
      const entry = makeEntry(
        {
          [evil]: evil,
          list: [{ [evil]: evil }, { [evil]: 1 }],
          code: evil,
          image: btoa(svg),
          host: 'https://p\u0430ypal.com',
        },
        {
          text: evil,
          agent: evil,
          tenant: evil,
          toolName: evil,
          requesters: [evil],
          approvers: [evil],
          decidedBy: evil,
          state: 'approved',
          sourceUrl: `javascript:${evil}`,
          formats: [
            { path: ['code'], format: { type: 'code', language: evil } },
            { path: ['image'], format: { type: 'file', name: evil, mediaType: evil } },
          ],
          details: [
            { type: 'text', label: evil, text: evil },
            { type: 'value', label: evil, value: { [evil]: evil } },
            { type: 'diff', label: evil, before: evil, after: `${evil}\nmore` },
            { type: 'link', label: evil, url: 'javascript:document.title=4' },
            { type: 'link', label: 'site', url: 'https://paypal.com@xn--pypal-4ve.com/x' },
          ],
          request: {
            reason: evil,
            editable: [evil],
            requestedBy: { name: evil, id: evil },
            path: [{ agent: evil, toolCallId: 'c', toolName: evil }],
            metadata: { [evil]: evil },
            votes: [{ person: evil, onBehalfOf: evil, reason: evil, at: readAt }],
            reassignments: [{ from: evil, to: evil }],
            edit: {
              original: { input: { [evil]: 1 }, text: evil, digest: 'd' },
              patches: [],
              person: evil,
              at: readAt,
            },
          },
        },
      );
      const earlier = [
        {
          requestId: 'e',
          threadId: 't',
          state: 'rejected',
          decidedBy: evil,
          reason: evil,
          input: { [evil]: evil },
        },
      ];
      const conversation = [{ role: 'user', text: evil }];
      await show(at.page, entry, { earlier, conversation });
      await press(at.page, 'unfoldAll');
      await at.page.locator('.conversation li').waitFor({ state: 'attached' });
      await at.page.locator('.file img').first().waitFor();
      const html = await at.page.evaluate("document.querySelector('#root').innerHTML");
      expect(html).not.toMatch(/[\u202E\u200B]/);
      expect(await at.page.title()).toBe('Reading');
      expect(await at.page.locator('#root script, #root img[onerror]').count()).toBe(0);
      expect(fetched.filter((url) => !url.startsWith('blob:'))).toEqual([]);
      const links = await at.page.evaluate(
        "[...document.querySelectorAll('#root a')].map(({ href, rel }) => [href, rel])",
      );
      expect(links).toEqual([['https://paypal.com@xn--pypal-4ve.com/x', 'noreferrer noopener']]);
      expect(await at.page.locator('.address a b').innerText()).toBe('xn--pypal-4ve.com');
      expect(await readText(at.page)).toContain('its host in other letters: pаypal.com');
      expect(await at.page.locator('.warning').allInnerTexts()).toContain(
        '"pаypal" mixes Latin and Cyrillic letters',
      );
    });

    test('in a form is named, as a field can’t make it visible', async () => {
      await using at = await open();
      const entry = makeEntry({ note: evil }, { request: { editable: true } });
      await showEdit(at.page, entry);
      expect(await at.page.locator('.warning').innerText()).toContain('\\u{202e}');
      expect(await at.page.getByLabel('note').getAttribute('aria-describedby')).not.toBe(null);
    });
  });

  describe('alike requests', () => {
    const entries = Array.from({ length: 40 }, (_, index) =>
      makeEntry(
        { to: `p${index}@example.com`, subject: 'Hi', body: nthLetter(index) },
        {
          requestId: `r${index}`,
          ...(index === 3 && { requesters: ['Zoe'], request: { requestedBy: 'Zoe' } }),
        },
      ),
    );

    test('are a table of what differs, of which all must be shown', async () => {
      await using at = await open();
      await showTogether(at.page, entries);
      expect(await at.page.getByRole('columnheader').allInnerTexts()).toEqual([
        'to',
        'body',
        'asked for by',
      ]);
      expect(await at.page.locator('tbody tr').count()).toBe(40);
      const odd = at.page.locator('.differs');
      expect(await odd.allInnerTexts()).toEqual(['June']);
      expect((await readShown(at.page))?.isWhole).toBe(false);
      await scrollToEnd(at.page);
      await expect
        .poll(async () => (await readShown(at.page))?.missing)
        .not.toContain('who asks, and until when');
      expect((await readShown(at.page))?.missing).toContain('row 5: body');
      await readOn(at.page);
      expect(await at.page.locator('main').innerText()).toContain(
        'Differs from most, which have May',
      );
    });
  });

  test('a space at the end of a text that differs is named in its cell', async () => {
    await using at = await open();
    const letters = ['Pay it', 'Pay it', 'Pay it '].map(
      (end) => `${'So it goes. '.repeat(9)}${end}`,
    );
    const entries = letters.map((body, index) => makeEntry({ body }, { requestId: `r${index}` }));
    await at.page.evaluate((props) => reading.showDifferences(props), { entries, now: readAt });
    expect(await at.page.locator('tbody .tag').allInnerTexts()).toEqual(['with space at its end']);
  });

  describe('an edit', () => {
    const inputSchema = {
      type: 'object',
      required: ['amount'],
      properties: { amount: { type: 'number' }, lines: {} },
    };
    const entry = makeEntry(
      { amount: 40.5, lines: [1], to: 'Ada' },
      { request: { editable: ['amount', 'lines'], inputSchema } },
    );

    test('keeps numbers numbers, names a fault at its field, and says what it changes', async () => {
      await using at = await open();
      const refusal = { field: ['amount'], reason: 'must be at most 40', message: 'Refused.' };
      await showEdit(at.page, entry, { refusal });
      const [amount, lines] = [
        at.page.getByLabel('amount', { exact: true }),
        at.page.getByLabel('lines', { exact: true }),
      ];
      expect(await amount.getAttribute('aria-invalid')).toBe('true');
      const description = await amount.getAttribute('aria-describedby');
      expect(await at.page.locator(`[id="${description}"]`).innerText()).toBe('must be at most 40');
      await amount.fill('39.5');
      await lines.fill('[1, 2');
      expect(await at.page.locator('.fault').allInnerTexts()).toContainEqual(
        expect.stringContaining('It is not JSON'),
      );
      expect((await readDraft(at.page))?.faults).toMatchObject([{ name: 'lines' }]);
      await lines.fill('[1, 2]');
      expect((await readDraft(at.page))?.input).toEqual({
        amount: 39.5,
        lines: [1, 2],
        to: 'Ada',
      });
      const changes = at.page.locator('section', { hasText: 'What you change' });
      expect((await changes.innerText()).replaceAll(/\s+/g, ' ')).toContain(
        'Removed 40.5 Added 39.5',
      );
    });
  });

  describe('everybody', () => {
    const format = { type: 'money', currency: 'EUR', unit: 'major' } as const;
    const entry = makeEntry(
      {
        to: 'x'.repeat(300),
        amount: 1_234_567.89,
        body: longText,
        items: Array.from({ length: 4 }, (_, index) => ({
          sku: `sku-${index}`.repeat(9),
          price: index,
          note: null,
        })),
        address: { street: { name: 'Main', number: '1' } },
      },
      {
        formats: [{ path: ['amount'], format }],
        details: [
          { type: 'diff', label: 'config', before: 'a\nb', after: 'a\nc' },
          { type: 'link', label: 'invoice', url: `https://example.com/${'y'.repeat(200)}` },
        ],
        masked: [['secret']],
        expiresAt: readAt + 60_000,
      },
    );
    const others = [1, 2, 3].map((index) =>
      makeEntry({ to: 'z'.repeat(40) + index, n: index, same: 'x' }, { requestId: `r${index}` }),
    );
    const editable = makeEntry(
      { a: 'x', b: 1, c: true, d: [1] },
      { request: { editable: true, inputSchema: { properties: { a: { type: 'string' } } } } },
    );

    test.each<[string, BrowserContextOptions, string]>([
      ['1280 px', { viewport: wide }, '100%'],
      ['390 px, dark', { viewport: { width: 390, height: 800 }, colorScheme: 'dark' }, '100%'],
      ['320 px', { viewport: narrow }, '100%'],
      ['320 px, text of 200 %', { viewport: narrow }, '200%'],
      ['forced colours', { viewport: wide, forcedColors: 'active' }, '100%'],
    ])('finds no barrier at %s, and reads without scrolling sideways', async (_, options, size) => {
      await using at = await open({ ...options, reducedMotion: 'reduce' });
      const { page } = at;
      await page.evaluate(`document.documentElement.style.fontSize = '${size}'`);
      await page.evaluate(axe.source);
      const views: (() => Promise<void>)[] = [
        async () => show(page, entry, { conversation: [{ role: 'user', text: 'Hi' }] }),
        async () => showTogether(page, others),
        async () => showEdit(page, editable),
      ];
      for (const view of views) {
        await view();
        await press(page, 'unfoldAll');
        await page.waitForTimeout(100);
        const found = await page.evaluate(
          'axe.run().then(({ violations }) => violations.map(({ id, nodes }) => [id, nodes[0].html]))',
        );
        expect(found).toEqual([]);
        const sideways = await page.evaluate(
          "document.querySelector('main').scrollWidth - document.querySelector('main').clientWidth",
        );
        expect(sideways).toBe(0);
      }
    });
  });
});
