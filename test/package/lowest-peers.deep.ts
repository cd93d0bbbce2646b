import { execFileSync, spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';

const root = join(import.meta.dirname, '..', '..');
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const project = mkdtempSync(join(tmpdir(), 'holdpoint-lowest-peers-'));
const modules = join(project, 'node_modules');

/** The lowest version that a range admits: of `^18 || ~19.0.1`, 18.0.0. */
function lowestOf(range: string): string {
  const [major = '0', minor = '0', patch = '0'] = range.match(/\d+/g) ?? [];
  const isWhole = /^\D*\d+\.\d+\.\d+/.test(range);
  return isWhole ? `${major}.${minor}.${patch}` : `${major}.0.0`;
}

const peers = new Map(
  Object.entries<string>(manifest.peerDependencies).map(([name, range]) => [name, lowestOf(range)]),
);

/* What tests use that depends on a peer: the version that fits its lowest one. */
const companions = {
  'react-dom': lowestOf(manifest.peerDependencies.react),
  /* No peer. The one that the lowest React hook brings along can't answer servers of protocol 2026-07-28. */
  '@ai-sdk/mcp': manifest.devDependencies['@ai-sdk/mcp'],
  '@ai-sdk/otel': '1.0.153',
  '@opentelemetry/context-async-hooks': '2.9.0',
  '@opentelemetry/sdk-trace': '2.9.0',
};

/** The package as it is published, installed with the lowest version of each peer. */
function install(): void {
  execFileSync('npm', ['pack', '--pack-destination', project], { cwd: root, stdio: 'pipe' });
  writeFileSync(join(project, 'package.json'), '{ "private": true, "type": "module" }');
  const wanted = [...peers, ...Object.entries(companions)].map(
    ([name, version]) => `${name}@${version}`,
  );
  const tarball = `./holdpoint-${manifest.version}.tgz`;
  const parameters = ['install', '--prefer-offline', '--no-audit', '--no-fund', '--no-save'];
  execFileSync('npm', [...parameters, tarball, ...wanted], { cwd: project, stdio: 'pipe' });
}

/** What tests need beside the package and its peers: as in the repository. */
function linkTools(): void {
  for (const name of Object.keys(manifest.devDependencies)) {
    const link = join(modules, name);
    mkdirSync(dirname(link), { recursive: true });
    if (!existsSync(link)) symlinkSync(join(root, 'node_modules', name), link);
  }
}

/** Whether a file imports more of the source than types. */
function needsSource(text: string): boolean {
  return /^(?:import \{.*|\}) from '\.\.\/\.\.\/src\//m.test(text);
}

/**
 * The tests, which find the installed package instead of the source; so do the processes that they start. Without those that need the source
 * itself, also by what they import of `test/support`, or the docs.
 */
function copyTests(): void {
  for (const folder of ['test', 'examples']) {
    cpSync(join(root, folder), join(project, folder), { recursive: true });
  }
  const files = globSync('{test,examples}/**/*.{ts,tsx}', { cwd: project });
  const texts = new Map(files.map((file) => [file, readFileSync(join(project, file), 'utf8')]));
  const helpers = files
    .filter((file) => file.startsWith('test/support/') && needsSource(texts.get(file) ?? ''))
    .map((file) => `/${basename(file)}'`);
  for (const [file, text] of texts) {
    const isOfSource =
      text.includes("'../../src/") || helpers.some((helper) => text.includes(helper));
    if (file.endsWith('.test.ts') && isOfSource) {
      rmSync(join(project, file));
      continue;
    }
    writeFileSync(join(project, file), text.replaceAll('holdpoint-source', 'holdpoint-packed'));
  }
}

beforeAll(() => {
  install();
  linkTools();
  copyTests();
}, 300_000);

afterAll(() => {
  rmSync(project, { recursive: true });
}, 60_000);

test('what is installed is the lowest version that each range admits', () => {
  const installed = [...peers.keys()].map((name) => {
    const { version } = JSON.parse(readFileSync(join(modules, name, 'package.json'), 'utf8'));
    return [name, version];
  });
  expect(installed).toEqual([...peers]);
});

/* Each entry with the peers that it needs: `ai` and `zod` everywhere, `pg` in stores, React in ui, MCP in mcp. */
test.each(['stories', 'middleware', 'gate', 'tools', 'ui', 'terminal', 'telemetry', 'stores'])(
  'the tests of %s pass with the lowest peers',
  (room) => {
    const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs');
    const parameters = ['run', '--config', 'test/vitest.config.ts', `test/${room}/`];
    const { status, stdout, stderr } = spawnSync(
      process.execPath,
      [vitest, ...parameters, '--reporter', 'dot'],
      { cwd: project, encoding: 'utf8' },
    );
    expect(status === 0 ? '' : `${stdout}${stderr}`).toBe('');
  },
);
