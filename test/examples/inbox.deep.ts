import { approve, reject } from 'holdpoint';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { findChromium } from '../support/chromium.ts';
import {
  cardOf,
  chatOf,
  endedOf,
  fitsInWidth,
  isFocused,
  openApproval,
  pressSubmitKeys,
  seen,
  statusSays,
  tabTo,
  untilIdle,
} from './inbox-page.ts';
import { InboxWorld, type Visitor } from './inbox-world.ts';

const { whyNot } = await findChromium();

describe.skipIf(whyNot !== undefined)(`the inbox example (${whyNot ?? 'in Chromium'})`, () => {
  let world: InboxWorld;
  beforeAll(async () => {
    world = await InboxWorld.make();
  }, 60_000);
  afterAll(async () => world[Symbol.asyncDispose]());

  test('a call arrives in the inbox with all it would do, and runs once it is approved', async () => {
    const { page, name } = await asking('Write to Bob: the tea is ready.');
    const card = cardOf(page, 'May I send this mail to bob@office.example?');
    await card.waitFor();
    expect(await card.getByRole('row').allInnerTexts()).toEqual([
      'to\tbob@office.example',
      'subject\tthe tea is ready',
      'body\tthe tea is ready.',
    ]);
    await seen(card, 'The mail leaves the office.');
    await seen(chatOf(page), 'waits for you');
    expect(await page.title()).toBe('(1) Office assistant');
    expect(await world.done('the tea is ready')).toEqual([]);

    await card.getByRole('button', { name: 'Approve', exact: true }).click();
    await seen(chatOf(page), 'The mail is sent (R-');
    expect(await world.done('the tea is ready')).toHaveLength(1);
    const ended = endedOf(page, 'May I send this mail to bob@office.example?');
    await seen(ended, `Approved by ${name}`);
    await seen(ended, 'receipt');
    await statusSays(page, 'Nothing waits for you');
    expect(await page.title()).toBe('Office assistant');
  });

  test('a rejection and its reason reach the assistant', async () => {
    const { page, name } = await asking('Write to Bob: no more biscuits.');
    const card = cardOf(page, 'May I send this mail');
    await card.getByRole('button', { name: 'Reject with a reason' }).click();
    await page.getByRole('textbox', { name: 'Why not?' }).fill('Bob is on holiday');
    await pressSubmitKeys(page.getByRole('textbox', { name: 'Why not?' }));
    expect(await card.getAttribute('aria-busy')).toBe('false');
    await card.getByRole('button', { name: 'Reject', exact: true }).click();
    await seen(chatOf(page), 'The mail was not sent. You said: Bob is on holiday');
    await seen(endedOf(page, 'May I send this mail'), `Rejected by ${name}`);
    await seen(endedOf(page, 'May I send this mail'), 'Bob is on holiday');
    expect(await world.done('no more biscuits')).toEqual([]);
  });

  test('arguments can not be edited: there is no field for it, and an edited call sent by hand is refused', async () => {
    const visitor = await asking('Write to Bob: the rent is 900.');
    const card = cardOf(visitor.page, 'May I send this mail');
    await card.waitFor();
    expect(await card.getByRole('textbox').count()).toBe(0);

    const request = await openApproval(visitor);
    const { toolCall } = request;
    const edited = { ...toolCall, input: { to: 'eve@example.com', subject: 'x', body: 'x' } };
    const refused = await visitor.posts(request.threadId, {
      ...approve(request),
      toolCall: { toolCallId: '', toolName: 'sendMail', ...edited },
    });
    expect(refused).toMatchObject({ status: 409, body: { error: { code: 'answer-mismatch' } } });
    expect(await world.done('eve@example.com')).toEqual([]);
    await card.getByRole('button', { name: 'Approve', exact: true }).click();
    await seen(chatOf(visitor.page), 'The mail is sent');
    expect(await world.done('the rent is 900')).toHaveLength(1);
  });

  test('a question is answered with one pick, several picks and a text', async () => {
    const { page, name } = await asking('Plan a team lunch');
    const card = cardOf(page, '3 questions');
    await card.getByRole('radio', { name: /^Friday/ }).check();
    await card.getByRole('button', { name: 'Answer' }).click();
    await seen(card.getByRole('group', { name: 'Where?' }), 'Pick one, please.');
    await card.getByRole('radio', { name: /^A picnic/ }).check();
    await card.getByRole('checkbox', { name: /^vegetarians/ }).check();
    await card.getByRole('checkbox', { name: /^vegans/ }).check();
    for (const field of await card.getByRole('checkbox').all()) await pressSubmitKeys(field);
    await pressSubmitKeys(card.getByRole('radio', { name: /^A picnic/ }));
    expect(await card.getAttribute('aria-busy')).toBe('false');
    await card.getByRole('button', { name: 'Answer' }).click();
    const mail = cardOf(page, 'May I send this mail to team@office.example?');
    await seen(
      mail,
      'lunch is on Friday: A picnic. There will be something for: vegetarians, vegans.',
    );
    await seen(endedOf(page, '3 questions'), `Answered by ${name}`);
    await mail.getByRole('button', { name: 'Reject', exact: true }).click();
    await seen(chatOf(page), 'The team was not informed.');
  });

  test('arguments that are a list show every item', async () => {
    const { page } = await asking('Delete old backups');
    const card = cardOf(page, 'Which backups can go?');
    await card.getByRole('button', { name: 'Answer' }).click();
    await seen(card, 'Pick one, please.');
    await card.getByRole('checkbox', { name: /week-02/ }).check();
    await card.getByRole('checkbox', { name: /week-03/ }).check();
    await card.getByRole('button', { name: 'Answer' }).click();
    const deletion = cardOf(page, 'May I delete these 2 files?');
    await deletion.waitFor();
    expect(await deletion.getByRole('listitem').allInnerTexts()).toEqual([
      'backups/week-02.zip',
      'backups/week-03.zip',
    ]);
    await deletion.getByRole('button', { name: 'Approve', exact: true }).click();
    await seen(chatOf(page), 'The backups are deleted (R-');
    expect(await world.done('week-02')).toHaveLength(1);
    expect(await world.done('week-01')).toEqual([]);
  });

  test('a question is answered with a text, or with something that is not among its options, or skipped', async () => {
    const visitor = await asking('Hello');
    const { page } = visitor;
    const choice = cardOf(page, 'What can I do for you?');
    expect(await choice.locator(':checked').count()).toBe(0);
    await choice.getByRole('textbox', { name: 'Something else' }).fill('Write to Bob');
    await pressSubmitKeys(choice.getByRole('textbox', { name: 'Something else' }));
    expect(await choice.getAttribute('aria-busy')).toBe('false');
    await choice.getByRole('button', { name: 'Answer' }).click();
    const text = cardOf(page, 'What shall I write to bob@office.example?');
    await text.getByRole('button', { name: 'Answer' }).click();
    await seen(text, 'Type an answer.');
    await text.getByRole('textbox').fill('the cat is back');
    await page.keyboard.press('Enter');
    await seen(cardOf(page, 'May I send this mail'), 'the cat is back');
    await cardOf(page, 'May I send this mail')
      .getByRole('button', { name: 'Approve', exact: true })
      .click();
    await seen(chatOf(page), 'The mail is sent');

    await visitor.says('Hello again');
    await choice.getByRole('button', { name: 'Skip' }).click();
    await seen(chatOf(page), 'All right.');
    await seen(endedOf(page, 'What can I do for you?').first(), 'Skipped by');
  });

  test('markup, and characters that hide or turn, are shown and do nothing', async () => {
    const nasty =
      '<img src=x onerror="document.title=`owned`"><script>document.title=`owned`</script> ' +
      'pay \u202E001\u202C not\u200B \u0007[click](javascript:alert(1)) 👩‍👧 \\u{202e} \\d';
    const { page } = await asking(`Write to Bob: ${nasty}`);
    const card = cardOf(page, 'May I send this mail');
    await card.waitFor();
    const shown =
      'pay \\u{202e}001\\u{202c} not\\u{200b} \\u{7}[click](javascript:alert(1)) 👩‍👧 \\\\u{202e} \\d';
    const marked = ['\\u{202e}', '\\u{202c}', '\\u{200b}', '\\u{7}'];
    for (const place of [card, chatOf(page).getByRole('article', { name: 'You' })]) {
      const text = (await place.textContent()) ?? '';
      expect(text).toContain('<img src=x onerror="document.title=`owned`"><script>');
      expect(text).toContain(shown);
      expect(text.replaceAll('👩‍👧', '')).not.toMatch(/[\p{Cc}\p{Cf}]/u);
      expect(new Set(await place.locator('mark').allTextContents())).toEqual(new Set(marked));
      expect(await place.locator('img, script, a').count()).toBe(0);
    }
    expect(await page.locator('body img, body a').count()).toBe(0);
    expect(await page.title()).toBe('(1) Office assistant');
    const { headers } = await fetch(world.url);
    expect(headers.get('content-security-policy')).toContain("default-src 'none'");
  });

  test('a second tab sees the request and the outcome without a reload', async () => {
    const visitor = await asking('Write to Bob: two tabs.');
    const tab = await visitor.secondTab();
    await cardOf(tab, 'May I send this mail').waitFor();
    await seen(chatOf(tab), 'waits for you');
    const card = cardOf(visitor.page, 'May I send this mail');
    await card.getByRole('button', { name: 'Approve', exact: true }).click();
    await seen(endedOf(tab, 'May I send this mail'), `Approved by ${visitor.name}`);
    await seen(chatOf(tab), 'The mail is sent');
    await seen(chatOf(tab), 'approved, done');
  });

  test.each(['chat', 'inbox'] as const)(
    'a second, different answer through the %s is refused with 409, and the page says so',
    async (channel) => {
      const visitor = await asking(`Write to Bob: first come, through the ${channel}.`);
      const { page } = visitor;
      const tab = await visitor.secondTab();
      const card = cardOf(tab, 'May I send this mail');
      await card.waitFor();
      await chatOf(tab).getByText('waits for you').waitFor();
      if (channel === 'inbox') {
        await tab.getByRole('button', { name: 'New conversation' }).click();
        await tab.getByText('What can I do for the office?').waitFor();
      }
      /* The second tab hears nothing more of the first. */
      await tab.route('**/api/inbox', (route) =>
        route.request().method() === 'GET' ? route.abort() : route.continue(),
      );
      await tab.route('**/api/chat?*', (route) => route.abort());
      await cardOf(page, 'May I send this mail')
        .getByRole('button', { name: 'Approve', exact: true })
        .click();
      await seen(chatOf(page), 'The mail is sent');

      const refused = tab.waitForResponse((response) => response.request().method() === 'POST');
      await card.getByRole('button', { name: 'Reject', exact: true }).click();
      expect((await refused).status()).toBe(409);
      expect((await refused).url()).toContain(`/api/${channel}`);
      await tab.unrouteAll();
      await seen(tab.getByRole('alert'), 'The first answer counts.');
      expect(await world.done(`through the ${channel}`)).toHaveLength(1);
    },
  );

  test('the first answer stands also past the page, and another person is refused', async () => {
    const visitor = await asking('Write to Bob: by hand.');
    await cardOf(visitor.page, 'May I send this mail').waitFor();
    const request = await openApproval(visitor);
    expect(await visitor.posts(request.threadId, approve(request))).toMatchObject({ status: 200 });
    expect(await visitor.posts(request.threadId, approve(request))).toMatchObject({ status: 200 });
    expect(await visitor.posts(request.threadId, reject(request))).toMatchObject({
      status: 409,
      body: { error: { code: 'already-answered' } },
    });
    await seen(chatOf(visitor.page), 'The mail is sent');

    const other = await world.visit();
    expect((await other.posts(request.threadId, reject(request))).status).toBe(403);
    const path = `/api/chat?id=${encodeURIComponent(request.threadId)}`;
    expect((await visitor.fetch(path)).status).toBe(200);
    expect((await other.fetch(path)).status).toBeGreaterThanOrEqual(400);
    expect((await other.board()).conversations).toEqual([]);
  });

  test('what waits in another conversation is answered from the inbox, and a worker goes on', async () => {
    const { page } = await asking('Write to Bob: from afar.');
    await cardOf(page, 'May I send this mail').waitFor();
    await page.getByRole('button', { name: 'New conversation' }).click();
    await page.getByText('What can I do for the office?').waitFor();
    await cardOf(page, 'May I send this mail')
      .getByRole('button', { name: 'Approve', exact: true })
      .click();
    await seen(endedOf(page, 'May I send this mail'), 'receipt');
    expect(await world.done('from afar')).toHaveLength(1);
    await page.getByRole('button', { name: 'Write to Bob: from afar.' }).click();
    await seen(chatOf(page), 'The mail is sent');
  });

  test('what did not reach the server is not shown as if it had, and goes out by itself', async () => {
    const visitor = await asking('Write to Bob: no net.');
    const { page } = visitor;
    const card = cardOf(page, 'May I send this mail');
    await untilIdle(page);
    await page.route('**/api/chat', (route) => route.abort());
    await card.getByRole('button', { name: 'Approve', exact: true }).click();
    await seen(page.getByRole('alert'), "The server can't be reached.");
    await seen(chatOf(page), 'sending your answer');
    expect(await chatOf(page).textContent()).not.toContain('approved');
    await statusSays(page, '1 waits for you');
    expect(await world.done('no net')).toEqual([]);
    await page.unrouteAll();
    await seen(chatOf(page), 'The mail is sent');
    expect(await world.done('no net')).toHaveLength(1);
  });

  test('the same requests wait when the server was killed and started again', async () => {
    const visitor = await asking('Write to Bob: after the night.');
    const { page } = visitor;
    await cardOf(page, 'May I send this mail').waitFor();
    const before = await openApproval(visitor);
    await world.killServer();
    await page.getByText("The server can't be reached.").waitFor();
    await world.startServer();
    await page.getByText("The server can't be reached.").waitFor({ state: 'detached' });
    await page.reload();
    await seen(chatOf(page), 'waits for you');
    expect(await openApproval(visitor)).toEqual(before);
    await cardOf(page, 'May I send this mail')
      .getByRole('button', { name: 'Approve', exact: true })
      .click();
    await seen(chatOf(page), 'The mail is sent');
    expect(await world.done('after the night')).toHaveLength(1);
  });

  test('everything goes with the keyboard alone, and Enter on a card approves nothing', async () => {
    const { page } = await world.visit();
    await page.getByText('What can I do for the office?').waitFor();
    await page.keyboard.type('Pay the open invoices');
    await page.keyboard.press('Enter');
    const cards = page.getByRole('article', { name: /^May I pay/ });
    await cards.nth(1).waitFor();
    await untilIdle(page);
    await tabTo(page, cards.first());
    await page.keyboard.press('j');
    expect(await isFocused(cards.nth(1))).toBe(true);
    await page.keyboard.press('ArrowUp');
    expect(await isFocused(cards.first())).toBe(true);
    await cards
      .first()
      .getByRole('button', { name: 'Approve', exact: true, disabled: false })
      .waitFor();
    await page.keyboard.press('Enter');
    await page.keyboard.press('Space');
    expect(await isFocused(cards.first())).toBe(true);
    expect(await cards.count()).toBe(2);
    for (const key of ['a', 'y', '1', 'Control+Enter']) await page.keyboard.press(key);
    expect(await isFocused(cards.first())).toBe(true);
    expect(await cards.count()).toBe(2);
    await page.keyboard.press('Tab');
    /* Held: it approves the one, and then is pressed on a heading. */
    for (let held = 0; held < 10; held += 1) await page.keyboard.down('Enter');
    await page.keyboard.up('Enter');
    expect(await isFocused(page.getByRole('heading', { name: 'Inbox' }))).toBe(true);
    await statusSays(page, '1 waits for you');
    await page.keyboard.press('Enter');
    await page.keyboard.press('j');
    await page.keyboard.press('r');
    await page.keyboard.type('ask again in a year');
    await page.keyboard.press('Escape');
    expect(await isFocused(cards.first())).toBe(true);
    await page.keyboard.press('r');
    await page.keyboard.type('too dear');
    await page.keyboard.press('Enter');
    await tabTo(page, cards.first().getByRole('button', { name: 'Reject', exact: true }));
    await page.keyboard.press('Enter');
    await seen(chatOf(page), 'You said: too dear');
    await statusSays(page, 'Nothing waits for you');
    await seen(chatOf(page), 'Paid: ');
  });

  test('a click that comes while the cards move approves nothing', async () => {
    const visitor = await world.visit();
    const { page } = visitor;
    /* Somebody who was about to press where the card now is. */
    await page.evaluate(`new MutationObserver((_, observer) => {
      const button = document.querySelector('.card.waiting button.yes');
      if (button === null) return;
      observer.disconnect();
      button.click();
      document.body.dataset.focused = document.activeElement.id;
    }).observe(document.body, { childList: true, subtree: true })`);
    await visitor.says('Write to Bob: not so fast.');
    /* An answer takes the focus to the heading at once. */
    await page.locator('body[data-focused]:not([data-focused=inbox-heading])').waitFor();
    const card = cardOf(page, 'May I send this mail');
    await card.getByRole('button', { name: 'Approve', exact: true, disabled: false }).waitFor();
    await statusSays(page, '1 waits for you');
    expect(await world.done('not so fast')).toEqual([]);
  });

  test('a card says when its request expires, as time goes by, and can not be answered after that', async () => {
    const visitor = await world.visit();
    const { page } = visitor;
    await page.clock.install();
    await visitor.says('Pay the open invoices');
    const card = page.getByRole('article', { name: /^May I pay/ }).first();
    /* The clock of the page may stand some seconds behind the server's. */
    await seen(card, /expires in (59 minutes|1 hour)/);
    await page.clock.fastForward('30:00');
    await seen(card, /expires in (29|30) minutes/);
    await page.clock.fastForward('32:00');
    await seen(card, /expired \d minutes? ago/);
    const button = card.getByRole('button', { name: 'Approve', exact: true });
    expect(await button.getAttribute('aria-disabled')).toBe('true');
    await card.focus();
    await button.dispatchEvent('click');
    await page.keyboard.press('a');
    /* An answer takes the focus from its card at once. */
    expect(await isFocused(card)).toBe(true);
  });

  test('at the width of a phone nothing scrolls sideways, and everything can be reached', async () => {
    const { page } = await world.visit({ viewport: { width: 390, height: 800 }, hasTouch: true });
    await page.getByRole('button', { name: 'Plan a team lunch' }).tap();
    await seen(chatOf(page), 'waits for you');
    await fitsInWidth(page);
    await chatOf(page).getByRole('button', { name: 'Review' }).tap();
    const card = cardOf(page, '3 questions');
    expect(await isFocused(card)).toBe(true);
    await fitsInWidth(page);
    await card.getByRole('button', { name: 'Skip' }).tap();
    await seen(endedOf(page, '3 questions'), 'Skipped by');
    await page.getByRole('button', { name: 'Conversations' }).tap();
    await fitsInWidth(page);
    await page.getByRole('button', { name: 'New conversation' }).tap();
    await page.getByText('What can I do for the office?').waitFor();
  });

  test('everything that can be pressed or filled in has a name, and the parts of the page have roles', async () => {
    const visitor = await asking('Plan a team lunch');
    const { page } = visitor;
    for (const text of ['Hello', 'Write to Bob', 'Pay the open invoices']) {
      await seen(chatOf(page), 'waits for you');
      await page.getByRole('button', { name: 'New conversation' }).click();
      await visitor.says(text);
    }
    await statusSays(page, '5 wait for you');
    const nameless = await page.evaluate<string[]>(`
      [...document.querySelectorAll('button, input, textarea, [tabindex="0"]')]
        .filter((element) => {
          const labels = [...(element.labels ?? [])].map((label) => label.textContent);
          const by = document.getElementById(element.getAttribute('aria-labelledby'))?.textContent;
          const own = element.matches('button') ? element.textContent : '';
          return ![element.ariaLabel, by, own, ...labels].some((name) => name?.trim());
        })
        .map((element) => element.outerHTML)`);
    expect(nameless).toEqual([]);
    expect(await page.evaluate('document.documentElement.lang')).toBe('en');
    expect(await page.getByRole('heading', { level: 1 }).count()).toBe(1);
    for (const [role, name] of [
      ['navigation', 'Conversations'],
      ['log', 'Messages'],
      ['region', 'Inbox'],
    ] as const) {
      expect(await page.getByRole(role, { name }).count(), `${role} ${name}`).toBe(1);
    }
    const names = ['On which day?', 'Where?', 'What has to be on the menu?'];
    for (const name of names) expect(await page.getByRole('group', { name }).count()).toBe(1);
    await page.getByRole('button', { name: 'New conversation' }).focus();
    await page.keyboard.press('Tab');
    const outline = await page.evaluate('getComputedStyle(document.activeElement).outlineStyle');
    expect(outline).toBe('solid');
  });

  test('requests that name another host, or come from another site, are refused', async () => {
    const evil = { headers: { origin: 'http://evil.example', 'x-demo-name': 'Ada' } };
    expect((await fetch(`${world.url}/api/inbox`, evil)).status).toBe(403);
    expect((await fetch(`${world.url}/api/inbox`)).status).toBe(401);
  });

  async function asking(text: string): Promise<Visitor> {
    const visitor = await world.visit();
    await visitor.says(text);
    return visitor;
  }
});
