import { createAgent } from 'holdpoint';
import { createInboxHandler } from 'holdpoint/inbox';
import { scriptedModel } from 'holdpoint/testing';
import { questionTool } from 'holdpoint/tools';
import { expect, onTestFinished, test, vi } from 'vitest';
import { z } from 'zod';
import { serveFetch } from '../../examples/serve-fetch.ts';
import { findChromium, launchChromium } from '../support/chromium.ts';

vi.setConfig({ testTimeout: 60_000 });

const { whyNot } = await findChromium();
const address = 'https://bank.example/sign?in=1';

/* What an MCP server asks comes as such a question. */
const form = questionTool({
  description: 'Asks.',
  inputSchema: z.object({}),
  toQuestion: () => ({
    kind: 'form',
    text: 'What shall I book?',
    fields: [
      {
        key: 'reply',
        label: 'Your reply',
        options: [
          { id: 'accept', label: 'Answer' },
          { id: 'decline', label: 'Decline', declines: true },
        ],
        min: 1,
        max: 1,
        freeText: 'never',
      },
      {
        key: 'seats',
        label: 'Seats',
        options: [],
        min: 0,
        max: 0,
        freeText: 'only',
        schema: { type: 'integer', minimum: 1, maximum: 10 },
      },
    ],
    allowDismiss: true,
    metadata: { 'holdpoint.address': address },
  }),
  toResult: (response) => ({ status: 'succeeded', output: JSON.stringify(response) }),
});

/** The inbox of an agent that has asked, in Chromium. */
async function openInbox() {
  const { model } = scriptedModel([{ calls: [{ id: 'c1', name: 'form', input: {} }] }]);
  const agent = createAgent({ model, tools: { form } });
  await agent.run('Book', await agent.thread('t'));
  const handler = createInboxHandler({ agents: [agent], authorize: () => ({ principal: 'ada' }) });
  const server = await serveFetch(async (request) => handler(request), 0);
  const at = server.address();
  const url = `http://localhost:${typeof at === 'object' ? at?.port : ''}/inbox/`;
  const browser = await launchChromium();
  onTestFinished(async () => {
    await browser.close();
    server.closeAllConnections();
    server.close();
  });
  const page = await browser.newPage();
  await page.goto(url);
  page.setDefaultTimeout(8_000);
  await page.getByText('What shall I book?').first().click();
  await page.locator('.question').waitFor();
  const readAnswer = async () => {
    const { events } = await agent.thread('t');
    const answered = events.find(({ type }) => type === 'request-answered');
    return answered?.type === 'request-answered' ? answered.response : undefined;
  };
  const send = page.getByRole('button', { name: 'Answer', exact: true });
  return { page, readAnswer, send };
}

test.skipIf(whyNot !== undefined)(
  `the inbox keeps a text that does not fit and says why (${whyNot ?? 'in Chromium'})`,
  async () => {
    const { page, readAnswer, send } = await openInbox();
    const field = page.locator('.question textarea');
    expect(await page.locator('.question').textContent()).toContain('an integer from 1 to 10');
    expect(await field.getAttribute('inputmode')).toBe('numeric');
    await page.getByLabel('Answer', { exact: true }).first().check();
    await field.fill('eleven');
    await page.waitForTimeout(1_500);
    await send.click();
    await page.getByText('Seats must be an integer from 1 to 10.').waitFor();
    /* A screen reader that comes to the field says why. */
    const described = page.getByRole('group', { description: /^Seats must be an integer/ });
    await described.and(page.locator(':focus')).waitFor();
    expect(await field.inputValue()).toBe('eleven');
    expect(await readAnswer()).toBeUndefined();
    await field.fill('7');
    await send.click();
    await expect.poll(readAnswer, { timeout: 20_000 }).toMatchObject({
      answers: [{ optionIds: ['accept'] }, { text: '7' }],
    });
  },
);

test.skipIf(whyNot !== undefined)(
  'declining needs no other answer, and an address is a link with its host set apart',
  async () => {
    const { page, readAnswer, send } = await openInbox();
    const link = page.locator('.question a');
    expect(await link.getAttribute('href')).toBe(address);
    expect(await link.getAttribute('rel')).toBe('noreferrer noopener');
    expect(await link.locator('b').textContent()).toBe('bank.example');
    expect(page.context().pages()).toHaveLength(1);
    await page.getByLabel('Decline').check();
    await page.waitForTimeout(1_500);
    await send.click();
    await expect.poll(readAnswer, { timeout: 20_000 }).toMatchObject({
      answers: [{ optionIds: ['decline'] }, { key: 'seats', optionIds: [] }],
    });
  },
);
