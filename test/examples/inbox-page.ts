import type { ApprovalRequest } from 'holdpoint';
import type { Locator, Page } from 'playwright-core';
import { expect } from 'vitest';
import type { Visitor } from './inbox-world.ts';

/** The card of a request that waits. */
export function cardOf(page: Page, title: string): Locator {
  return page.locator('.card.waiting').filter({ has: page.getByRole('heading', { name: title }) });
}

/** The card of a request that has ended. */
export function endedOf(page: Page, title: string): Locator {
  return page.locator('.card.ended').filter({ has: page.getByRole('heading', { name: title }) });
}

/** What was said, and the calls in it. */
export function chatOf(page: Page): Locator {
  return page.getByRole('log', { name: 'Messages' });
}

/** Waits for a text. */
export async function seen(place: Locator, text: string | RegExp): Promise<void> {
  await place.filter({ hasText: text }).waitFor();
}

/** Waits for what the inbox says of itself. */
export async function statusSays(page: Page, text: string): Promise<void> {
  await page.getByRole('status').filter({ hasText: text }).waitFor();
}

/** Waits until the assistant is not at work. */
export async function untilIdle(page: Page): Promise<void> {
  await page.locator('[role=log][aria-busy=false]').waitFor();
}

/** Whether it has the focus now. */
export async function isFocused(place: Locator): Promise<boolean> {
  return place.and(place.page().locator(':focus')).isVisible();
}

/** Presses Tab until it has the focus. */
export async function tabTo(page: Page, place: Locator): Promise<void> {
  for (let presses = 0; presses < 20; presses += 1) {
    if (await isFocused(place)) return;
    await page.keyboard.press('Tab');
  }
  throw new Error('Tab does not lead there.');
}

/** Nothing scrolls sideways. */
export async function fitsInWidth(page: Page): Promise<void> {
  const [width, scrolled] = await page.evaluate<[number, number]>(
    '[innerWidth, Math.max(...[document.documentElement, ...document.querySelectorAll("main, main > *, .scroll")].map((each) => each.scrollWidth))]',
  );
  expect(scrolled).toBeLessThanOrEqual(width);
}

/** The first approval that waits, as the server tells it. */
export async function openApproval(visitor: Visitor): Promise<ApprovalRequest> {
  const { entries } = await visitor.board();
  const request = entries.find(({ status }) => status === 'waiting')?.request;
  if (request?.type !== 'approval-request') throw new Error('No approval waits.');
  return request;
}

/** Presses the keys that submit a form in a field. */
export async function pressSubmitKeys(field: Locator): Promise<void> {
  for (const key of ['Enter', 'Control+Enter', 'Meta+Enter', 'Shift+Enter']) await field.press(key);
}
