import type { UserApproval } from 'holdpoint';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { findChromium, launchChromium } from '../support/chromium.ts';
import type { ScriptedStep } from '../support/script.ts';
import {
  answersOf,
  button,
  documentedPage,
  drawn,
  openSite,
  paris,
  says,
  shows,
} from './documented-page.ts';

const { whyNot } = await findChromium();
const composer = (page: Page) => page.getByRole('textbox', { name: 'Message' });

describe.skipIf(whyNot !== undefined)(`forms in use (${whyNot ?? 'in Chromium'})`, () => {
  let script: string;
  let browser: Browser;
  beforeAll(async () => {
    [script, browser] = await Promise.all([documentedPage(), launchChromium()]);
  }, 60_000);
  afterAll(async () => browser.close());

  const site = async (status: UserApproval, steps: ScriptedStep[]) =>
    openSite({ script, browser }, status, steps);

  test('what is typed for a request that somebody else ends is shown, and sent nowhere', async () => {
    await using at = await site({ type: 'user-approval' }, [
      { calls: [paris('c1')] },
      { text: 'Not booked.' },
      { text: 'What?' },
    ]);
    const page = await at.visit('ann');
    await says(page, 'Book');
    await button(page, 'Approve').waitFor();
    await page.getByLabel('Reason').pressSequentially('Too dear');
    const thread = await at.agent.thread('t');
    const [asked] = thread.activeApprovalRequests;
    if (asked === undefined) throw new Error('Nothing is asked.');
    await at.agent.run(asked.reject('No'), thread, { principal: 'bob' });
    await shows(page, 'Not booked.');
    const { revision } = await at.agent.thread('t');
    await page.keyboard.type(', I say');
    await page.keyboard.press('Enter');
    await drawn(page);
    expect(await composer(page).inputValue()).toBe('');
    await page.getByRole('alert').getByText('Too dear').waitFor();
    expect(await page.locator('section:focus').count()).toBe(1);
    expect((await at.agent.thread('t')).revision).toBe(revision);
  }, 30_000);

  test('a key that is held after the last answer does not send the message that is being written', async () => {
    await using at = await site({ type: 'user-approval' }, [
      { calls: [paris('c1')] },
      { text: 'Booked.' },
      { text: 'Sent.' },
    ]);
    const page = await at.visit('ann');
    await says(page, 'Book');
    await button(page, 'Approve').and(page.locator(':enabled')).waitFor();
    await composer(page).fill('A draft');
    await button(page, 'Approve').focus();
    await page.keyboard.down('Enter');
    await shows(page, 'Booked.');
    await button(page, 'Send').and(page.locator(':enabled')).waitFor();
    for (let held = 0; held < 5; held += 1) await page.keyboard.down('Enter');
    await drawn(page);
    expect(await composer(page).inputValue()).toBe('A draft');
    expect(await page.locator('[aria-label=Message]:focus').count()).toBe(1);
    await page.keyboard.up('Enter');
    await page.keyboard.press('Enter');
    await shows(page, 'Sent.');
  }, 30_000);

  test.each(['Enter', 'Space', 'the pointer'])(
    '%s that is down since before a request changed does not approve what it has become',
    async (how) => {
      await using at = await site({ type: 'user-approval', quorum: 2, editable: true }, [
        { calls: [paris('c1')] },
        { text: 'Booked.' },
      ]);
      const page = await at.visit('ann');
      /* The button stays under the pointer, and what is the same stays in its place. */
      await page.addStyleTag({ content: 'section button { position: fixed; top: 0; left: 0 }' });
      await says(page, 'Book');
      const approve = button(page, 'Approve');
      await page.addStyleTag({ content: 'section button + button { left: 50% }' });
      const isReady = async () => approve.and(page.locator(':enabled')).waitFor();
      await isReady();
      const sent = answersOf(page);
      if (how === 'the pointer') {
        await approve.hover();
        await page.mouse.down();
      } else {
        await (how === 'Space' ? approve : composer(page)).focus();
        await page.keyboard.down(how);
      }
      const thread = await at.agent.thread('t');
      const [asked] = thread.activeApprovalRequests;
      if (asked === undefined) throw new Error('Nothing is asked.');
      const edited = asked.approve({ input: { city: 'Rome' } });
      await at.agent.run(edited, thread, { principal: 'bob' });
      await shows(page, 'Edited by: bob, ');
      await isReady();
      if (how === 'the pointer') await page.mouse.up();
      else {
        await approve.focus();
        if (how === 'Enter') await page.keyboard.down(how);
        await page.keyboard.up(how);
      }
      await drawn(page);
      expect(sent).toEqual([]);
      await approve.press('Enter');
      await expect.poll(() => sent.length).toBe(1);
    },
    30_000,
  );
});
