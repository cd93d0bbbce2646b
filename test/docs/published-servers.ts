import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  globSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { ThreadEvent } from 'holdpoint';
import { sqliteStore } from 'holdpoint/stores/sqlite';
import { eventsIn } from '../support/events-in.ts';
import { fillSignIn } from '../support/sign-in.ts';
import { pagesAt } from './markdown-page.ts';

const root = join(import.meta.dirname, '..', '..');
const world = join(import.meta.dirname, 'published-server-process.ts');

/** A block of code that the docs show. */
export interface ShownBlock {
  /** Its page, and its number among the servers of the page. */
  key: string;
  code: string;
}

/* Whatever makes, is, or begins something that others can send requests to. */
const servers = [
  /\bcreateServer\(/,
  /\.listen\(/,
  /\bserve\(/,
  /\bcreate\w*Handler\(/,
  /\bcreateToolServer\(/,
  /\bexport (?:default )?(?:async )?(?:const|let|function) (?:GET|POST|PUT|PATCH|DELETE|fetch)\b/,
  /\bas (?:GET|POST|PUT|PATCH|DELETE)\b/,
  /\bfetch\(request\b/,
  /\(request: Request\)(?:: Promise<Response>)? (?:=>|\{)/,
  /\bexport default (?:app|\{[^}]*\bfetch\b)/,
  /\b(?:new Hono|express|fastify)\(/,
];

/** The blocks that are servers, or routes of one, in README and the docs. */
export function shownServers(): ShownBlock[] {
  return pagesAt('README.md', 'docs/**/*.md').flatMap(({ path, text }) =>
    [...text.matchAll(/```(?:typescript|tsx?|jsx?|mjs|mts)\n(.*?)```/gs)]
      .map(([, code = '']) => code)
      .filter((code) => servers.some((each) => each.test(code)))
      .map((code, index) => ({ key: `${path} ${index + 1}`, code })),
  );
}

/** The blocks of a page that begin with a file's name, without those below `src`. */
function filesOf(page: string): Map<string, string> {
  const text = readFileSync(join(root, page), 'utf8');
  const blocks = text.matchAll(/```\w+\n\/\/ ([\w/.-]+)\n(.*?)```/gs);
  return new Map([...blocks].map(([, name = '', code = '']) => [name, code]));
}

function replaced(text: string, old: string, by: string): string {
  if (!text.includes(old)) throw new Error(`The docs do not contain ${old}.`);
  return text.replace(old, by);
}

/* What a reader writes in the place that the docs leave open. */
const writeSignIn = (request: string): string => `const name = ${request}.headers.get('x-name');
  const threads = name === 'ada' || name === 'ben' ? ['trip-42', 'trip-43'] : [];
  return name ? { email: name + '@example.com', threads } : undefined;`;

/** What a program needs to be one of the docs' servers. */
interface Program {
  /** Its files; `main` is started. */
  files: Record<string, string>;
  main: string;
}

/** Serves the handler that a block exports, in the way that the page about a page shows. */
function served(code: string): Program {
  const handler =
    "import * as route from './route.ts';\nexport const handler = route.POST ?? route.handler;\n";
  return { files: { 'route.ts': code, 'server.ts': handler }, main: 'serve.js' };
}

/** A server of the docs, in a process and a folder of its own, as it is pasted; `filled` writes the sign-in. */
export class PublishedServer implements AsyncDisposable {
  readonly #folder = mkdtempSync(join(tmpdir(), 'holdpoint-published-'));
  readonly port: number;
  #child: ReturnType<typeof spawn> | undefined;
  output = '';

  private constructor(port: number) {
    this.port = port;
  }

  /** Starts it, and waits until it listens; `undefined` if it does not start. */
  static async start(
    { key, code }: ShownBlock,
    {
      isFilled = false,
      environment = {},
    }: { isFilled?: boolean; environment?: Record<string, string> } = {},
  ): Promise<PublishedServer> {
    const server = new PublishedServer(await unusedPort());
    const { files, main } = programOf(key, code);
    const page = filesOf('docs/channels/page.md');
    const own = replaced(
      page.get('server.ts') ?? '',
      "model: 'openai/gpt-5-mini'",
      'model: globalThis.model',
    );
    const serve = replaced(page.get('serve.js') ?? '', '3001', String(server.port));
    const open = new Map(Object.entries({ 'page.ts': own, 'serve.js': serve, ...files }));
    const written = isFilled ? fillSignIn(open, writeSignIn) : open;
    for (const [name, text] of written) server.#write(name, text);
    server.#write('package.json', '{ "type": "module" }');
    server.#link();
    await server.#spawn(main, environment);
    return server;
  }

  get isListening(): Promise<boolean> {
    return reaches('127.0.0.1', this.port);
  }

  /** Whether another address of this machine than 127.0.0.1 reaches it. */
  async isOpenElsewhere(): Promise<boolean> {
    const found = await Promise.all(
      ['127.0.0.2', '::1'].map(async (host) => reaches(host, this.port)),
    );
    return found.includes(true);
  }

  /** The events of a thread. */
  async events(threadId = 'trip-42'): Promise<ThreadEvent[]> {
    using store = sqliteStore(join(this.#folder, 'threads.sqlite'));
    return await eventsIn(store, threadId);
  }

  /** What was done outside of threads. */
  get done(): string {
    return ['deployed', 'engine'].map((name) => this.#read(name)).join('');
  }

  async send(path: string, init: RequestInit = {}): Promise<number> {
    const response = await fetch(`http://127.0.0.1:${this.port}${path}`, init);
    await response.text();
    return response.status;
  }

  /** Sends bytes that no client of HTTP would, and returns the first line of the answer. */
  async sendBytes(bytes: string): Promise<string> {
    const socket = connect(this.port, '127.0.0.1');
    socket.end(bytes);
    let text = '';
    socket.on('data', (data) => {
      text += String(data);
    });
    await once(socket, 'close').catch(() => {});
    return text.split('\r\n')[0] ?? '';
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#child?.exitCode === null && this.#child.signalCode === null) {
      const gone = once(this.#child, 'exit');
      this.#child.kill('SIGKILL');
      await gone;
    }
    rmSync(this.#folder, { recursive: true });
  }

  #write(name: string, text: string): void {
    mkdirSync(dirname(join(this.#folder, name)), { recursive: true });
    writeFileSync(join(this.#folder, name), text);
  }

  #read(name: string): string {
    return globSync(name, { cwd: this.#folder })
      .map((file) => readFileSync(join(this.#folder, file), 'utf8'))
      .join('');
  }

  #link(): void {
    const modules = join(this.#folder, 'node_modules');
    for (const name of readdirSync(join(root, 'node_modules'))) {
      if (name.startsWith('.')) continue;
      mkdirSync(modules, { recursive: true });
      symlinkSync(join(root, 'node_modules', name), join(modules, name));
    }
    symlinkSync(root, join(modules, 'holdpoint'));
  }

  async #spawn(main: string, environment: Record<string, string>): Promise<void> {
    const child = spawn(
      process.execPath,
      ['--conditions=holdpoint-source', '--import', world, main],
      {
        cwd: this.#folder,
        env: { ...process.env, PORT: String(this.port), ...environment },
      },
    );
    this.#child = child;
    child.stdout.on('data', (data) => (this.output += String(data)));
    child.stderr.on('data', (data) => (this.output += String(data)));
    while (child.exitCode === null && !(await this.isListening)) {
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
}

/* Below the ports that a system gives away by itself, so that nobody takes one before its server listens. */
let lastPort = 20_000 + Math.floor(Math.random() * 10_000);

async function unusedPort(): Promise<number> {
  lastPort += 1;
  const port = lastPort;
  return (await reaches('127.0.0.1', port)) ? unusedPort() : port;
}

async function reaches(host: string, port: number): Promise<boolean> {
  const socket = connect(port, host);
  const isOpen = await once(socket, 'connect').then(
    () => true,
    () => false,
  );
  socket.destroy();
  return isOpen;
}

function programOf(key: string, code: string): Program {
  const [page = ''] = key.split(' ');
  const files = Object.fromEntries(filesOf(page));
  if (key === 'docs/channels/page.md 1' || key === 'docs/channels/page.md 2') {
    return { files: { 'server.ts': "export { handler } from './page.ts';" }, main: 'serve.js' };
  }
  if (page === 'docs/guides/restate.md') {
    return { files: { ...files, ...engine }, main: 'serve.ts' };
  }
  if (page === 'docs/guides/workflow.md') {
    return { files: { ...files, ...engine, ...workflow }, main: 'serve.ts' };
  }
  return served(code);
}

/** The files of a reader who follows a guide to an engine. */
const engine = {
  'agent.ts': 'export const { agent, store } = globalThis;',
  'steps.ts': filesOf('docs/guides/other-engines.md').get('steps.ts') ?? '',
};

const note = (what: string): string =>
  `require('node:fs').appendFileSync('engine', '${what}\\n'); return new Response();`;

/** Stands in for the engine: it notes what it is asked to do. */
const workflow = {
  'node_modules/workflow/package.json':
    '{ "exports": { "./runtime": "./runtime.cjs", "./api": "./api.cjs" } }',
  'node_modules/workflow/runtime.cjs': 'exports.getWorld = () => ({});',
  'node_modules/workflow/api.cjs': `exports.start = async () => { ${note('start')} };
exports.resumeHook = async () => { throw new Error('There is no hook.'); };`,
  '.well-known/package.json': '{ "type": "commonjs" }',
  '.well-known/workflow/v1/flow.js': `exports.POST = async () => { ${note('flow')} };`,
  '.well-known/workflow/v1/step.js': `exports.POST = async () => { ${note('step')} };`,
};
