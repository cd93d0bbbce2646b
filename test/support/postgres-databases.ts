import { randomUUID } from 'node:crypto';
import { Pool, type PoolConfig } from 'pg';

const login = { user: 'postgres', password: 'password', host: '127.0.0.1' };

/** The databases of a Postgres server that runs on a port, and pools of connections to them. */
export class PostgresDatabases implements AsyncDisposable {
  readonly port: number;
  readonly #pools: Pool[] = [];
  #admin: Pool | undefined;

  constructor(port: number) {
    this.port = port;
  }

  /** A pool of connections, as a process of its own would have it. */
  pool(database: string, config: PoolConfig = {}): Pool {
    const pool = new Pool({ ...login, port: this.port, database, ...config });
    /* An idle connection that the server closes fails no test. */
    pool.on('error', () => {});
    this.#pools.push(pool);
    return pool;
  }

  /** How another process reaches a database. */
  connectionString(database: string): string {
    return `postgres://${login.user}:${login.password}@${login.host}:${this.port}/${database}`;
  }

  /** An empty database; gives its name. */
  async createDatabase(): Promise<string> {
    this.#admin ??= this.pool('postgres', { max: 1 });
    const name = `test_${randomUUID().replaceAll('-', '')}`;
    await this.#admin.query(`create database ${name}`);
    return name;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#pools.map(async (pool) => pool.end()));
  }
}
