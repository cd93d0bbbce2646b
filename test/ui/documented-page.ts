import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { AgentOptions, MayAnswer, UserApproval } from 'holdpoint';
import { questionTools } from 'holdpoint/tools';
import { createUiHandler } from 'holdpoint/ui';
import type { Browser, Page } from 'playwright-core';
import type { ScriptedStep } from '../support/script.ts';
import { book, limitPrice, memoryWorld, travelTools } from '../support/travel-world.ts';
import { buildScript, serveScript } from './script-site.ts';

const root = join(import.meta.dirname, '..', '..');

/** The page of `docs/channels/page.md`, as one script. */
export async function documentedPage(): Promise<string> {
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
  const script = await buildScript(join(folder, 'src/main.ts'), folder);
  await rm(folder, { recursive: true });
  return script;
}

const teams = ['ann', 'bob', 'dee'];
const mayAnswer: MayAnswer = ({ principal, request }) =>
  request.type !== 'approval-request' ||
  (request.approvers ?? teams).some((name) => name === principal);
export const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
export const says = async (page: Page, text: string): Promise<void> => {
  await page.getByRole('textbox', { name: 'Message' }).fill(text);
  await button(page, 'Send').click();
};
export const shows = async (page: Page, text: string): Promise<void> =>
  page.getByText(text).first().waitFor();
/** Presses the keys that submit forms in each field and on each summary of the page. */
export async function pressEverywhere(page: Page): Promise<void> {
  const fields = page.locator('input, textarea, select');
  for (const field of await fields.all()) {
    for (const key of ['Enter', 'Control+Enter', 'Meta+Enter', 'Shift+Enter', 'Space']) {
      await field.press(key);
    }
  }
}
/** Waits until the page has drawn what came of the last key or click. */
export const drawn = async (page: Page): Promise<unknown> =>
  page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))');
/** The answers that a page sends from now on. */
export function answersOf(page: Page): unknown[] {
  const sent: unknown[] = [];
  page.on('request', (request) => {
    const body = request.method() === 'POST' ? request.postDataJSON() : undefined;
    sent.push(...(body?.answers ?? []));
  });
  return sent;
}
export const isOnButton = async (page: Page): Promise<boolean> =>
  page.locator('button:focus').isVisible();
export const paris = (id: string) => book(id, 'Paris');

/** The documented page of a thread; each person has a browser of their own. */
export async function openSite(
  { script, browser }: { script: string; browser: Browser },
  status: UserApproval,
  steps: ScriptedStep[],
  more: Partial<AgentOptions> = {},
) {
  const world = memoryWorld(steps);
  const clock = { ahead: 0 };
  const now = (): number => Date.now() + clock.ahead;
  const tools = { ...limitPrice(travelTools(world.ran)), ...questionTools() };
  const agent = world.agent({ tools, toolApproval: { book: status }, mayAnswer, now, ...more });
  const handleChat = createUiHandler({
    agent,
    authorize: ({ request }) => {
      const principal = /person=(\w+)/.exec(request.headers.get('cookie') ?? '')?.[1];
      return principal === 'stranger' ? undefined : { principal };
    },
  });
  const { url, close } = await serveScript(script, handleChat);
  const visit = async (person: string): Promise<Page> => {
    const context = await browser.newContext();
    context.setDefaultTimeout(8_000);
    await context.addCookies([{ name: 'person', value: person, url }]);
    const page = await context.newPage();
    await page.goto(`${url}/#t`);
    return page;
  };
  /** Signs somebody else in, in the browser of this page. */
  const signIn = async (page: Page, person: string): Promise<void> =>
    page.context().addCookies([{ name: 'person', value: person, url }]);
  const asyncDispose = async (): Promise<void> => {
    await Promise.all(browser.contexts().map(async (context) => context.close()));
    close();
  };
  return { world, agent, clock, visit, signIn, [Symbol.asyncDispose]: asyncDispose };
}
