import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { type IncomingMessage, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { Ledger, type LedgerEntry } from '../../examples/inbox/office/ledger.ts';
import {
  type InboxEntry,
  inboxOutcomesSchema,
  inboxPageSchema,
} from '../../src/apps/inbox/inbox-api.ts';
import { waitUntil } from '../support/waiting.ts';

/** The people of the example: the host in the address says who it is. */
const hosts = { ada: 'localhost', bob: '127.0.0.1' } as const;
export type Name = keyof typeof hosts;

/** What is sent by hand. */
export interface Sent {
  method?: string;
  headers?: Record<string, string>;
  body?: unknown;
}

/** The example as processes of its own, with a folder of its own, in a browser. */
export class InboxWorld implements AsyncDisposable {
  readonly #folder: string;
  readonly #browser: Browser;
  readonly #settings: Record<string, string>;
  readonly #pages: Page[] = [];
  /** What browsers complained about: errors in their consoles, and responses that are none. */
  readonly complaints: string[] = [];
  #server: ChildProcess | undefined;
  #port = 0;

  private constructor(folder: string, browser: Browser, settings: Record<string, string>) {
    this.#folder = folder;
    this.#browser = browser;
    this.#settings = settings;
  }

  /** `settings` are environment variables of the example, such as `DATABASE_URL`. */
  static async make(browser: Browser, settings: Record<string, string> = {}): Promise<InboxWorld> {
    const folder = await mkdtemp(join(tmpdir(), 'holdpoint-inbox-'));
    const world = new InboxWorld(folder, browser, settings);
    await world.startServer();
    return world;
  }

  /** Starts the server; again at the same address when it ran before. */
  async startServer(): Promise<void> {
    const { AI_GATEWAY_API_KEY: _key, HOLDPOINT_MODEL: _model, ...rest } = process.env;
    const own = { HOLDPOINT_DEMO_DIR: this.#folder, PORT: String(this.#port), DATABASE_URL: '' };
    const server = spawn(
      process.execPath,
      ['--conditions=holdpoint-source', 'examples/inbox/main.ts'],
      {
        cwd: new URL('../..', import.meta.url),
        env: { ...rest, NODE_ENV: 'production', ...own, ...this.#settings },
        stdio: ['ignore', 'pipe', 'inherit'],
      },
    );
    this.#server = server;
    let printed = '';
    for await (const chunk of server.stdout) {
      printed += String(chunk);
      const port = /http:\/\/127\.0\.0\.1:(\d+)\/inbox/.exec(printed)?.[1];
      if (port === undefined) continue;
      this.#port = Number(port);
      return;
    }
    throw new Error(`The server did not start: ${printed}`);
  }

  /** Ends the server's process in the middle of whatever it does. */
  async killServer(): Promise<void> {
    await this.#endServer('SIGKILL');
  }

  /** Ends the server as Ctrl+C does; its status. */
  async stopServer(): Promise<number | null> {
    return this.#endServer('SIGINT');
  }

  async #endServer(signal: NodeJS.Signals): Promise<number | null> {
    const server = this.#server;
    if (server === undefined || server.exitCode !== null || server.signalCode !== null) return null;
    const gone = once(server, 'exit');
    server.kill(signal);
    server.stdout?.destroy();
    await gone;
    return server.exitCode;
  }

  /** The process of the worker. */
  async findWorker(): Promise<number> {
    const pid = this.#server?.pid ?? 0;
    const children = (): string => readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim();
    return Number(await waitUntil(children));
  }

  urlOf(name: Name, path = '/inbox'): string {
    return `http://${hosts[name]}:${this.#port}${path}`;
  }

  /** A page of a person. */
  async open(name: Name, path = '/inbox', options: BrowserContextOptions = {}): Promise<Page> {
    const context = await this.#browser.newContext(options);
    context.setDefaultTimeout(20_000);
    const page = await context.newPage();
    this.#pages.push(page);
    page.on('console', (message) => {
      if (message.type() === 'error') this.complaints.push(`${name}: ${message.text()}`);
    });
    page.on('pageerror', (error) => this.complaints.push(`${name}: ${error.message}`));
    await page.goto(this.urlOf(name, path));
    return page;
  }

  /** Somebody says something in a conversation of their own; the page of it, and its id. */
  async says(name: Name, text: string): Promise<{ chat: Page; threadId: string }> {
    const chat = await this.open(name, '/');
    await chat.getByRole('textbox', { name: 'Message' }).fill(text);
    await chat.getByRole('button', { name: 'Send' }).click();
    return { chat, threadId: new URL(chat.url()).hash.slice(1) };
  }

  /** Sends something past the pages. Any header is sent as it is given, which `fetch` does not do. */
  async send(name: Name, path: string, { method = 'GET', headers, body }: Sent = {}) {
    const sent = request({
      host: '127.0.0.1',
      port: this.#port,
      path,
      method,
      headers: {
        host: `${hosts[name]}:${this.#port}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
    });
    sent.end(body === undefined ? undefined : JSON.stringify(body));
    const [response]: IncomingMessage[] = await once(sent, 'response');
    let text = '';
    for await (const chunk of response ?? []) text += String(chunk);
    return { status: response?.statusCode ?? 0, text };
  }

  /** A list of a person's inbox. */
  async list(name: Name, list = 'mine') {
    const { text } = await this.send(name, `/inbox/api/requests?list=${list}`);
    return inboxPageSchema.parse(JSON.parse(text));
  }

  /** The entry of somebody's list that is about a conversation, once there is one. */
  async find(name: Name, threadId: string, list = 'mine'): Promise<InboxEntry> {
    return waitUntil(async () => {
      const { entries } = await this.list(name, list);
      return entries.find((entry) => entry.threadId === threadId);
    });
  }

  /** Answers an entry past the page, as whoever it is; the outcome. */
  async answer(name: Name, { requestId, threadId, digest }: InboxEntry, answer: object) {
    const { viewer } = await this.list(name);
    const body = { viewer, answers: [{ requestId, threadId, digest, answer }] };
    const { text } = await this.send(name, '/inbox/api/answers', { method: 'POST', body });
    return inboxOutcomesSchema.parse(JSON.parse(text)).outcomes[0];
  }

  /** What was done in the world by calls that hold a text. */
  async done(text: string): Promise<LedgerEntry[]> {
    const entries = await new Ledger(join(this.#folder, 'ledger.jsonl')).entries();
    return entries.filter(({ input }) => JSON.stringify(input).includes(text));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#pages.map(async (page) => page.context().close()));
    await this.killServer();
    await rm(this.#folder, { recursive: true, force: true });
  }
}

/** Whether a process still runs; one that only waits to be buried does not. */
export function isRunning(pid: number): boolean {
  try {
    return !/^\d+ \(.*\) Z/s.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}
