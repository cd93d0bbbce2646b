import { Pool } from 'pg';
import { z } from 'zod';
import type { Database } from '../durable/database.ts';
import type { KillSample } from './fleet.ts';

const countSchema = z.object({ count: z.coerce.number() });

/** What the bench itself asks a fleet's database. */
export class FleetDatabase implements AsyncDisposable {
  readonly #pool: Pool;

  constructor(database: Database) {
    if (database.kind !== 'postgres') throw new Error('A fleet needs a Postgres database.');
    this.#pool = new Pool({ ...database.connection, max: 1 });
  }

  /** Creates the table that counts effects. */
  async createEffects(): Promise<void> {
    await this.#pool.query('create table effects (name text not null, key text not null)');
  }

  /** How many threads of an agent need nobody but a person. */
  async countEnded(name: string): Promise<number> {
    return this.#count(
      `from holdpoint_threads where agent = $1 and status in ('idle', 'indeterminate')`,
      [name],
    );
  }

  async readKill(name: string, threads: number): Promise<KillSample> {
    const effects = await this.#count('from effects where name = $1', [name]);
    const keys = await this.#count('from (select distinct key from effects where name = $1) as k', [
      name,
    ]);
    const indeterminate = await this.#count(
      `from holdpoint_threads where agent = $1 and status = 'indeterminate'`,
      [name],
    );
    return { threads, effects, repeated: effects - keys, indeterminate };
  }

  /** Forgets what was counted for `readHotShare`. */
  async resetStatistics(): Promise<void> {
    await this.#pool.query('select pg_stat_reset()');
  }

  /** How many updates of the table of threads there were, and how many of them wrote no index. */
  async readUpdates(): Promise<{ updates: number; hot: number }> {
    const { rows } = await this.#pool.query(
      `select sum(n_tup_upd) as count, sum(n_tup_hot_upd) as hot from pg_stat_user_tables where relname like 'holdpoint_thread%'`,
    );
    const row = z.object({ count: z.coerce.number(), hot: z.coerce.number() }).parse(rows[0]);
    return { updates: row.count, hot: row.hot };
  }

  async #count(from: string, values: unknown[]): Promise<number> {
    const { rows } = await this.#pool.query(`select count(*) as count ${from}`, values);
    return countSchema.parse(rows[0]).count;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#pool.end();
  }
}
