import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type MayAnswer, type UserApproval } from 'holdpoint';
import { createUiHandler } from 'holdpoint/ui';
import type { Browser, Page } from 'playwright-core';
import { build, defaultClientConditions } from 'vite';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { serveFetch } from '../../examples/serve-fetch.ts';
import { findChromium, launchChromium } from '../support/chromium.ts';
import type { ScriptedStep } from '../support/script.ts';
import { book, memoryWorld } from '../support/travel-world.ts';

const { whyNot } = await findChromium();
const root = join(import.meta.dirname, '..', '..');

/** The page of `docs/channels/page.md`, as one script. */
async function documentedPage(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'holdpoint-approvals-page-'));
  const text = await readFile(join(root, 'docs/channels/page.md'), 'utf8');
  await mkdir(join(folder, 'src'));
  for (const [, name = '', code = ''] of text.matchAll(/```tsx\n\/\/ (\S+)\n(.*?)```/gs)) {
    await writeFile(join(folder, name), code);
  }
  const main = `import { createElement } from 'react';
import { createRoot } from 'react-dom/client';
import App from './App.tsx';
createRoot(document.getElementById('root')).render(createElement(App));`;
  await writeFile(join(folder, 'src/main.ts'), main);
  await writeFile(join(folder, 'tsconfig.json'), '{ "compilerOptions": { "jsx": "react-jsx" } }');
  await mkdir(join(folder, 'node_modules/@ai-sdk'), { recursive: true });
  for (const name of ['ai', 'zod', 'react', 'react-dom', '@ai-sdk/react']) {
    await symlink(join(root, 'node_modules', name), join(folder, 'node_modules', name));
  }
  await symlink(root, join(folder, 'node_modules/holdpoint'));
  const built = await build({
    configFile: false,
    root: folder,
    logLevel: 'error',
    resolve: { conditions: ['holdpoint-source', ...defaultClientConditions] },
    build: {
      write: false,
      target: 'esnext',
      rollupOptions: { input: join(folder, 'src/main.ts') },
    },
  });
  await rm(folder, { recursive: true });
  const [output] = Array.isArray(built) ? built : [built];
  const script = output !== undefined && 'output' in output ? output.output[0] : undefined;
  if (script === undefined) throw new Error('The page was not built.');
  return script.code;
}

const teams = ['ann', 'bob', 'dee'];
const mayAnswer: MayAnswer = ({ principal, request }) =>
  request.type !== 'approval-request' ||
  (request.approvers ?? teams).some((name) => name === principal);
const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
const says = async (page: Page, text: string): Promise<void> => {
  await page.getByRole('textbox', { name: 'Message' }).fill(text);
  await button(page, 'Send').click();
};
const shows = async (page: Page, text: string): Promise<void> =>
  page.getByText(text).first().waitFor();
const paris = (id: string) => book(id, 'Paris');

describe.skipIf(whyNot !== undefined)(`approvals on the page (${whyNot ?? 'in Chromium'})`, () => {
  let script: string;
  let browser: Browser;
  beforeAll(async () => {
    [script, browser] = await Promise.all([documentedPage(), launchChromium()]);
  }, 60_000);
  afterAll(async () => browser.close());

  /** The page of a thread; each person has a browser of their own. */
  async function site(status: UserApproval, steps: ScriptedStep[]) {
    const world = memoryWorld(steps);
    const clock = { ahead: 0 };
    const now = (): number => Date.now() + clock.ahead;
    const agent = world.agent({ toolApproval: { book: status }, mayAnswer, now });
    const handleChat = createUiHandler({
      agent,
      authorize: ({ request }) => ({
        principal: /person=(\w+)/.exec(request.headers.get('cookie') ?? '')?.[1] ?? '',
      }),
    });
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
    const url = `http://localhost:${typeof address === 'object' ? address?.port : ''}`;
    const visit = async (person: string): Promise<Page> => {
      const context = await browser.newContext();
      context.setDefaultTimeout(8_000);
      await context.addCookies([{ name: 'person', value: person, url }]);
      const page = await context.newPage();
      await page.goto(`${url}/#t`);
      return page;
    };
    const asyncDispose = async (): Promise<void> => {
      await Promise.all(browser.contexts().map(async (context) => context.close()));
      server.closeAllConnections();
      server.close();
    };
    return { world, agent, clock, visit, [Symbol.asyncDispose]: asyncDispose };
  }

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
    await shows(page, 'Changed by ann: city: "Rome"');
    expect(at.world.ran).toMatchObject([{ input: { city: 'Rome' } }]);
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
    await shows(ann, '1 of 2 have approved');
    await bob.reload();
    await shows(bob, 'Approved by ann: Cheap');
    expect(at.world.ran).toEqual([]);
    await bob.getByLabel('Reason').fill('Yes');
    await button(bob, 'Approve').click();
    await shows(bob, 'Booked.');
    await shows(ann, 'Booked.');
    expect(at.world.ran).toHaveLength(1);
  }, 30_000);

  test('after its deadline, a request shows who it is escalated to, and they alone answer it', async () => {
    const onExpiry = { type: 'escalate', approvers: ['dee'] } as const;
    await using at = await site(
      { type: 'user-approval', approvers: ['bob'], expiresAfterMs: 60_000, onExpiry },
      [{ calls: [paris('c1')] }, { text: 'Booked.' }],
    );
    const [ann, dee] = [await at.visit('ann'), await at.visit('dee')];
    await says(ann, 'Book');
    await shows(ann, 'For: bob');
    at.clock.ahead = 61_000;
    await at.agent.run([], await at.agent.thread('t'));
    await ann.reload();
    await shows(ann, 'For: dee');
    await button(ann, 'Approve').click();
    await shows(ann, 'You are not allowed to do this.');
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
    await button(page, 'Approve all 2: book').click();
    await shows(page, 'Both.');
    expect(at.world.ran).toHaveLength(2);
  }, 30_000);
});
