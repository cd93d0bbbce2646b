import { tool } from 'ai';
import { type AgentOptions, createAgent } from 'holdpoint';
import { createUiHandler } from 'holdpoint/ui';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { findChromium, launchChromium } from '../support/chromium.ts';
import {
  type Answers,
  finishPart,
  streamedModel,
  type StreamPart,
} from '../support/streamed-model.ts';
import { cityInput } from '../support/travel-world.ts';
import { buildFixture, serveScript } from './script-site.ts';
import { call, city } from './streaming-site.ts';

const { whyNot } = await findChromium();

describe.skipIf(whyNot !== undefined)(`a page of useChat (${whyNot ?? 'in Chromium'})`, () => {
  let script: string;
  let browser: Browser;
  beforeAll(async () => {
    [script, browser] = await Promise.all([buildFixture('streamed-chat.ts'), launchChromium()]);
  }, 60_000);
  afterAll(async () => browser.close());

  /** The page of a thread whose model says a word when the test does, after it has failed or called as `before` says. */
  async function opened(before: Answers = [], options: Partial<AgentOptions> = {}) {
    const writers = [0, 1].map(() => Promise.withResolvers<WritableStreamDefaultWriter<string>>());
    async function* answer(index: number): AsyncGenerator<StreamPart, void> {
      const { readable, writable } = new TransformStream<string, string>();
      writers[index]?.resolve(writable.getWriter());
      yield { type: 'text-start', id: '0' };
      for await (const delta of readable) {
        yield { type: 'text-delta', id: '0', delta };
        if (delta.endsWith('.')) break;
      }
      yield { type: 'text-end', id: '0' };
      yield finishPart();
    }
    const say = async (word: string, index = 0): Promise<void> =>
      (await writers[index]?.promise)?.write(word);
    const { model } = streamedModel(...before, answer(0), answer(1));
    const agent = createAgent({ model, maxRetries: 0, ...options });
    const handleChat = createUiHandler({ agent, authorize: () => ({ principal: 'ann' }) });
    const { url, close } = await serveScript(script, handleChat);
    const context = await browser.newContext();
    const page = await context.newPage();
    await page.goto(`${url}/`);
    return {
      agent,
      page,
      context,
      say,
      async [Symbol.asyncDispose]() {
        await context.close();
        close();
      },
    };
  }

  test('S13-11: reloaded in the middle of a reply, it shows the words so far and the rest as it comes', async () => {
    await using at = await opened();
    await ask(at.page, 'Hi');
    await at.say('One ');
    await shows(at.page, 'One ');
    await at.page.reload();
    await shows(at.page, 'One ');
    await at.say('two ');
    await shows(at.page, 'One two ');
    const other = await at.context.newPage();
    await other.goto(at.page.url());
    await shows(other, 'One two ');
    await at.say('three.');
    for (const page of [at.page, other]) {
      await shows(page, 'One two three.');
      await page.locator('main[aria-busy=false]').waitFor();
      expect(await page.getByRole('alert').count()).toBe(0);
    }
  });

  test('S13-11: stopped, it keeps the words so far, also reloaded, and the next message is answered', async () => {
    await using at = await opened();
    await ask(at.page, 'Hi');
    await at.say('One ');
    await shows(at.page, 'One ');
    await at.page.getByRole('button', { name: 'Stop' }).click();
    await at.page.locator('main[aria-busy=false]').waitFor();
    expect((await at.agent.thread('t')).status).toBe('idle');
    await shows(at.page, 'One ');
    await at.page.reload();
    await shows(at.page, 'One ');
    await ask(at.page, 'Again');
    await at.say('Two.', 1);
    await shows(at.page, 'Two.');
    await at.page.locator('main[aria-busy=false]').waitFor();
    expect(await at.page.locator('p').allInnerTexts()).toEqual(['Hi', 'One', 'Again', 'Two.']);
  });

  test('S13-11: closed in the middle, it stops nothing', async () => {
    await using at = await opened();
    await ask(at.page, 'Hi');
    await at.say('One ');
    await shows(at.page, 'One ');
    await at.page.goto('about:blank');
    await at.say('two.');
    await at.page.goBack();
    await shows(at.page, 'One two.');
  });

  test('S13-10: a file that no provider takes is refused by name, and the next message is answered', async () => {
    await using at = await opened();
    const file = { name: 'notes.pdf', mimeType: 'application/pdf', buffer: Buffer.alloc(0) };
    await at.page.getByLabel('Files').setInputFiles(file);
    await ask(at.page, 'See');
    const alert = at.page.getByRole('alert');
    await alert.filter({ hasText: 'notes.pdf' }).filter({ hasText: 'is empty' }).waitFor();
    expect((await at.agent.thread('t')).revision).toBe(0);
    await at.page.reload();
    await ask(at.page, 'Hi');
    await at.say('Hello.');
    await shows(at.page, 'Hello.');
  });

  test('S13-10: a message with a picture that the provider refuses is edited, and is answered', async () => {
    await using at = await opened([new Error('unsupported picture')]);
    const file = { name: 'scan.tiff', mimeType: 'image/tiff', buffer: Buffer.from('hi') };
    await at.page.getByLabel('Files').setInputFiles(file);
    await ask(at.page, 'See');
    await at.page.getByRole('alert').waitFor();
    await at.page.reload();
    await at.page.locator('p.user').filter({ hasText: 'See' }).waitFor();
    await at.page.getByLabel('Message').fill('Hi');
    await at.page.getByRole('button', { name: 'Edit' }).click();
    await at.say('Hello.');
    await shows(at.page, 'Hello.');
    await at.page.reload();
    await shows(at.page, 'Hello.');
    expect(await at.page.locator('p').allInnerTexts()).toEqual(['Hi', 'Hello.']);
  });

  test('S13-18: what a tool has so far is shown while it works, and its result afterwards', async () => {
    const second = Promise.withResolvers<void>();
    const look = tool({
      inputSchema: cityInput,
      async *execute() {
        yield { found: ['AF1'] };
        await second.promise;
        yield { found: ['AF1', 'BA2'] };
      },
    });
    await using at = await opened([[...call('c1', 'look', city), finishPart('tool-calls')]], {
      tools: { look },
    });
    await ask(at.page, 'Look');
    await shows(at.page, '{"found":\\["AF1"\\]}');
    await at.page.reload();
    await shows(at.page, '{"found":\\["AF1"\\]}');
    second.resolve();
    await at.say('Two.');
    await shows(at.page, '{"found":\\["AF1","BA2"\\]}Two.');
  });
});

async function ask(page: Page, text: string): Promise<void> {
  await page.getByLabel('Message').fill(text);
  await page.keyboard.press('Enter');
}

async function shows(page: Page, text: string): Promise<void> {
  await page
    .locator('p.assistant')
    .last()
    .filter({ hasText: new RegExp(`^${text}$`) })
    .waitFor();
}
