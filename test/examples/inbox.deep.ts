import axe from 'axe-core';
import type { Browser, Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { findChromium, launchChromium } from '../support/chromium.ts';
import { sharedPostgres } from '../support/shared-postgres.ts';
import { waitFor, waitUntil } from '../support/waiting.ts';
import type { InboxEntry } from '../../src/apps/inbox/inbox-api.ts';
import { InboxWorld, isRunning, type Name, type Sent } from './inbox-world.ts';

const { whyNot } = await findChromium();

const button = (page: Page, name: string): Locator =>
  page.getByRole('button', { name, exact: true });
const chatOf = (page: Page): Locator => page.getByRole('log', { name: 'Conversation' });
const seen = async (place: Locator, text: string | RegExp): Promise<void> =>
  place.getByText(text).first().waitFor();

/** Opens a request of the list. What has arrived since the list was read is shown when it is asked for. */
async function openRequest(page: Page, title: string | RegExp): Promise<void> {
  const row = page.getByRole('row', { name: title });
  const arrived = page.getByRole('button', { name: /^[1-9]\d* new$/ });
  await row.or(arrived).first().waitFor();
  if (!(await row.isVisible())) await arrived.click();
  await row.first().click();
  await page.locator('#request-title').getByText(title).waitFor();
}

/** Reads the open request to its end, screen by screen, until the button may be pressed, and presses it by the keyboard. */
async function readAndPress(page: Page, name: string): Promise<void> {
  const ready = page.locator('button:not([aria-disabled="true"])', { hasText: name });
  await waitFor(async () => {
    await page.keyboard.press('Space');
    expect(await ready.count()).toBeGreaterThan(0);
  });
  await button(page, name).press('Enter');
}

const approval = (requestId: string, more: object = {}) => ({
  type: 'approval-response',
  requestId,
  approved: true,
  ...more,
});

/** Ada asks for a payment, and Bob approves it in his inbox. */
async function playPayment(at: InboxWorld): Promise<Page[]> {
  const inbox = await at.open('bob');
  await seen(inbox.locator('.list-pane'), 'Nothing waits for you.');
  const { chat } = await at.says('ada', 'Pay invoice 2041');
  await openRequest(inbox, /May I pay €184\.30 to Papierhaus Nord\?/);
  const detail = inbox.locator('.detail-scroll');
  for (const text of ['2041', 'DE02120300000000202051', 'EUR 184.30', '184.3'])
    await seen(detail, text);
  await seen(detail, 'A payment can not be undone.');
  expect(await at.done('2041')).toEqual([]);
  await readAndPress(inbox, 'Approve');
  await seen(chatOf(chat), /Paid: Papierhaus Nord \(R-0001\)/);
  expect(await at.done('2041')).toMatchObject([{ toolName: 'payInvoice', receipt: 'R-0001' }]);
  expect((await at.list('bob', 'decided')).entries).toMatchObject([
    { state: 'approved', decidedBy: 'bob' },
  ]);
  expect(at.complaints).toEqual([]);
  return [inbox, chat];
}

describe.skipIf(whyNot !== undefined)(`the inbox example (${whyNot ?? 'in Chromium'})`, () => {
  let browser: Browser;
  let world: InboxWorld;
  beforeAll(async () => {
    browser = await launchChromium();
    world = await InboxWorld.make(browser);
  }, 120_000);
  afterAll(async () => {
    await world[Symbol.asyncDispose]();
    await browser.close();
  }, 60_000);

  test('a payment arrives at the manager with all that it would do, and is made once after the approval', async () => {
    for (const page of await playPayment(world)) {
      await page.evaluate(axe.source);
      const barriers = 'axe.run().then(({ violations }) => violations.map(({ id }) => id))';
      expect(await page.evaluate(barriers)).toEqual([]);
    }
  });

  test('on Postgres too, with the address of a database', async () => {
    await using databases = sharedPostgres();
    const database = await databases.createDatabase();
    const settings = { DATABASE_URL: databases.connectionString(database) };
    await using other = await InboxWorld.make(browser, settings);
    await playPayment(other);
    const { rows } = await databases
      .pool(database)
      .query('select 1 from holdpoint_entries limit 1');
    expect(rows).toHaveLength(1);
  });

  test('a rejection and its reason reach the assistant', async () => {
    const { chat } = await world.says('ada', 'Pay invoice 2044');
    const inbox = await world.open('bob');
    await openRequest(inbox, /Lumen Hosting/);
    await inbox.keyboard.press('r');
    await inbox.getByRole('textbox', { name: /Why do you reject it\?/ }).fill('Paid last week');
    for (const key of ['Enter', 'Control+Enter', 'Meta+Enter']) await inbox.keyboard.press(key);
    expect((await world.list('bob')).entries).toHaveLength(1);
    await button(inbox, 'Reject').press('Enter');
    await seen(chatOf(chat), 'Not paid: Lumen Hosting. You said: Paid last week');
    expect(await world.done('2044')).toEqual([]);
  });

  test('questions are answered by who was asked, and nobody else has them', async () => {
    const { chat, threadId } = await world.says('ada', 'Plan a team lunch');
    const asked = await world.find('ada', threadId);
    const inbox = await world.open('ada');
    await openRequest(inbox, 'On which day?');
    await inbox.getByRole('radio', { name: /^Friday/ }).check();
    await inbox.getByRole('radio', { name: /^A picnic/ }).check();
    await inbox.getByRole('checkbox', { name: /^vegetarians/ }).check();
    await inbox.getByRole('checkbox', { name: /^vegans/ }).check();
    expect((await world.list('bob')).entries).toEqual([]);
    const dismissal = {
      type: 'question-response',
      requestId: asked.requestId,
      status: 'dismissed',
    };
    expect(await world.answer('bob', asked, dismissal)).toMatchObject({ status: 'refused' });
    await button(inbox, 'Answer').press('Enter');
    await openRequest(inbox, 'May I send this mail to team@office.example?');
    const mail = 'lunch is on Friday: A picnic. There will be something for: vegetarians, vegans.';
    await seen(inbox.locator('.detail-scroll'), mail);
    await readAndPress(inbox, 'Approve');
    await seen(chatOf(chat), /The team is informed \(R-/);
    expect(await world.done('picnic')).toHaveLength(1);
  });

  test('whoever asks for a payment does not approve it, not even as a manager', async () => {
    const { threadId } = await world.says('bob', 'Pay invoice 2047');
    const entry = await world.find('bob', threadId, 'all');
    const inbox = await world.open('bob');
    await inbox.getByRole('button', { name: /^All open/ }).click();
    await openRequest(inbox, /Café Morgenrot/);
    await seen(inbox.locator('.detail-scroll'), 'Until');
    await inbox.keyboard.press('a');
    expect(await button(inbox, 'Approve').count()).toBe(0);
    const answer = approval(entry.requestId);
    const outcome = await world.answer('bob', entry, answer);
    expect(outcome).toMatchObject({ status: 'refused', error: { code: 'not-allowed' } });
    expect((await world.list('ada', 'all')).entries).toEqual([]);
    const outcomeOfAda = await world.answer('ada', entry, answer);
    expect(outcomeOfAda).toMatchObject({ status: 'refused', error: { code: 'not-found' } });
    expect(await world.done('2047')).toEqual([]);
  });

  test('who may not approve a call sees it, and no answer of theirs, page of another site or wrong field does anything', async () => {
    const { threadId } = await world.says('ada', 'Pay invoice 2044');
    const entry = await world.find('bob', threadId);
    const { requestId, digest } = entry;
    const inbox = await world.open('ada');
    await seen(inbox.locator('.list-pane'), 'Nothing waits for you.');
    await inbox.getByRole('button', { name: /^All open/ }).click();
    await openRequest(inbox, /Lumen Hosting/);
    await inbox.keyboard.press('a');
    expect(await button(inbox, 'Approve').count()).toBe(0);
    expect(await button(inbox, 'Reject …').count()).toBe(0);

    const answer = approval(requestId);
    const outcome = await world.answer('ada', entry, answer);
    expect(outcome).toMatchObject({ status: 'refused', error: { code: 'not-allowed' } });
    const { viewer } = await world.list('bob');
    const body = { viewer, answers: [{ requestId, threadId, digest, answer }] };
    const { port } = new URL(world.urlOf('bob'));
    const principal = { id: 'bob', roles: ['manager'] };
    const refusals: [status: number, name: Name, sent: Sent][] = [
      [403, 'ada', { body }],
      [403, 'ada', { body: { ...body, principal } }],
      [400, 'bob', { body: { ...body, principal } }],
      [403, 'bob', { body, headers: { origin: 'https://evil.example' } }],
      [403, 'bob', { body, headers: { origin: `http://localhost:${port}` } }],
      [403, 'bob', { body, headers: { host: 'evil.example' } }],
      [403, 'bob', { body, headers: { host: `bob.example:${port}` } }],
      [415, 'bob', { body, headers: { 'content-type': 'text/plain' } }],
      [400, 'bob', { body: { ...body, approved: true } }],
      [400, 'bob', { body: { viewer, answers: [] } }],
    ];
    for (const [status, name, sent] of refusals) {
      const got = await world.send(name, '/inbox/api/answers', { ...sent, method: 'POST' });
      expect([got.status, name, sent]).toEqual([status, name, sent]);
    }
    for (const given of [answer, { ...answer, approved: false, reason: 'No.' }]) {
      const sent = { method: 'POST', body: { id: threadId, answers: [given] } };
      expect((await world.send('ada', '/chat', sent)).status).toBe(403);
    }
    const { input } = Object(Object(entry.request).toolCall);
    const wrong: [code: string, entry: InboxEntry, more: object][] = [
      ['answer-mismatch', { ...entry, digest: 'another' }, {}],
      ['answer-mismatch', entry, { digest: 'another' }],
      ['invalid-answer', entry, { input: { ...input, payee: 'Eve' } }],
    ];
    for (const [code, shown, more] of wrong) {
      const refused = await world.answer('bob', shown, { ...answer, ...more });
      expect(refused).toMatchObject({ status: 'refused', error: { code } });
    }
    expect(await world.done('2044')).toEqual([]);
    expect(await world.find('bob', threadId)).toEqual(entry);
  });

  test('a conversation is read by who began it and by managers, and by nobody else', async () => {
    const [bob, ada] = [await world.says('bob', 'Hello'), await world.says('ada', 'Hello')];
    for (const { chat } of [bob, ada]) await seen(chatOf(chat), 'What can I do for you?');
    const read = async (name: Name, threadId: string): Promise<number> =>
      (await world.send(name, `/chat?id=${threadId}`)).status;
    expect(await read('ada', ada.threadId)).toBe(200);
    expect(await read('bob', ada.threadId)).toBe(200);
    expect(await read('ada', bob.threadId)).toBe(403);
    const message = { id: 'm', role: 'user', parts: [{ type: 'text', text: 'Pay.' }] };
    const body = { id: bob.threadId, message };
    expect((await world.send('ada', '/chat', { method: 'POST', body })).status).toBe(403);
  });

  test('no key but the one for it approves, and none in a field', async () => {
    const { chat, threadId } = await world.says('ada', 'Write to Bob: every key.');
    await seen(chatOf(chat), 'May I send this mail');
    const inbox = await world.open('ada', '/inbox', { viewport: { width: 1280, height: 1600 } });
    await openRequest(inbox, 'May I send this mail to bob@office.example?');
    await inbox.locator('button.yes:not([aria-disabled="true"])').waitFor();
    const named = ['Enter', 'Space', 'Escape', 'Delete', 'F2', 'Control+Enter', 'Meta+Enter'];
    const letters = 'bcdefghijklmnopqrstuvwxyz0123456789?'.split('');
    for (const key of ['Control+a', 'Meta+a', 'Alt+a', ...named, ...letters]) {
      await inbox.locator('#request-title').focus();
      await inbox.keyboard.press(key);
      await inbox.keyboard.press('Escape');
    }
    await inbox.getByRole('searchbox').pressSequentially('approve all');
    await inbox.keyboard.press('Enter');
    for (const field of await chat.getByRole('textbox').all()) {
      for (const key of ['a', 'Enter', 'Control+Enter']) await field.press(key);
    }
    expect(await world.find('ada', threadId)).toMatchObject({ state: 'open' });
    expect(await world.done('every key')).toEqual([]);
    await inbox.getByRole('searchbox').fill('');
    await inbox.keyboard.press('Enter');
    await openRequest(inbox, 'May I send this mail to bob@office.example?');
    await inbox.locator('button.yes:not([aria-disabled="true"])').waitFor();
    await inbox.keyboard.press('a');
    await waitUntil(async () => (await world.done('every key')).length === 1);
  });

  test('markup, and characters that hide or turn, are shown and do nothing', async () => {
    const nasty =
      '<img src=x onerror="document.title=`owned`"><script>document.title=`owned`</script> ' +
      'pay \u202E001\u202C not\u200B [click](javascript:alert(1))';
    const { chat } = await world.says('ada', `Write to Bob: ${nasty}`);
    const inbox = await world.open('ada');
    await openRequest(inbox, /May I send this mail to bob/);
    for (const place of [inbox.locator('.detail-scroll'), chatOf(chat)]) {
      await seen(place, /<img src=x onerror=/);
      /* A field for an edit has the characters themselves. */
      const text = (await place.locator('p, pre, dd').allTextContents()).join('\n');
      expect(text).toContain('\\u{202e}001\\u{202c} not\\u{200b}');
      expect(text).not.toMatch(/\p{Cf}/u);
      expect(await place.locator('img, script, a[href^="javascript"]').count()).toBe(0);
    }
    expect(await inbox.title()).not.toContain('owned');
    expect(await chat.title()).not.toContain('owned');
  });

  test('the same requests wait when the server was killed and started again, and are answered once', async () => {
    await using other = await InboxWorld.make(browser);
    const { chat, threadId } = await other.says('ada', 'Pay invoice 2041');
    const before = await other.find('bob', threadId);
    const inbox = await other.open('bob');
    await openRequest(inbox, /Papierhaus Nord/);
    const worker = await other.findWorker();
    await other.killServer();
    await waitUntil(() => !isRunning(worker));
    await seen(inbox.locator('body'), /can.t be reached/);
    await other.startServer();
    expect(await other.find('bob', threadId)).toEqual(before);
    await readAndPress(inbox, 'Approve');
    await seen(chatOf(chat), /Paid: Papierhaus Nord \(R-0001\)/);
    expect(await other.done('2041')).toHaveLength(1);
  });

  test('a worker that is killed is replaced, and runs what was approved meanwhile once', async () => {
    await using other = await InboxWorld.make(browser);
    const { threadId } = await other.says('ada', 'Pay the open invoices');
    const entry = await other.find('bob', threadId);
    const worker = await other.findWorker();
    process.kill(worker, 'SIGKILL');
    expect(await other.answer('bob', entry, approval(entry.requestId))).toMatchObject({
      status: 'recorded',
    });
    await waitUntil(async () => (await other.done('')).length > 0);
    expect(await other.findWorker()).not.toBe(worker);
    const next = await other.find('bob', threadId);
    await other.answer('bob', next, approval(next.requestId));
    await waitUntil(async () => (await other.done('')).length > 1);
    const keys = (await other.done('')).map(({ key }) => key);
    expect(new Set(keys).size).toBe(2);

    const last = await other.findWorker();
    expect(await other.stopServer()).toBe(0);
    await waitUntil(() => !isRunning(last));
  });
});
