import { execFile, spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { cachedFolder } from '../support/cached-package.ts';
import { freePort } from '../support/free-port.ts';
import { EngineProcess } from './engine-process.ts';

const execute = promisify(execFile);

/* What Debian's server consists of that a machine without Redis may lack. */
const debianPackages = ['redis-server', 'redis-tools', 'libjemalloc2', 'liblzf1'];

/** A Redis server that can be started. */
export interface RedisProgram {
  path: string;
  environment: NodeJS.ProcessEnv;
}

/** The `redis-server` of this machine, or that of Debian's package; `undefined` where there is neither. */
export async function redisProgram(): Promise<RedisProgram | undefined> {
  const installed = await programAt('redis-server', process.env);
  if (installed !== undefined) return installed;
  try {
    const folder = await cachedFolder('redis-server', unpackDebian);
    const libraries = readdirSync(join(folder, 'usr/lib')).map((name) =>
      join(folder, 'usr/lib', name),
    );
    const environment = { ...process.env, LD_LIBRARY_PATH: libraries.join(':') };
    return await programAt(join(folder, 'usr/bin/redis-server'), environment);
  } catch {
    return undefined;
  }
}

async function programAt(
  path: string,
  environment: NodeJS.ProcessEnv,
): Promise<RedisProgram | undefined> {
  try {
    await execute(path, ['--version'], { env: environment });
    return { path, environment };
  } catch {
    return undefined;
  }
}

async function unpackDebian(folder: string): Promise<void> {
  await execute('apt-get', ['download', ...debianPackages], { cwd: folder, timeout: 60_000 });
  const archives = readdirSync(folder).filter((name) => name.endsWith('.deb'));
  for (const name of archives) await execute('dpkg', ['-x', name, '.'], { cwd: folder });
}

/** A Redis server on a free port; its data is gone when it is disposed of. */
export class RedisServer implements AsyncDisposable {
  readonly url: string;
  readonly #process: EngineProcess;
  readonly #folder: string;

  private constructor(started: EngineProcess, port: number, folder: string) {
    this.#process = started;
    this.url = `redis://127.0.0.1:${port}`;
    this.#folder = folder;
  }

  static async start({ path, environment: env }: RedisProgram): Promise<RedisServer> {
    const folder = mkdtempSync(join(tmpdir(), 'holdpoint-redis-'));
    const port = await freePort();
    const settings = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--dir', folder];
    const started = new EngineProcess(spawn(path, settings, { env }));
    await started.printed(/Ready to accept connections/);
    return new RedisServer(started, port, folder);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#process.kill();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
