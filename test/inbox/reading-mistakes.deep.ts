import { crc32, deflateSync } from 'node:zlib';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { findChromium, launchChromium } from '../support/chromium.ts';
import { makeEntry } from './inbox-entries.ts';
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

const { whyNot } = await findChromium();

const chunk = (type: string, data: Buffer): Buffer => {
  const named = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  sum.writeUInt32BE(crc32(named));
  return Buffer.concat([length, named, sum]);
};

/** A PNG image that says it has this many pixels each way; `pixels` are what it has. */
const makePng = (size: number, pixels: Buffer): string => {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(size, 0);
  header.writeUInt32BE(size, 4);
  header.set([8, 0, 0, 0, 0], 8);
  const start = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1');
  const parts = [chunk('IHDR', header), chunk('IDAT', pixels), chunk('IEND', Buffer.alloc(0))];
  return Buffer.concat([start, ...parts]).toString('base64');
};

/* Black: each line begins with the number of its filter, of which there are five. */
const whole = deflateSync(Buffer.alloc(64 * 65));
const long = 'A line of a long letter.\n'.repeat(400);

describe.skipIf(whyNot !== undefined)(`reading by mistake (${whyNot ?? 'in Chromium'})`, () => {
  let site: Awaited<ReturnType<typeof serveReading>>;
  let browser: Browser;
  beforeAll(async () => {
    [site, browser] = await Promise.all([serveReading(), launchChromium()]);
  }, 60_000);
  afterAll(async () => {
    await browser.close();
    site.close();
  });

  const open = async (script = '') => openReading(browser, site.url, { script });

  test('two columns of one name are two fields, of which both have to be read', async () => {
    await using at = await open();
    const entries = ['a', 'b'].map((requestId) =>
      makeEntry(
        { why: `${long}${requestId}` },
        { requestId, request: { reason: `Rule ${requestId}.` } },
      ),
    );
    await showTogether(at.page, entries);
    await expect.poll(async () => (await readShown(at.page))?.missing).not.toContain('effect');
    await at.page.locator('tbody').scrollIntoViewIfNeeded();
    await at.page.waitForTimeout(400);
    expect((await readShown(at.page))?.missing).toContain('row 1: why');
  });

  test('what alike requests ask in the same words is shown once', async () => {
    await using at = await open();
    const entries = [1, 2].map((amount) =>
      makeEntry(
        { amount },
        {
          requestId: `r${amount}`,
          text: 'May I close it?',
          request: { reason: 'It can’t be undone.' },
        },
      ),
    );
    await showTogether(at.page, entries);
    expect(await readText(at.page)).toContain('May I close it?');
    expect(await readText(at.page)).toContain('It can’t be undone.');
  });

  test('terms that differ among marked requests are in their rows', async () => {
    await using at = await open();
    const terms = [
      { risk: 'low' as const, quorum: 1, approvers: ['boss'], metadata: { case: 'first' } },
      { risk: 'critical' as const, quorum: 2, approvers: ['board'], metadata: { case: 'second' } },
    ];
    const entries = terms.map(({ risk, quorum, approvers, metadata }, index) =>
      makeEntry(
        { amount: index },
        {
          requestId: `r${index}`,
          risk,
          quorum,
          approvers,
          request: { risk, quorum, approvers, metadata },
        },
      ),
    );
    await showTogether(at.page, entries);
    const rows = await at.page.locator('tbody tr').allInnerTexts();
    for (const part of ['low', '1', 'boss', 'first'])
      expect(rows[0]?.toLowerCase()).toContain(part);
    for (const part of ['critical', '2', 'board', 'second'])
      expect(rows[1]?.toLowerCase()).toContain(part);
    const facts = await at.page.locator('.facts').last().innerText();
    expect(facts).not.toMatch(/boss|first|1 each/);
  });

  test('an image that has more pixels than a browser decodes is one that can’t be shown', async () => {
    const file = makePng(100_000, whole);
    await using at = await open();
    const formats = [{ path: ['file'], format: { type: 'file' } }];
    await show(at.page, makeEntry({ file }, { formats } as object));
    await expect
      .poll(async () => (await readShown(at.page))?.isWhole, { timeout: 5000 })
      .toBe(true);
    expect((await readShown(at.page))?.hidden).toBe(1);
  });

  test('an image that is whole is shown', async () => {
    await using at = await open();
    const formats = [{ path: ['file'], format: { type: 'file' } }];
    await show(at.page, makeEntry({ file: makePng(64, whole) }, { formats } as object));
    await expect.poll(async () => (await readShown(at.page))?.isWhole).toBe(true);
    expect((await readShown(at.page))?.hidden).toBe(0);
  });

  test('a list of empty objects is shown as what it is', async () => {
    await using at = await open();
    await show(at.page, makeEntry({ list: [{}, {}] }));
    expect(await readText(at.page)).toContain('empty object');
  });

  test('a browser whose language is no language has its values shown all the same', async () => {
    await using at = await open(
      "Object.defineProperty(Navigator.prototype, 'language', { get: () => 'en-US@posix' })",
    );
    await show(at.page, makeEntry({ to: 'Ada' }));
    expect(await readText(at.page)).toContain('Ada');
  });

  test('an edit of one letter leaves the other line ends as they were', async () => {
    await using at = await open();
    const body = 'Dear Ada,\r\nplease pay.\r\nMia';
    const entry = makeEntry({ body }, { request: { editable: true } });
    await showEdit(at.page, entry);
    const field = at.page.locator('textarea').first();
    await field.focus();
    await at.page.keyboard.press('Control+End');
    await at.page.keyboard.type('!');
    expect((await readDraft(at.page))?.input).toEqual({ body: `${body}!` });
  });
});
