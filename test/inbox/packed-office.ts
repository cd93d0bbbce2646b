import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { ThreadEvent } from 'holdpoint';
import { sqliteStore } from 'holdpoint/stores/sqlite';
import type { Browser, Page } from 'playwright-core';
import { eventsIn } from '../support/events-in.ts';
import { freePort } from '../support/free-port.ts';
import { readNamedBlocks } from '../support/named-blocks.ts';
import { installPacked, linkPackages, replaceOnce } from '../support/packed-package.ts';
import { fillSignIn } from '../support/sign-in.ts';
import { openInbox } from './page-steps.ts';

interface Payment {
  to: string;
  euros: number;
}

/** Everybody but eve is in finance, and answers for it. */
const teams = { finance: ['ada', 'ben', 'cleo', 'dora'] };

/**
 * A fresh project with the packed package: the inbox as the docs mount it, on a SQLite file, in a process of its own, and a worker in another one.
 * The cookie `person` says who is signed in.
 */
export class PackedOffice implements AsyncDisposable {
  readonly #folder: string;
  readonly #port: number;
  readonly #browser: Browser;
  #server: ChildProcess | undefined;
  #worker: ChildProcess | undefined;
  #threads = 0;

  private constructor(folder: string, port: number, browser: Browser) {
    this.#folder = folder;
    this.#port = port;
    this.#browser = browser;
  }

  static async make(browser: Browser): Promise<PackedOffice> {
    const folder = await mkdtemp(join(tmpdir(), 'holdpoint-packed-office-'));
    const port = await freePort();
    await writeProject(folder, port);
    const office = new PackedOffice(folder, port, browser);
    await office.changeTeams(teams);
    await office.startServer();
    office.#worker = office.#start('office-process.ts', 'work');
    return office;
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}/inbox`;
  }

  /** The path of a file of the project. */
  pathOf(name: string): string {
    return join(this.#folder, name);
  }

  async changeTeams(changed: Record<string, readonly string[]> = teams): Promise<void> {
    await writeFile(this.pathOf('teams.json'), JSON.stringify(changed));
  }

  #start(...parameters: string[]): ChildProcess {
    const stdio: ['ignore', 'inherit', 'inherit'] = ['ignore', 'inherit', 'inherit'];
    return spawn(process.execPath, parameters, { cwd: this.#folder, stdio });
  }

  /** Starts the inbox, and waits until it answers. */
  async startServer(): Promise<void> {
    this.#server = this.#start('serve.js');
    for (;;) {
      const response = await fetch(this.url).catch(() => undefined);
      if (response !== undefined) return;
      if (this.#server.exitCode !== null) throw new Error('The server has ended.');
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }

  /** The next answer ends the server between its write and its reply. Resolves when that has happened. */
  async killAtNextAnswer(): Promise<{ killed: Promise<unknown> }> {
    await writeFile(this.pathOf('die'), '');
    if (this.#server === undefined) throw new Error('There is no server.');
    return { killed: once(this.#server, 'exit') };
  }

  /** Somebody asks, in a process of its own: in which thread, and when it was recorded. */
  async ask(person: string, payment: Payment, toolName = 'pay') {
    const threadId = `thread ${(this.#threads += 1)}`;
    const at = await this.#run('ask', threadId, person, toolName, JSON.stringify(payment));
    return { threadId, at };
  }

  /** Somebody approves, in a process of its own: when it was recorded. */
  async approve(threadId: string, person: string): Promise<number> {
    return this.#run('approve', threadId, person);
  }

  async #run(...parameters: string[]): Promise<number> {
    const started = promisify(execFile)(process.execPath, ['office-process.ts', ...parameters], {
      cwd: this.#folder,
    });
    return Number((await started).stdout);
  }

  /** The payments to somebody that were made. */
  async findPaid(to: string): Promise<Payment[]> {
    const lines = await readFile(this.pathOf('paid.jsonl'), 'utf8').catch(() => '');
    const paid: Payment[] = lines
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line));
    return paid.filter((each) => each.to === to);
  }

  /** The answers that the log of a thread has. */
  async readAnswers(threadId: string) {
    const events = await this.#readLog(threadId);
    return events.filter((event) => event.type === 'request-answered');
  }

  /** Who has approved, as the log of a thread has it. */
  async readVotes(threadId: string): Promise<unknown[]> {
    const events = await this.#readLog(threadId);
    const voted = ['request-voted', 'request-answered'];
    return events.flatMap((event) =>
      voted.includes(event.type) && 'principal' in event ? [event.principal] : [],
    );
  }

  async #readLog(threadId: string): Promise<ThreadEvent[]> {
    const store = sqliteStore(this.pathOf('threads.sqlite'));
    const events = await eventsIn(store, threadId);
    store.close();
    return events;
  }

  /** A browser of a person, with the inbox in it. */
  async open(person: string): Promise<Page> {
    const context = await this.#browser.newContext({ viewport: { width: 1280, height: 800 } });
    context.setDefaultTimeout(20_000);
    await context.addCookies([{ name: 'person', value: person, url: this.url }]);
    return openInbox(context, this.url);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const started of [this.#server, this.#worker]) {
      if (started === undefined || started.exitCode !== null || started.signalCode !== null)
        continue;
      const gone = once(started, 'exit');
      started.kill('SIGKILL');
      await gone;
    }
    await rm(this.#folder, { recursive: true });
  }
}

/* What the docs tell to write, with a sign-in, and with files of this folder as the app's own. */
async function writeProject(folder: string, port: number): Promise<void> {
  const inbox = fillSignIn(
    await readNamedBlocks('channels/inbox.md'),
    (request) => `const email = /person=(\\w+)/.exec(${request}.headers.get('cookie') ?? '')?.[1];
  return email === undefined ? undefined : { email, teams: teamsOf(email) };`,
  );
  const serve = (await readNamedBlocks('channels/page.md')).get('serve.js') ?? '';
  const imports = "import { agent } from './agent.ts';\nimport { teamsOf } from './teams.ts';\n";
  await cp(join(import.meta.dirname, 'packed-office'), folder, { recursive: true });
  await writeFile(join(folder, 'package.json'), '{ "private": true, "type": "module" }');
  await writeFile(join(folder, 'inbox.ts'), `${imports}${inbox.get('inbox.ts')}`);
  await writeFile(join(folder, 'serve.js'), abortWhenClosed(serve).replace('3001', String(port)));
  await linkPackages(folder, ['ai', 'zod']);
  await installPacked(folder);
}

/* The docs say of the server of a page: with this handler; abort the request when its client closes the connection. */
function abortWhenClosed(serve: string): string {
  const changes = [
    ["'./server.ts'", "'./inbox.ts'"],
    [
      'toRequest(incoming);',
      "toRequest(incoming, gone.signal);\n  outgoing.once('close', () => gone.abort());",
    ],
    ['const request', 'const gone = new AbortController();\n  const request'],
    ['toRequest(incoming) {', 'toRequest(incoming, signal) {'],
    ['{ method, headers, ...body }', '{ method, headers, signal, ...body }'],
  ] as const;
  return changes.reduce((text, [old, by]) => replaceOnce(text, old, by), serve);
}
