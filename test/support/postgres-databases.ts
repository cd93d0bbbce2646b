import { randomUUID } from 'node:crypto';
import { Pool, type PoolConfig } from 'pg';

const login = { user: 'postgres', password: 'password', host: '127.0.0.1' };

/** The databases of a Postgres server that runs on a port, their schemas, and pools of connections to them. */
export class PostgresDatabases implements AsyncDisposable {
  readonly port: number;
  readonly #pools: Pool[] = [];
  #admin: Pool | undefined;
  #shared: Promise<string> | undefined;
  #sharedAdmin: Pool | undefined;

  constructor(port: number) {
    this.port = port;
  }

  /** A pool of connections to a database or a schema, as a process of its own would have it. */
  pool(place: string, { options = '', ...config }: PoolConfig = {}): Pool {
    const [database = '', schema] = place.split('/');
    const path = schema === undefined ? '' : `-c search_path=${schema} `;
    const own = { port: this.port, database, options: `${path}${options}` };
    /* Hundreds of cases in a row, each with pools of its own, would take all connections of the server. */
    const pool = new Pool({ idleTimeoutMillis: 2_000, ...login, ...own, ...config });
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
    const name = makeName();
    await this.#admin.query(`create database ${name}`);
    return name;
  }

  /**
   * An empty schema in the one database that this object has for them; gives its place, for `pool`. It takes a hundredth of the time of a
   * database. Schemas share their notices and locks, so their tests come one after another.
   */
  async createSchema(): Promise<string> {
    this.#shared ??= this.createDatabase();
    const database = await this.#shared;
    this.#sharedAdmin ??= this.pool(database, { max: 1 });
    const schema = makeName();
    await this.#sharedAdmin.query(`create schema ${schema}`);
    return `${database}/${schema}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#pools.map(async (pool) => pool.end()));
  }
}

function makeName(): string {
  return `test_${randomUUID().replaceAll('-', '')}`;
}
