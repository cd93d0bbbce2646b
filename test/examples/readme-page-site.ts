import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { build, defaultClientConditions, preview, type PreviewServer } from 'vite';
import { launchChromium } from '../support/chromium.ts';
import { freePort } from '../support/free-port.ts';
import { readNamedBlocks } from '../support/named-blocks.ts';
import { installPacked, linkPackages, replaceOnce } from '../support/packed-package.ts';
import { fillSignIn } from '../support/sign-in.ts';

const root = join(import.meta.dirname, '..', '..');

/** The files that `npm create vite` adds. */
const template = {
  'package.json': '{ "name": "page", "private": true, "type": "module" }',
  'index.html':
    '<!doctype html><html lang="en"><head><title>Flights</title></head><body><div id="root"></div><script type="module" src="/src/main.tsx"></script></body></html>',
  'tsconfig.json': '{ "compilerOptions": { "jsx": "react-jsx" } }',
  'src/main.tsx': `import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import App from './App.tsx';
createRoot(document.getElementById('root')!).render(<StrictMode><App /></StrictMode>);`,
};

/** A fresh vite app with what `docs/channels/page.md` says in it, its server, and a browser. */
export class ReadmePageSite implements AsyncDisposable {
  readonly #folder: string;
  readonly #port: number;
  readonly #pages: PreviewServer;
  readonly #isPacked: boolean;
  readonly browser: Browser;
  #server: ChildProcess | undefined;

  private constructor(
    { folder, port, isPacked }: { folder: string; port: number; isPacked: boolean },
    pages: PreviewServer,
    browser: Browser,
  ) {
    this.#isPacked = isPacked;
    this.#folder = folder;
    this.#port = port;
    this.#pages = pages;
    this.browser = browser;
  }

  /** `isPacked`: with the package as `npm pack` makes it, instead of the sources. */
  static async make({ isPacked = false } = {}): Promise<ReadmePageSite> {
    const folder = await mkdtemp(join(tmpdir(), 'holdpoint-readme-page-'));
    const port = await freePort();
    await writeApp(folder, port, isPacked);
    await build({
      configFile: false,
      root: folder,
      logLevel: 'error',
      resolve: {
        conditions: [...(isPacked ? [] : ['holdpoint-source']), ...defaultClientConditions],
      },
    });
    const proxy = { '/chat': `http://localhost:${port}` };
    const pages = await preview({
      configFile: false,
      root: folder,
      logLevel: 'silent',
      preview: { port: 0, proxy },
    });
    const site = new ReadmePageSite({ folder, port, isPacked }, pages, await launchChromium());
    await site.startServer();
    return site;
  }

  get url(): string {
    return this.#pages.resolvedUrls?.local[0] ?? '';
  }

  /** The path of a file of the app. */
  pathOf(name: string): string {
    return join(this.#folder, name);
  }

  /** Starts `serve.js`, and waits until it answers. */
  async startServer(): Promise<void> {
    const world = join(root, 'test/examples/readme-page-world-process.ts');
    this.#server = spawn(
      process.execPath,
      [...(this.#isPacked ? [] : ['--conditions=holdpoint-source']), '--import', world, 'serve.js'],
      { cwd: this.#folder, stdio: ['ignore', 'inherit', 'inherit'] },
    );
    for (;;) {
      const response = await fetch(`http://127.0.0.1:${this.#port}/chat`).catch(() => undefined);
      if (response !== undefined) return;
      if (this.#server.exitCode !== null) throw new Error('The server has ended.');
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }

  async killServer(): Promise<void> {
    if (this.#server === undefined || this.#server.exitCode !== null) return;
    const gone = once(this.#server, 'close');
    this.#server.kill('SIGKILL');
    await gone;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.killServer();
    await this.browser.close();
    await this.#pages.close();
    await rm(this.#folder, { recursive: true });
  }
}

async function writeApp(folder: string, port: number, isPacked: boolean): Promise<void> {
  const files = await readNamedBlocks('channels/page.md');
  const server = files.get('server.ts') ?? '';
  const serve = files.get('serve.js') ?? '';
  const modelled = replaceOnce(server, "model: 'openai/gpt-5-mini'", 'model: globalThis.model');
  const ruled = replaceOnce(
    modelled,
    "toolApproval: { bookFlight: 'user-approval' }",
    'toolApproval: globalThis.toolApproval, mayAnswer: globalThis.mayAnswer',
  );
  const open = new Map([
    ...Object.entries(template),
    ...files,
    ['server.ts', ruled],
    ['serve.js', replaceOnce(serve, '3001', String(port))],
  ]);
  const own = fillSignIn(open, (request) => `return globalThis.userOf(${request});`);
  await mkdir(join(folder, 'src'));
  for (const [name, content] of own) await writeFile(join(folder, name), content);
  await linkPackages(folder, ['ai', 'zod', 'react', 'react-dom', '@ai-sdk/react']);
  if (isPacked) await installPacked(folder);
  else await symlink(root, join(folder, 'node_modules/holdpoint'));
}
