import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { cachedPackage } from '../support/cached-package.ts';
import { freePort } from '../support/free-port.ts';
import { EngineProcess } from './engine-process.ts';
import { waitFor } from '../support/waiting.ts';

export const serverVersion = '1.7.12';

/** The program of Restate's server; `undefined` where there is none for this platform. */
export async function restateProgram(): Promise<string | undefined> {
  const folder = await cachedPackage({ '@restatedev/restate-server': serverVersion });
  const name = `restate-server-${process.platform}-${process.arch}`;
  const program = join(folder, 'node_modules/@restatedev', name, 'bin/restate-server');
  return existsSync(program) ? program : undefined;
}

/** A Restate server on free ports; its data is gone when it is disposed of. */
export class RestateServer implements AsyncDisposable {
  readonly ingress: string;
  readonly #admin: string;
  readonly #process: EngineProcess;
  readonly #folder: string;

  private constructor(
    started: EngineProcess,
    { ingress, admin, folder }: { ingress: number; admin: number; folder: string },
  ) {
    this.#process = started;
    this.#folder = folder;
    this.ingress = `http://127.0.0.1:${ingress}`;
    this.#admin = `http://127.0.0.1:${admin}`;
  }

  static async start(program: string): Promise<RestateServer> {
    const folder = mkdtempSync(join(tmpdir(), 'holdpoint-restate-'));
    const [ingress, admin, node] = [await freePort(), await freePort(), await freePort()];
    const env = {
      ...process.env,
      RESTATE_LISTEN_MODE: 'tcp',
      RESTATE_BIND_ADDRESS: `127.0.0.1:${node}`,
      RESTATE_INGRESS__BIND_ADDRESS: `127.0.0.1:${ingress}`,
      RESTATE_ADMIN__BIND_ADDRESS: `127.0.0.1:${admin}`,
      RESTATE_DISABLE_TELEMETRY: 'true',
    };
    const child = spawn(program, ['--base-dir', folder, '--no-logo'], { env });
    const server = new RestateServer(new EngineProcess(child), { ingress, admin, folder });
    await waitFor(async () => server.#ask(server.#admin, 'health'), {
      timeout: 60_000,
      interval: 50,
    });
    return server;
  }

  /** Tells it where a service is. The service must be up. */
  async register(port: number): Promise<void> {
    await this.#ask(this.#admin, 'deployments', { uri: `http://127.0.0.1:${port}`, force: true });
  }

  /** Rows of its own tables. */
  async query(sql: string): Promise<Record<string, unknown>[]> {
    const { rows } = JSON.parse(await this.#ask(this.#admin, 'query', { query: sql }));
    return rows;
  }

  async #ask(origin: string, path: string, body?: object): Promise<string> {
    const response = await fetch(`${origin}/${path}`, {
      headers: { 'content-type': 'application/json', accept: 'application/json' },
      ...(body && { method: 'POST', body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`Restate, ${path}: ${response.status} ${text}`);
    return text;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#process.kill();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
