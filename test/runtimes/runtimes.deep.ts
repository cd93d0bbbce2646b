import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { cachedPackage } from '../support/cached-package.ts';
import { findChromium, launchChromium } from '../support/chromium.ts';
import { playNames } from './hosts/plays.ts';
import { storeCaseNames } from './hosts/stores.ts';
import { bundled, type PackedProject, packedProject } from './packed-project.ts';

/** What became of each check of each part, by their names. */
type Results = Record<string, Record<string, string>>;

const { whyNot: noChromium } = await findChromium();
let project: PackedProject;
beforeAll(() => {
  project = packedProject();
}, 300_000);
afterAll(() => project[Symbol.dispose](), 60_000);

/** Runs a host, whose last line is what became of its checks. */
async function hosted(program: string, ...parameters: string[]): Promise<Results> {
  const env = { ...process.env, TMPDIR: project.folder };
  const options = { cwd: project.folder, env, maxBuffer: 2 ** 26 };
  const { stdout } = await promisify(execFile)(program, parameters, options);
  return JSON.parse(stdout.trim().split('\n').at(-1) ?? '');
}

/** The program of a runtime that is installed as a package; undefined where it doesn't start, as on a platform that it has none for. */
async function programOf(name: string, version: string): Promise<string | undefined> {
  const program = join(await cachedPackage({ [name]: version }), 'node_modules', '.bin', name);
  const runs = promisify(execFile)(program, ['--version']);
  return runs.then(
    () => program,
    () => undefined,
  );
}

const passed = (names: readonly string[]): Record<string, string> =>
  Object.fromEntries(names.map((name) => [name, 'passed']));

/* The lowest version that the package supports, the one between, and the one of all other tests. */
test.for(['22.18.0', '24.21.0', process.version.slice(1)])(
  'Node %s plays all, and has sqliteStore',
  async (version, { skip }) => {
    const isOurs = process.version === `v${version}`;
    const node = isOurs ? process.execPath : await programOf('node', version);
    if (node === undefined) return skip(`node ${version} does not start on this platform`);
    expect(await hosted(node, 'node-host.ts')).toEqual({
      plays: passed(playNames),
      sqliteStore: passed(storeCaseNames),
    });
  },
);

test('Bun plays all, and has both SQLite stores', async ({ skip }) => {
  const bun = await programOf('bun', '1.4.5');
  if (bun === undefined) return skip('bun 1.4.5 does not start on this platform');
  expect(await hosted(bun, 'bun-host.ts')).toEqual({
    plays: passed(playNames),
    'bun:sqlite': passed(storeCaseNames),
    'sqliteStore in Bun': passed(storeCaseNames),
  });
});

test('Deno plays all, and has sqliteStore', async ({ skip }) => {
  const deno = await programOf('deno', '2.9.6');
  if (deno === undefined) return skip('deno 2.9.6 does not start on this platform');
  const results = await hosted(deno, 'run', '-A', '--node-modules-dir=manual', 'node-host.ts');
  expect(results).toEqual({ plays: passed(playNames), sqliteStore: passed(storeCaseNames) });
});

/** A server of workers, as far as it is used here. */
interface Miniflare {
  dispatchFetch(url: string): Promise<{ text(): Promise<string> }>;
  dispose(): Promise<void>;
}

interface ServerModule {
  Miniflare: new (options: object) => Miniflare;
}

/** Serves a worker with a D1 database and a Durable Object, and asks it once. */
async function servedByWorkerd(host: string, compatibilityFlags: string[]): Promise<Results> {
  const folder = await cachedPackage({ miniflare: '4.20260730.0' });
  const entry = join(folder, 'node_modules/miniflare/dist/src/index.js');
  const loaded: ServerModule = await import(/* @vite-ignore */ pathToFileURL(entry).href);
  const modules = await bundled(project, host, 'workerd');
  const server = new loaded.Miniflare({
    modules: modules.map(({ path, code }) => ({ type: 'ESModule', path, contents: code })),
    compatibilityDate: '2026-07-01',
    compatibilityFlags,
    d1Databases: ['DB'],
    durableObjects: {
      OBJECTS: { className: 'Threads', useSQLite: true },
      ...(compatibilityFlags.length === 0
        ? { WAKING: { className: 'Waking', useSQLite: true } }
        : {}),
    },
  });
  try {
    const response = await server.dispatchFetch('https://worker.test');
    return JSON.parse(await response.text());
  } finally {
    await server.dispose();
  }
}

const noWorkerd = ['x64', 'arm64'].includes(process.arch)
  ? undefined
  : `workerd has no program for ${process.arch}`;

describe.skipIf(noWorkerd !== undefined)(`workerd (${noWorkerd ?? 'through miniflare'})`, () => {
  test('plays all without Node compatibility, and keeps threads in D1 and a Durable Object', async () => {
    expect(await servedByWorkerd('worker-host.ts', [])).toEqual({
      plays: passed(playNames),
      stores: passed(['has no Node compatibility', 'D1', 'a Durable Object', 'an alarm']),
    });
  });

  test('plays all with nodejs_compat, and the stores pass every case', async () => {
    expect(await servedByWorkerd('node-worker-host.ts', ['nodejs_compat'])).toEqual({
      plays: passed(playNames),
      D1: passed(storeCaseNames),
      'a Durable Object': passed(storeCaseNames),
    });
  });
});

describe.skipIf(noChromium !== undefined)(`a browser (${noChromium ?? 'Chromium'})`, () => {
  test('plays all from a bundle', async () => {
    const modules = await bundled(project, 'browser-host.ts', 'browser');
    const codes = new Map(modules.map(({ path, code }) => [`/${path}`, code]));
    const [entry] = codes.keys();
    const html = `<!doctype html><script type="module" src="${entry}"></script>`;
    const browser = await launchChromium();
    try {
      const page = await browser.newPage();
      const problems: string[] = [];
      page.on('pageerror', (error) => problems.push(error.message));
      await page.route('**/*', async (route) => {
        const code = codes.get(new URL(route.request().url()).pathname);
        const contentType = code === undefined ? 'text/html' : 'text/javascript';
        await route.fulfill({ contentType, body: code ?? html });
      });
      await page.goto('https://page.test/');
      await page.waitForFunction(() => Reflect.get(globalThis, 'results') !== undefined);
      const plays = await page.evaluate(async () => Reflect.get(globalThis, 'results'));
      expect({ plays, problems }).toEqual({ plays: passed(playNames), problems: [] });
    } finally {
      await browser.close();
    }
  });
});
