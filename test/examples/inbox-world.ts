import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { type Answer, type Board, boardSchema } from '../../examples/inbox/board.ts';
import { Ledger, type LedgerEntry } from '../../examples/inbox/office/ledger.ts';
import { launchChromium } from '../support/chromium.ts';

/** The example's server as a process of its own, with a folder of its own, and a browser to visit it with. */
export class InboxWorld implements AsyncDisposable {
  readonly #folder: string;
  readonly #browser: Browser;
  #server: ChildProcess | undefined;
  #names = 0;
  url = '';

  private constructor(folder: string, browser: Browser) {
    this.#folder = folder;
    this.#browser = browser;
  }

  static async make(): Promise<InboxWorld> {
    const folder = await mkdtemp(join(tmpdir(), 'holdpoint-inbox-'));
    const world = new InboxWorld(folder, await launchChromium());
    await world.startServer();
    return world;
  }

  /** Starts the server; again at the same address when it ran before. */
  async startServer(): Promise<void> {
    const { AI_GATEWAY_API_KEY: _key, HOLDPOINT_MODEL: _model, ...rest } = process.env;
    const port = this.url === '' ? '0' : new URL(this.url).port;
    const server = spawn(
      process.execPath,
      ['--conditions=holdpoint-source', 'examples/inbox/main.ts'],
      {
        cwd: new URL('../..', import.meta.url),
        env: { ...rest, NODE_ENV: 'production', HOLDPOINT_DEMO_DIR: this.#folder, PORT: port },
        stdio: ['ignore', 'pipe', 'inherit'],
      },
    );
    this.#server = server;
    let printed = '';
    for await (const chunk of server.stdout) {
      printed += String(chunk);
      const url = /http:\/\/localhost:\d+/.exec(printed)?.[0];
      if (url === undefined) continue;
      this.url = url;
      return;
    }
    throw new Error(`The server did not start: ${printed}`);
  }

  /** Ends the server's process in the middle of whatever it does. */
  async killServer(): Promise<void> {
    if (this.#server === undefined || this.#server.exitCode !== null) return;
    const gone = once(this.#server, 'close');
    this.#server.kill('SIGKILL');
    this.#server.stdout?.destroy();
    await gone;
  }

  /** Somebody whom no other test knows, and their first tab. */
  async visit(options: BrowserContextOptions = {}): Promise<Visitor> {
    this.#names += 1;
    const name = `Ada${String.fromCodePoint(96 + this.#names)}`;
    const context = await this.#browser.newContext(options);
    context.setDefaultTimeout(20_000);
    const page = await context.newPage();
    await page.goto(`${this.url}/?as=${name}`);
    return new Visitor(this, name, page);
  }

  /** What was done in the world by calls that hold a text. */
  async done(text: string): Promise<LedgerEntry[]> {
    const entries = await new Ledger(join(this.#folder, 'ledger.jsonl')).entries();
    return entries.filter(({ input }) => JSON.stringify(input).includes(text));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.killServer();
    await this.#browser.close();
    await rm(this.#folder, { recursive: true });
  }
}

/** Somebody at the page, and what they can do beside it with the same name. */
export class Visitor {
  readonly world: InboxWorld;
  readonly name: string;
  readonly page: Page;

  constructor(world: InboxWorld, name: string, page: Page) {
    this.world = world;
    this.name = name;
    this.page = page;
  }

  /** Another tab, at the same conversation. */
  async secondTab(): Promise<Page> {
    const tab = await this.page.context().newPage();
    await tab.goto(this.page.url());
    return tab;
  }

  async says(text: string): Promise<void> {
    await this.page.getByRole('textbox', { name: 'Message' }).fill(text);
    await this.page.getByRole('button', { name: 'Send' }).click();
  }

  async board(): Promise<Board> {
    return boardSchema.parse(await (await this.fetch('/api/inbox')).json());
  }

  /** Answers by hand, past the page. */
  async posts(threadId: string, answer: Answer): Promise<{ status: number; body: unknown }> {
    const response = await this.fetch('/api/inbox', {
      method: 'POST',
      body: JSON.stringify({ threadId, answer }),
    });
    return { status: response.status, body: await response.json() };
  }

  async fetch(path: string, init: RequestInit = {}): Promise<Response> {
    const headers = { 'content-type': 'application/json', 'x-demo-name': this.name };
    return fetch(`${this.world.url}${path}`, { headers, ...init });
  }
}
