import { spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Browser, chromium } from 'playwright-core';
import { toWebp } from './to-webp.ts';

/* Takes the picture of the inbox that the docs show. It needs Debian's Chromium: `npx node examples/record-inbox/main.ts`. */

const root = join(import.meta.dirname, '..', '..');
const target = join(root, 'docs', 'images', 'inbox.webp');
const folder = await mkdtemp(join(tmpdir(), 'holdpoint-recording-'));
const server = spawn(
  process.execPath,
  ['--conditions=holdpoint-source', 'examples/inbox/main.ts'],
  {
    cwd: root,
    env: { ...process.env, HOLDPOINT_DEMO_DIR: folder, DATABASE_URL: '', PORT: '3219' },
    stdio: ['ignore', 'pipe', 'inherit'],
  },
);
const browser = await chromium.launch({
  executablePath: '/usr/bin/chromium',
  args: ['--no-sandbox'],
});
try {
  for await (const chunk of server.stdout) {
    if (String(chunk).includes('/inbox')) break;
  }
  await record(browser);
} finally {
  await browser.close();
  server.kill();
  await rm(folder, { recursive: true });
}

async function record(shown: Browser): Promise<void> {
  const ask = async (host: string, text: string): Promise<void> => {
    const chat = await shown.newPage();
    await chat.goto(`http://${host}:3219`);
    await chat.getByRole('textbox', { name: 'Message' }).fill(text);
    await chat.getByRole('button', { name: 'Send' }).click();
    await chat
      .getByRole('log')
      .getByText(/waits for/)
      .first()
      .waitFor();
  };
  await ask('localhost', 'Pay the open invoices');
  await ask('127.0.0.1', 'Plan a team lunch');
  await ask('127.0.0.1', 'Write to Ada: the heating is on again.');
  const inbox = await shown.newPage({ viewport: { width: 1280, height: 800 }, locale: 'en-GB' });
  await inbox.goto('http://127.0.0.1:3219/inbox');
  await inbox.getByRole('row', { name: /Lumen Hosting/ }).click();
  await inbox.locator('.detail-scroll').getByText('EUR 1,290.00').waitFor();
  await writeFile(target, await toWebp(await inbox.screenshot(), shown));
}
