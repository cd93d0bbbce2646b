import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Browser } from 'playwright-core';
import { build, defaultClientConditions, preview, type PreviewServer } from 'vite';
import { launchChromium } from '../support/chromium.ts';

const root = join(import.meta.dirname, '..', '..');

/** The files that the docs' page about a chat page has in its code blocks, by their names. */
async function documentedFiles(): Promise<Map<string, string>> {
  const page = await readFile(join(root, 'docs/channels/page.md'), 'utf8');
  const blocks = [...page.matchAll(/```(?:tsx?|js)\n\/\/ (\S+)\n(.*?)```/gs)];
  return new Map(blocks.map(([, name = '', code = '']) => [name, code]));
}

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
  const files = await documentedFiles();
  const server = files.get('server.ts') ?? '';
  const serve = files.get('serve.js') ?? '';
  const modelled = replaced(server, "model: 'openai/gpt-5-mini'", 'model: globalThis.model');
  const ruled = replaced(
    modelled,
    "toolApproval: { bookFlight: 'user-approval' }",
    'toolApproval: globalThis.toolApproval, mayAnswer: globalThis.mayAnswer',
  );
  const signedIn = replaced(
    ruled,
    'return undefined; //',
    'return globalThis.userOf(_request); //',
  );
  const own = new Map([
    ...Object.entries(template),
    ...files,
    ['server.ts', signedIn],
    ['serve.js', replaced(serve, '3001', String(port))],
  ]);
  await mkdir(join(folder, 'src'));
  await mkdir(join(folder, 'node_modules/@ai-sdk'), { recursive: true });
  for (const [name, content] of own) await writeFile(join(folder, name), content);
  for (const name of ['ai', 'zod', 'react', 'react-dom', '@ai-sdk/react']) {
    await symlink(join(root, 'node_modules', name), join(folder, 'node_modules', name));
  }
  if (isPacked) await installPacked(folder);
  else await symlink(root, join(folder, 'node_modules/holdpoint'));
}

/** Unpacks what `npm pack` makes, beside the packages that it depends on. */
async function installPacked(folder: string): Promise<void> {
  const run = (program: string, ...parameters: string[]): unknown =>
    execFileSync(program, parameters, { cwd: root, stdio: 'pipe' });
  const { version, dependencies } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'));
  run('npm', 'pack', '--pack-destination', folder);
  const place = join(folder, 'node_modules/holdpoint');
  await mkdir(place);
  run('tar', 'xzf', join(folder, `holdpoint-${version}.tgz`), '-C', place, '--strip-components=1');
  for (const name of Object.keys(dependencies)) {
    const link = join(folder, 'node_modules', name);
    await mkdir(dirname(link), { recursive: true });
    await symlink(join(root, 'node_modules', name), link);
  }
}

function replaced(text: string, old: string, by: string): string {
  if (!text.includes(old)) throw new Error(`docs/channels/page.md does not contain ${old}.`);
  return text.replace(old, by);
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  if (typeof address !== 'object' || address === null) throw new Error('There is no port.');
  return address.port;
}
