import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';

const root = join(import.meta.dirname, '..', '..');
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const project = mkdtempSync(join(tmpdir(), 'holdpoint-types-'));
const tarball = `./holdpoint-${manifest.version}.tgz`;
const quietly = ['--prefer-offline', '--no-audit', '--no-fund'];

/* What the declarations of all entries name. */
const others = [
  ...Object.keys(manifest.peerDependencies),
  'typescript',
  '@types/pg',
  '@types/react',
].map((name) => `${name}@${manifest.devDependencies[name]}`);

/* What the AI SDK's own declarations name and don't bring along. */
const missing = '@types/json-schema@7';

/** Runs a program in the project; what it prints is in the error when it fails. */
function run(program: string, ...parameters: string[]): string {
  return execFileSync(program, parameters, { cwd: project, encoding: 'utf8', stdio: 'pipe' });
}

beforeAll(() => {
  execFileSync('npm', ['pack', '--pack-destination', project], { cwd: root, stdio: 'pipe' });
  const entries = Object.keys(manifest.exports).filter((entry) => entry !== './package.json');
  const names = entries.map((entry) => `holdpoint${entry.slice(1)}`);
  const code = names.map((name, at) => `export * as entry${at} from '${name}';`).join('\n');
  writeFileSync(join(project, 'entries.ts'), code);
  writeFileSync(join(project, 'package.json'), '{ "private": true, "type": "module" }');
  run('npm', 'install', ...quietly, tarball, missing, ...others);
}, 300_000);

afterAll(() => {
  rmSync(project, { recursive: true });
}, 60_000);

test.each([22, 24, 26])(
  'every declaration of every entry compiles with @types/node %i',
  (version) => {
    run('npm', 'install', ...quietly, `@types/node@${version}`);
    const flags = ['--noEmit', '--strict', '--skipLibCheck', 'false', '--pretty', 'false'];
    const formats = ['--target', 'es2024', '--module', 'nodenext', '--types', 'node'];
    const tsc = join(project, 'node_modules', '.bin', 'tsc');
    const parameters = ['--ignoreConfig', ...flags, ...formats, 'entries.ts'];
    const { stdout, status } = spawnSync(tsc, parameters, { cwd: project, encoding: 'utf8' });
    expect(stdout).toBe('');
    expect(status).toBe(0);
  },
);

test('what the page of a chat needs is installed beside Next by the npm of older Nodes', () => {
  const page = readFileSync(join(root, 'docs/channels/page.md'), 'utf8');
  const [, packages = ''] = /^npm install holdpoint (.+)$/m.exec(page) ?? [];
  const fresh = mkdtempSync(join(tmpdir(), 'holdpoint-next-'));
  writeFileSync(join(fresh, 'package.json'), '{ "private": true }');
  const install = ['-y', 'npm@10', 'install', '--dry-run', ...quietly, join(project, tarball)];
  const parameters = [...install, ...packages.split(' '), 'next', 'react', 'react-dom'];
  /* A Node that the newest packages no longer run on makes npm choose older ones. */
  const env = { ...process.env, PATH: olderNode() };
  const { stdout, stderr } = spawnSync('npx', parameters, { cwd: fresh, env, encoding: 'utf8' });
  rmSync(fresh, { recursive: true });
  expect(stderr).not.toContain('ERESOLVE');
  expect(stdout).toContain('add next');
}, 300_000);

/** A PATH whose `node` is the newest Node 20. */
function olderNode(): string {
  run('npm', 'install', ...quietly, '--prefix', 'older', 'node@20');
  return `${join(project, 'older', 'node_modules', 'node', 'bin')}:${process.env['PATH']}`;
}
