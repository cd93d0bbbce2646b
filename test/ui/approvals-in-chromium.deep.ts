import type { UserApproval } from 'holdpoint';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { findChromium, launchChromium } from '../support/chromium.ts';
import type { ScriptedStep } from '../support/script.ts';
import { book } from '../support/travel-world.ts';
import {
  answersOf,
  button,
  documentedPage,
  drawn,
  isOnButton,
  openSite,
  paris,
  pressEverywhere,
  says,
  shows,
} from './documented-page.ts';

const { whyNot } = await findChromium();

describe.skipIf(whyNot !== undefined)(`approvals on the page (${whyNot ?? 'in Chromium'})`, () => {
  let script: string;
  let browser: Browser;
  beforeAll(async () => {
    [script, browser] = await Promise.all([documentedPage(), launchChromium()]);
  }, 60_000);
  afterAll(async () => browser.close());

  const site = async (status: UserApproval, steps: ScriptedStep[]) =>
    openSite({ script, browser }, status, steps);

  test('an edited field runs, and the page shows what was changed', async () => {
    await using at = await site({ type: 'user-approval', editable: ['city'] }, [
      { calls: [paris('c1')] },
      { text: 'Booked.' },
    ]);
    const page = await at.visit('ann');
    await says(page, 'Book');
    await page.getByLabel('city').fill('Rome');
    await button(page, 'Approve').click();
    await shows(page, 'Booked.');
    await shows(page, 'Edited by: ann, ');
    await shows(page, 'city: "Paris" → "Rome"');
    expect(at.world.ran).toMatchObject([{ input: { city: 'Rome' } }]);
  }, 30_000);

  test('what a stop holds is shown so, and goes on for who may reject it, and for nobody else', async () => {
    await using at = await site({ type: 'user-approval', approvers: ['ann'] }, [
      { calls: [paris('c1')] },
      { text: 'Booked.' },
    ]);
    const { agent, world } = at;
    const thread = await agent.thread('t');
    const { approvalRequests } = await agent.run('Book', thread, { principal: 'bob' });
    const answers = approvalRequests.map((request) => request.approve());
    await agent.respond(answers, thread, { principal: 'ann' });
    await agent.stop(thread, { principal: 'bob' });
    const [ann, bob] = [await at.visit('ann'), await at.visit('bob')];
    for (const page of [ann, bob])
      await shows(page, 'approved, and held since the assistant was stopped');
    await button(bob, 'Resume what was approved').click();
    await shows(bob, 'You are not allowed to do this.');
    await shows(bob, 'approved, and held since the assistant was stopped');
    expect(world.ran).toEqual([]);
    await button(ann, 'Resume what was approved').click();
    await shows(ann, 'Booked.');
    await button(ann, 'Resume what was approved').waitFor({ state: 'detached' });
    await shows(bob, 'Booked.');
    expect(world.ran).toHaveLength(1);
  }, 30_000);

  test('approved for this conversation, the next call runs unasked until that is revoked', async () => {
    await using at = await site({ type: 'user-approval', remember: true }, [
      { calls: [paris('c1')] },
      { text: 'One.' },
      { calls: [paris('c2')] },
      { text: 'Two.' },
      { calls: [paris('c3')] },
      { text: 'Three.' },
    ]);
    const page = await at.visit('ann');
    await says(page, 'Book');
    await page.getByRole('checkbox').check();
    await button(page, 'Approve').click();
    await shows(page, 'One.');
    await says(page, 'Again');
    await shows(page, 'Two.');
    expect(at.world.ran).toHaveLength(2);
    const thread = await at.agent.thread('t');
    for (const grant of await at.agent.grants(thread)) {
      await at.agent.revoke(grant, { principal: 'ann' });
    }
    await says(page, 'Again');
    await button(page, 'Approve').waitFor();
    expect(at.world.ran).toHaveLength(2);
  }, 30_000);

  test('a second approver in another browser completes a quorum, and both pages show it', async () => {
    await using at = await site({ type: 'user-approval', quorum: 2, requireReason: true }, [
      { calls: [paris('c1')] },
      { text: 'Booked.' },
    ]);
    const [ann, bob] = [await at.visit('ann'), await at.visit('bob')];
    await says(ann, 'Book');
    await button(ann, 'Approve').click();
    await shows(ann, 'Give a reason to approve this.');
    await ann.getByLabel('Reason').fill('Cheap');
    await button(ann, 'Approve').click();
    await shows(ann, 'Approved by: ann, ');
    await shows(ann, 'You have approved; 1 of 2.');
    expect(await button(ann, 'Approve').count()).toBe(0);
    await button(ann, 'Withdraw my approval').waitFor();
    await bob.reload();
    await shows(bob, ': Cheap');
    expect(await button(bob, 'Withdraw my approval').count()).toBe(0);
    expect(at.world.ran).toEqual([]);
    await bob.getByLabel('Reason').fill('Yes');
    await button(bob, 'Approve').click();
    await shows(bob, 'Booked.');
    await shows(ann, 'Booked.');
    expect(at.world.ran).toHaveLength(1);
  }, 30_000);

  test.each([false, true])(
    'of two who must approve, Ann is not offered to reject later calls: she rejects this one alone, with the box ticked: %s',
    async (isTicked) => {
      await using at = await site({ type: 'user-approval', quorum: 2, remember: true }, [
        { calls: [paris('c1')] },
        { text: 'Not booked.' },
      ]);
      const page = await at.visit('ann');
      await says(page, 'Book');
      const box = page.getByLabel('If approved, also approve later calls: in this conversation');
      await box.setChecked(isTicked);
      expect(await page.getByText('Also decide later calls').count()).toBe(0);
      const sent = answersOf(page);
      await button(page, 'Reject').click();
      await shows(page, 'Not booked.');
      expect(sent).toMatchObject([{ approved: false }]);
      expect(sent[0]).not.toHaveProperty('remember');
      const thread = await at.agent.thread('t');
      expect(thread.decisions).toMatchObject([{ status: 'rejected', principal: 'ann' }]);
      expect(await at.agent.grants(thread)).toEqual([]);
    },
    30_000,
  );

  test('two who both tick the box have later calls approved', async () => {
    await using at = await site({ type: 'user-approval', quorum: 2, remember: true }, [
      { calls: [paris('c1')] },
      { calls: [paris('c2')] },
      { text: 'Both.' },
    ]);
    const [ann, bob] = [await at.visit('ann'), await at.visit('bob')];
    await says(ann, 'Book');
    await ann.getByRole('checkbox').check();
    await button(ann, 'Approve').click();
    await shows(ann, 'Approved by: ann, ');
    await bob.reload();
    await bob.getByRole('checkbox').check();
    await button(bob, 'Approve').click();
    await shows(bob, 'Both.');
    expect(at.world.ran).toHaveLength(2);
  }, 30_000);

  test('two people in two browsers answer one thread, each for themselves', async () => {
    await using at = await site({ type: 'user-approval', quorum: 2 }, [
      { calls: [paris('c1')] },
      { text: 'Booked.' },
    ]);
    const [ann, bob] = [await at.visit('ann'), await at.visit('bob')];
    await says(ann, 'Book');
    await bob.reload();
    await button(bob, 'Approve').click();
    await shows(ann, 'Approved by: bob, ');
    await button(ann, 'Approve').click();
    for (const page of [ann, bob]) await shows(page, 'Booked.');
    const { events } = await at.agent.thread('t');
    expect(
      events.flatMap((event) => (event.type === 'request-answered' ? event.principal : [])),
    ).toEqual(['ann']);
    expect(events).toContainEqual(
      expect.objectContaining({ type: 'request-voted', person: 'bob' }),
    );
  }, 30_000);

  test("what ann approves while the server is away is not sent as bob's, who signs in before it is back", async () => {
    await using at = await site({ type: 'user-approval' }, [
      { calls: [paris('c1')] },
      { text: 'Booked.' },
    ]);
    const page = await at.visit('ann');
    await says(page, 'Book');
    await button(page, 'Approve').waitFor();
    await page.getByRole('textbox', { name: 'Message' }).fill('A draft of ann');
    const before = (await at.agent.thread('t')).revision;
    await page.context().setOffline(true);
    await button(page, 'Approve').click();
    await shows(page, 'The server can’t be reached.');
    await at.signIn(page, 'bob');
    await page.context().setOffline(false);
    await shows(page, 'This page was loaded for somebody else.');
    await button(page, 'Approve').waitFor();
    expect(await page.getByRole('textbox', { name: 'Message' }).inputValue()).toBe('');
    expect((await at.agent.thread('t')).revision).toBe(before);
    expect(at.world.ran).toEqual([]);
    await button(page, 'Approve').click();
    await shows(page, 'Booked.');
    const { events } = await at.agent.thread('t');
    expect(events).toContainEqual(
      expect.objectContaining({ type: 'request-answered', principal: 'bob' }),
    );
  }, 30_000);

  test("what ann writes while the server is away is not sent as bob's, nor shown to him", async () => {
    await using at = await site({ type: 'user-approval' }, [{ text: 'Hello.' }]);
    const page = await at.visit('ann');
    await button(page, 'Send').and(page.locator(':enabled')).waitFor();
    await page.context().setOffline(true);
    await says(page, 'I resign.');
    await shows(page, 'The server can’t be reached.');
    await at.signIn(page, 'bob');
    await page.context().setOffline(false);
    await shows(page, 'This page was loaded for somebody else.');
    await shows(page, 'Where would you like to fly?');
    expect(await page.content()).not.toContain('resign');
    expect(await page.getByRole('textbox', { name: 'Message' }).inputValue()).toBe('');
    expect((await at.agent.thread('t')).events).toEqual([]);
  }, 30_000);

  test('in both tabs of a browser, nothing of the thread stays once its person has signed out in one', async () => {
    await using at = await site({ type: 'user-approval' }, [{ calls: [paris('c1')] }]);
    const one = await at.visit('ann');
    await says(one, 'Book');
    await button(one, 'Approve').waitFor();
    const other = await one.context().newPage();
    await other.goto(one.url());
    await button(other, 'Approve').waitFor();
    await at.signIn(one, 'stranger');
    for (const page of [one, other]) {
      await page.bringToFront();
      await shows(page, 'You are not allowed to do this.');
      expect(await page.content()).not.toContain('Paris');
    }
  }, 30_000);

  test('after its deadline, a request shows who it is escalated to, and they alone answer it', async () => {
    const onExpiry = { type: 'escalate', approvers: ['dee'] } as const;
    await using at = await site(
      { type: 'user-approval', approvers: ['bob'], expiresAfterMs: 60_000, onExpiry },
      [{ calls: [paris('c1')] }, { text: 'Booked.' }],
    );
    const [ann, dee] = [await at.visit('ann'), await at.visit('dee')];
    await says(ann, 'Book');
    await shows(ann, 'May be answered by: bob');
    at.clock.ahead = 61_000;
    await at.agent.run([], await at.agent.thread('t'));
    await ann.reload();
    await shows(ann, 'May be answered by: dee');
    await shows(ann, 'This waits for somebody else');
    expect(await button(ann, 'Approve').count()).toBe(0);
    expect(await button(ann, 'Reject').count()).toBe(0);
    expect(at.world.ran).toEqual([]);
    await dee.reload();
    await button(dee, 'Approve').click();
    await shows(dee, 'Booked.');
  }, 30_000);

  test('letters that look alike are named beside the call', async () => {
    await using at = await site({ type: 'user-approval' }, [{ calls: [book('c1', 'P\u0430ris')] }]);
    const page = await at.visit('ann');
    await says(page, 'Book');
    await shows(page, '"P\u0430ris" mixes Latin and Cyrillic letters');
  }, 30_000);

  test('similar requests are approved together', async () => {
    await using at = await site({ type: 'user-approval', risk: 'low' }, [
      { calls: [paris('c1'), book('c2', 'Rome')] },
      { text: 'Both.' },
    ]);
    const page = await at.visit('ann');
    await says(page, 'Book');
    await page.getByText('See all 2: book').click();
    await page.locator('details > div').press('End');
    await button(page, 'Approve all 2: book').click();
    await shows(page, 'Both.');
    expect(at.world.ran).toHaveLength(2);
  }, 30_000);

  test('of fifty similar requests, all are approved only after each was shown whole', async () => {
    const cities = Array.from({ length: 50 }, (_, index) => `City ${index} ${'long '.repeat(40)}!`);
    await using at = await site({ type: 'user-approval', risk: 'low' }, [
      { calls: cities.map((city, index) => book(`c${index}`, city)) },
      { text: 'All.' },
    ]);
    const page = await at.visit('ann');
    await says(page, 'Book');
    await page.getByText('See all 50: book').waitFor();
    const sent = answersOf(page);
    const all = button(page, 'Approve all 50: book');
    await pressEverywhere(page);
    /* What is filled in belongs to one request: such a request is in no group. */
    for (const reason of await page.getByLabel('Reason').all()) await reason.fill('');
    await page.getByText('See all 50: book').click();
    expect(await all.isEnabled()).toBe(false);
    await all.click({ force: true });
    await all.dispatchEvent('click');
    const list = page.locator('details > div');
    for (const city of cities) expect(await list.innerText()).toContain(city);
    await list.press('PageDown');
    await drawn(page);
    expect(await all.isEnabled()).toBe(false);
    expect(sent).toEqual([]);
    await list.press('End');
    await all.click();
    await shows(page, 'All.');
    expect(at.world.ran).toHaveLength(50);
  }, 60_000);

  test('a list that was read has to be read again when it has changed', async () => {
    await using at = await site({ type: 'user-approval' }, [
      { calls: [paris('c1'), book('c2', 'Rome'), book('c3', 'Oslo')] },
      { text: 'All.' },
    ]);
    const page = await at.visit('ann');
    await says(page, 'Book');
    await page.getByText('See all 3: book').click();
    await page.locator('details > div').press('End');
    await expect.poll(() => button(page, 'Approve all 3: book').isEnabled()).toBe(true);
    const thread = await at.agent.thread('t');
    const [, rome] = thread.activeApprovalRequests;
    if (rome === undefined) throw new Error('Nothing is asked.');
    await at.agent.respond(rome.reject(), thread, { principal: 'bob' });
    await page.getByText('See all 2: book').waitFor();
    expect(await page.getByText('Approve all 2: book').isEnabled()).toBe(false);
    expect(await page.getByText('Approve all 2: book').isVisible()).toBe(false);
  }, 30_000);

  test('who asked for it reads why they may not approve it, and has no buttons', async () => {
    await using at = await site({ type: 'user-approval', notRequester: true }, [
      { calls: [paris('c1')] },
      { text: 'Booked.' },
    ]);
    const [ann, bob] = [await at.visit('ann'), await at.visit('bob')];
    await says(ann, 'Book');
    await shows(ann, 'You asked for this, so somebody else has to decide it.');
    await shows(ann, 'waits for somebody else');
    expect(await ann.locator('section button').count()).toBe(0);
    await bob.reload();
    await button(bob, 'Reject').click();
    await shows(ann, 'not done');
  }, 30_000);

  test('a refused edit keeps every field and the reason, and says what is wrong once, at its field', async () => {
    await using at = await site({ type: 'user-approval', editable: true }, [
      { calls: [{ id: 'c1', name: 'book', input: { city: 'Paris', price: 420 } }] },
      { text: 'Booked.' },
    ]);
    const page = await at.visit('ann');
    await says(page, 'Book');
    await page.getByLabel('city').fill('Rome');
    await page.getByLabel('price').fill('cheap');
    await page.getByLabel('Reason').fill('It is nicer');
    await button(page, 'Approve').click();
    await shows(page, 'Write a number, such as 12.50.');
    expect(await page.locator('[aria-label=price]:focus').count()).toBe(1);
    await page.getByLabel('price').fill('-1');
    expect(await page.getByText('Write a number').count()).toBe(0);
    await page.getByLabel('price').fill('9000');
    await button(page, 'Approve').click();
    await page.locator('[aria-invalid=true]').or(page.getByText('does not fit')).first().waitFor();
    await button(page, 'Approve').waitFor();
    expect(await page.getByLabel('city').inputValue()).toBe('Rome');
    expect(await page.getByLabel('Reason').inputValue()).toBe('It is nicer');
    expect(await page.locator('[role=alert]:not(:empty)').count()).toBeLessThan(2);
    await page.getByLabel('price').fill('99');
    expect(await page.getByText('does not fit').count()).toBe(0);
    await button(page, 'Approve').click();
    await shows(page, 'Booked.');
    expect(at.world.ran).toMatchObject([{ input: { city: 'Rome', price: 99 } }]);
  }, 30_000);

  test('the focus goes to the next request after an answer, and stays at a request that somebody else ends', async () => {
    const calls = ['Paris', 'Rome', 'Oslo'].map((city) => book(city, city));
    await using at = await site({ type: 'user-approval' }, [{ calls }, { text: 'Booked.' }]);
    const page = await at.visit('ann');
    await says(page, 'Book');
    await button(page, 'Approve').nth(2).waitFor();
    const focused = page.locator('section:focus');
    await button(page, 'Approve').nth(1).click();
    await focused.filter({ hasText: 'Oslo' }).waitFor();
    await button(page, 'Reject').last().click();
    await focused.filter({ hasText: 'Paris' }).waitFor();
    await page.getByLabel('Reason').focus();
    const thread = await at.agent.thread('t');
    const [first] = thread.activeApprovalRequests;
    if (first === undefined) throw new Error('Nothing is asked.');
    await at.agent.respond(first.approve(), thread, { principal: 'bob' });
    await expect.poll(async () => button(page, 'Approve').count()).toBe(0);
    await focused.filter({ hasText: 'Paris' }).waitFor();
  }, 30_000);

  test('another thread in the address is another conversation', async () => {
    await using at = await site({ type: 'user-approval' }, [{ calls: [paris('c1')] }]);
    const page = await at.visit('ann');
    await says(page, 'Book');
    await button(page, 'Approve').waitFor();
    await page.evaluate("location.hash = 'other'");
    await shows(page, 'Where would you like to fly?');
    expect(await button(page, 'Approve').count()).toBe(0);
    await page.evaluate("location.hash = 't'");
    await button(page, 'Approve').waitFor();
  }, 30_000);

  test('no key in any field answers, and nothing has the focus that would', async () => {
    await using at = await site(
      { type: 'user-approval', editable: true, remember: true, requireReason: false },
      [
        { calls: [{ id: 'c1', name: 'book', input: { city: 'Paris', price: 420 } }] },
        { text: 'Booked.' },
      ],
    );
    const page = await at.visit('ann');
    await says(page, 'Book');
    await button(page, 'Approve').waitFor();
    expect(await isOnButton(page)).toBe(false);
    expect(await page.locator('form input, form textarea').count()).toBe(6);
    const sent = answersOf(page);
    await pressEverywhere(page);
    await page.getByLabel('Reason').fill('Too dear, do not pay this');
    await page.keyboard.press('Enter');
    await drawn(page);
    expect(sent).toEqual([]);
    expect((await at.agent.thread('t')).activeRequests).toHaveLength(1);
    expect(at.world.ran).toEqual([]);
    await button(page, 'Reject').click();
    await expect.poll(() => sent).toMatchObject([{ approved: false }]);
  }, 30_000);

  test('a question is answered by its button, not by a key in its fields, and nothing is picked before', async () => {
    const day = { question: 'Which day?', options: ['Friday', 'Saturday'] };
    await using at = await site({ type: 'user-approval' }, [
      { calls: [{ id: 'c1', name: 'user_choice', input: day }] },
      { text: 'Friday it is.' },
    ]);
    const page = await at.visit('ann');
    await says(page, 'Book');
    await button(page, 'Answer').waitFor();
    expect(await page.locator(':checked').count()).toBe(0);
    const sent = answersOf(page);
    await pressEverywhere(page);
    await drawn(page);
    expect(sent).toEqual([]);
    await page.getByLabel('In your own words').fill('');
    await page.getByLabel('Friday').check();
    await button(page, 'Answer').click();
    await shows(page, 'Friday it is.');
  }, 30_000);

  test('Enter held on Approve, and a double click, answer the one request that was meant', async () => {
    const calls = ['Paris', 'Rome', 'Oslo'].map((city) => book(city, city));
    await using at = await site({ type: 'user-approval' }, [{ calls }, { text: 'Booked.' }]);
    const page = await at.visit('ann');
    await says(page, 'Book');
    const approve = button(page, 'Approve');
    await approve.nth(2).waitFor();
    await expect.poll(() => approve.first().isEnabled()).toBe(true);
    const sent = answersOf(page);
    await approve.first().focus();
    for (let held = 0; held < 20; held += 1) await page.keyboard.down('Enter');
    await page.keyboard.up('Enter');
    await expect.poll(() => at.world.ran.length).toBe(1);
    expect(await isOnButton(page)).toBe(false);
    expect(sent).toHaveLength(1);
    await expect.poll(() => approve.first().isEnabled()).toBe(true);
    /* Once a section has no buttons, the next one is exactly where it was. */
    const content = 'section { height: 0; overflow: hidden } section:has(button) { height: 300px }';
    await page.addStyleTag({ content });
    await approve.first().dblclick();
    await expect.poll(() => at.world.ran.length).toBe(2);
    expect(await approve.count()).toBe(1);
    expect(sent).toHaveLength(2);
  }, 30_000);
});
