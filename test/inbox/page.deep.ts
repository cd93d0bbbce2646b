import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, vi } from 'vitest';
import { findChromium, launchChromium } from '../support/chromium.ts';
import { playAnswering } from './answering-scenes.ts';
import { OfficeStage } from './office-stage.ts';

/* A scene that waits for what never comes ends soon. */
vi.setConfig({ testTimeout: 120_000 });

const { whyNot } = await findChromium();

describe.skipIf(whyNot !== undefined)(`the page of the inbox (${whyNot ?? 'in Chromium'})`, () => {
  let browser: Browser;
  let stage: OfficeStage;
  beforeAll(async () => {
    browser = await launchChromium();
    stage = await OfficeStage.start(browser);
  });
  afterAll(async () => {
    await stage[Symbol.asyncDispose]();
    await browser.close();
  });

  /* The packed inbox plays all scenes. Here are those of answers, which break with lines of the source. */
  playAnswering(() => stage);
});
