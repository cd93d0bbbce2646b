import { fileURLToPath } from 'node:url';
import { createAgent } from 'holdpoint';
import { createUiHandler } from 'holdpoint/ui';
import type { Browser, Page } from 'playwright-core';
import { build, defaultClientConditions } from 'vite';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { serveFetch } from '../../examples/serve-fetch.ts';
import { findChromium, launchChromium } from '../support/chromium.ts';
import { finishPart, streamedModel, type StreamPart } from '../support/streamed-model.ts';

const { whyNot } = await findChromium();

/** The page of `test/fixtures/streamed-chat.ts`, as one script. */
async function builtPage(): Promise<string> {
  const built = await build({
    configFile: false,
    logLevel: 'error',
    resolve: { conditions: ['holdpoint-source', ...defaultClientConditions] },
    build: {
      write: false,
      target: 'esnext',
      rollupOptions: {
        input: fileURLToPath(new URL('../fixtures/streamed-chat.ts', import.meta.url)),
      },
    },
  });
  const [output] = Array.isArray(built) ? built : [built];
  const script = output !== undefined && 'output' in output ? output.output[0] : undefined;
  if (script === undefined) throw new Error('The page was not built.');
  return script.code;
}

describe.skipIf(whyNot !== undefined)(`a page of useChat (${whyNot ?? 'in Chromium'})`, () => {
  let script: string;
  let browser: Browser;
  beforeAll(async () => {
    [script, browser] = await Promise.all([builtPage(), launchChromium()]);
  }, 60_000);
  afterAll(async () => browser.close());

  /** The page of a thread whose model says a word when the test does. */
  async function opened() {
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
    const { model } = streamedModel(answer(0), answer(1));
    const agent = createAgent({ model });
    const handleChat = createUiHandler({ agent, authorize: () => ({ principal: 'ann' }) });
    const html =
      '<!doctype html><div id="root"></div><script type="module" src="/page.js"></script>';
    const server = await serveFetch(async (request) => {
      const { pathname } = new URL(request.url);
      if (pathname === '/chat') return handleChat(request);
      const isScript = pathname === '/page.js';
      const type = isScript ? 'text/javascript' : 'text/html';
      return new Response(isScript ? script : html, { headers: { 'content-type': type } });
    }, 0);
    const address = server.address();
    const port = typeof address === 'object' ? address?.port : undefined;
    const context = await browser.newContext();
    const page = await context.newPage();
    await page.goto(`http://localhost:${port}/`);
    return {
      agent,
      page,
      context,
      say,
      async [Symbol.asyncDispose]() {
        await context.close();
        server.closeAllConnections();
        server.close();
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
