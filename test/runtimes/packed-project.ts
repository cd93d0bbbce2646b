import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build, type InlineConfig } from 'vite';

interface Manifest {
  version: string;
  files: string[];
  devDependencies: Record<string, string>;
}

const root = join(import.meta.dirname, '..', '..');
const manifest: Manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));

/** A project that has installed the packed package, with the hosts of the runtimes in it. */
export interface PackedProject extends Disposable {
  folder: string;
}

/** Packs a copy, because other tests pack the repository at the same time, and installs it with its peers. */
export function packedProject(): PackedProject {
  const folder = mkdtempSync(join(tmpdir(), 'holdpoint-runtimes-'));
  const copy = join(folder, 'copy');
  const builtWith = ['package.json', 'tsconfig.json', 'rolldown.config.ts'];
  const packed = [...builtWith, 'README.md', 'LICENSE', ...manifest.files];
  for (const file of packed) {
    if (file === 'dist' || file.startsWith('!')) continue;
    cpSync(join(root, file), join(copy, file), { recursive: true });
  }
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));
  execFileSync('npm', ['pack', '--pack-destination', folder], { cwd: copy, stdio: 'pipe' });
  writeFileSync(join(folder, 'package.json'), '{ "private": true, "type": "module" }');
  const peers = ['ai', 'zod'].map((name) => `${name}@${manifest.devDependencies[name]}`);
  const tarball = `./holdpoint-${manifest.version}.tgz`;
  const install = ['install', '--prefer-offline', '--no-audit', '--no-fund', tarball, ...peers];
  execFileSync('npm', install, { cwd: folder, stdio: 'pipe' });
  cpSync(join(import.meta.dirname, 'hosts'), folder, { recursive: true });
  return { folder, [Symbol.dispose]: () => rmSync(folder, { recursive: true }) };
}

/** A module of a bundle. */
export interface BundledModule {
  path: string;
  code: string;
}

/** A host and all that it imports, as modules, of which the host is the first. What it imports lazily is modules of their own. */
export async function bundled(
  { folder }: PackedProject,
  host: string,
  runtime: 'workerd' | 'browser',
): Promise<BundledModule[]> {
  const conditions = ['workerd', 'worker', 'module', 'browser', 'production'];
  const forWorkers: InlineConfig = {
    ssr: { noExternal: true, target: 'webworker', resolve: { conditions } },
  };
  const built = await build({
    root: folder,
    configFile: false,
    logLevel: 'error',
    ...(runtime === 'workerd' ? forWorkers : {}),
    build: {
      write: false,
      target: 'esnext',
      ssr: runtime === 'workerd',
      rollupOptions: { input: join(folder, host), external: /^(?:node|cloudflare):/ },
    },
  });
  const [output] = Array.isArray(built) ? built : [built];
  const files = output !== undefined && 'output' in output ? output.output : [];
  return files.flatMap((file) =>
    file.type === 'chunk' ? { path: file.fileName, code: file.code } : [],
  );
}
