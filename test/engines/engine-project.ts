import { execFileSync, spawn } from 'node:child_process';
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { EngineProcess } from './engine-process.ts';

const root = join(import.meta.dirname, '..', '..');
const modules = join(root, 'node_modules');

/** The text of a page. */
export function textOf(page: string): string {
  return readFileSync(join(root, page), 'utf8');
}

/** A TypeScript file that a page shows. */
export interface ShownFile {
  name: string;
  code: string;
}

/** The files that a page shows: the blocks that begin with a name. */
export function filesIn(page: string): ShownFile[] {
  const blocks = textOf(page).matchAll(/```typescript\n(\/\/ ([\w/.-]+\.ts)\n.*?)```/gs);
  return [...blocks].map(([, code = '', name = '']) => ({ name, code }));
}

/** What the steps of each engine do. */
export const stepsFile = filesIn('docs/guides/other-engines.md').filter(
  ({ name }) => name === 'steps.ts',
);

/**
 * The project of somebody who follows a guide: holdpoint as it is built, the packages, `agent.ts`, and the files that the guide shows.
 * `packages` is a folder of `cachedPackage` whose packages are installed too.
 */
export class EngineProject implements AsyncDisposable {
  readonly folder = mkdtempSync(join(tmpdir(), 'holdpoint-engine-'));
  readonly #processes: EngineProcess[] = [];

  constructor(files: readonly ShownFile[], packages?: string) {
    const installed = join(this.folder, 'node_modules');
    buildPackage(join(installed, 'holdpoint'));
    for (const source of [root, ...(packages === undefined ? [] : [packages])])
      linkPackages(join(source, 'node_modules'), installed);
    this.write('package.json', '{ "private": true, "type": "module" }');
    this.write('tsconfig.json', JSON.stringify({ compilerOptions, include: ['**/*.ts'] }));
    copyFileSync(join(root, 'test/engines/engine-world.ts'), join(this.folder, 'engine-world.ts'));
    this.write('agent.ts', agentFile);
    for (const { name, code } of files) this.write(name, code);
  }

  write(name: string, content = ''): void {
    mkdirSync(dirname(join(this.folder, name)), { recursive: true });
    writeFileSync(join(this.folder, name), content);
  }

  read(name: string): string {
    return readFileSync(join(this.folder, name), 'utf8');
  }

  remove(name: string): void {
    rmSync(join(this.folder, name), { recursive: true, force: true });
  }

  /** Runs a program to its end; what it prints is in the error when it fails. */
  run(program: string, ...parameters: string[]): string {
    return execFileSync(program, parameters, { cwd: this.folder, encoding: 'utf8', stdio: 'pipe' });
  }

  /** What TypeScript says about the files. */
  typeErrors(): string {
    try {
      return this.run(join(modules, '.bin', 'tsc'), '-p', '.');
    } catch (error) {
      return String(Reflect.get(Object(error), 'stdout'));
    }
  }

  /** The cities that were booked. */
  get bookings(): string[] {
    const file = join(this.folder, 'bookings');
    return existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : [];
  }

  /** Starts a program in the project; it resolves when what the program has printed matches `ready`. */
  async start(
    program: string,
    parameters: readonly string[],
    { ready, environment = {} }: { ready?: RegExp; environment?: Record<string, string> } = {},
  ): Promise<EngineProcess> {
    const started = new EngineProcess(
      spawn(program, parameters, {
        cwd: this.folder,
        env: { ...process.env, WORLD: this.folder, ...environment },
      }),
    );
    this.#processes.push(started);
    if (ready !== undefined) await started.printed(ready);
    return started;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#processes.map(async (each) => each.kill()));
    rmSync(this.folder, { recursive: true, force: true });
  }
}

const agentFile = `
import { openWorld } from './engine-world.ts';

export const { agent, store } = openWorld(process.env['WORLD'] ?? '.');
`;

const compilerOptions = {
  target: 'es2024',
  module: 'nodenext',
  strict: true,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  noPropertyAccessFromIndexSignature: true,
  noEmit: true,
  skipLibCheck: true,
  allowImportingTsExtensions: true,
  types: ['node'],
};

/** Builds the package into a folder. The build is that of a copy, because other tests build the repository at the same time. */
function buildPackage(folder: string): void {
  const copy = mkdtempSync(join(tmpdir(), 'holdpoint-build-'));
  for (const name of readdirSync(root))
    if (name === 'src' || /\.(ts|json)$/.test(name))
      cpSync(join(root, name), join(copy, name), { recursive: true });
  symlinkSync(modules, join(copy, 'node_modules'), 'junction');
  execFileSync('npm', ['run', 'build'], { cwd: copy, stdio: 'pipe' });
  for (const name of ['package.json', 'dist'])
    cpSync(join(copy, name), join(folder, name), { recursive: true });
  rmSync(copy, { recursive: true });
}

/** Links the packages of one folder into another, where they are not there yet. */
function linkPackages(from: string, to: string): void {
  mkdirSync(to, { recursive: true });
  for (const name of readdirSync(from)) {
    if (name.startsWith('@')) linkPackages(join(from, name), join(to, name));
    else if (!name.startsWith('.') && !existsSync(join(to, name)))
      symlinkSync(join(from, name), join(to, name), 'junction');
  }
}
