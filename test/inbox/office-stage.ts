import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { onTestFinished } from 'vitest';
import type { Answered, Office, OfficeOptions } from './page-office.ts';
import { openInbox } from './page-steps.ts';

const root = join(import.meta.dirname, '..', '..');
const main = 'test/inbox/page-office-process.ts';

/** What the process of the offices runs: it is copied into a fresh project. */
const files = [main, 'test/inbox/page-office.ts', 'examples/serve-fetch.ts'];

/** An office in the process of a stage. */
export interface StagedOffice extends Omit<Office, 'readLog'> {
  readLog(): Promise<Map<string, Answered>>;
}

/** Where scenes are played: offices in a process of their own, and a browser. */
export class OfficeStage implements AsyncDisposable {
  readonly browser: Browser;
  readonly #process: ChildProcess;
  readonly #waiting = new Map<number, PromiseWithResolvers<string>>();

  private constructor(browser: Browser, started: ChildProcess) {
    this.browser = browser;
    this.#process = started;
    started.on('message', (text) => {
      if (typeof text !== 'string') return;
      const { id, error, result } = JSON.parse(text);
      if (error === undefined) this.#waiting.get(id)?.resolve(JSON.stringify(result ?? null));
      else this.#waiting.get(id)?.reject(new Error(error));
      this.#waiting.delete(id);
    });
    started.on('exit', () => {
      for (const { reject } of this.#waiting.values()) reject(new Error('The offices are closed.'));
    });
  }

  /** Starts offices of the source, or of the packed package in the project that has it. */
  static async start(browser: Browser, project?: string): Promise<OfficeStage> {
    for (const name of project === undefined ? [] : files)
      await cp(join(root, name), join(project ?? root, name));
    const cwd = project ?? root;
    const execArgv = project === undefined ? ['--conditions=holdpoint-source'] : [];
    return new OfficeStage(browser, fork(join(cwd, main), { cwd, execArgv }));
  }

  /** Opens an office of its own. */
  async openOffice(options: OfficeOptions = {}): Promise<StagedOffice> {
    const { office, url } = await this.#order(undefined, 'openOffice', options);
    const order = async (method: keyof Office | 'close', ...parameters: unknown[]) =>
      this.#order(office, method, ...parameters);
    onTestFinished(async () => order('close'));
    return {
      url,
      ask: async (asked) => order('ask', asked),
      loseCall: async (asked) => order('loseCall', asked),
      getStuck: async (to) => order('getStuck', to),
      repair: async () => order('repair'),
      goOn: async (to) => order('goOn', to),
      answerElsewhere: async (...answer) => order('answerElsewhere', ...answer),
      readLog: async () => new Map(await order('readLog')),
      readEvents: async (to) => order('readEvents', to),
      readCall: async (to) => order('readCall', to),
      readGrants: async () => order('readGrants'),
      revokeGrants: async (by) => order('revokeGrants', by),
      readSent: async () => order('readSent'),
    };
  }

  /** A page on the inbox of an office, of somebody who is signed in there, with its list read. */
  async open(
    { url }: Pick<Office, 'url'>,
    { person, script, ...options }: OpenOptions = {},
  ): Promise<Page> {
    const context = await this.openContext(options);
    if (person !== undefined) await context.addCookies([{ name: 'person', value: person, url }]);
    if (script !== undefined) await context.addInitScript(script);
    return openInbox(context, url);
  }

  async openContext(options: BrowserContextOptions = {}): Promise<BrowserContext> {
    const viewport = { width: 1280, height: 800 };
    const context = await this.browser.newContext({ viewport, ...options });
    context.setDefaultTimeout(20_000);
    /* Chromium may let a request pass that is sent just after interception began: here it begins before the first page. */
    await context.route('**/api/answers', async (route) => route.fallback());
    onTestFinished(async ({ task }) => {
      if (task.result?.state === 'fail') await tellPages(context);
      await context.close();
    });
    return context;
  }

  async #order(office: number | undefined, method: string, ...parameters: unknown[]) {
    const id = (lastId += 1);
    const answered = Promise.withResolvers<string>();
    this.#waiting.set(id, answered);
    this.#process.send(JSON.stringify({ id, office, method, parameters }));
    return JSON.parse(await answered.promise);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#process.exitCode !== null) return;
    const gone = once(this.#process, 'exit');
    this.#process.disconnect();
    await gone;
  }
}

/* What a person would have read, which says more of a scene that failed than what it waited for. */
async function tellPages(context: BrowserContext): Promise<void> {
  for (const page of context.pages())
    console.log(page.url(), await page.locator('body').innerText().catch(String));
}

let lastId = 0;

interface OpenOptions extends BrowserContextOptions {
  person?: string;
  /** Runs in the page before its own script. */
  script?: string;
}
