import { access } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { ThreadStore } from '../thread/thread-store.ts';

/** The options of a command that name its store. */
interface NamedStore {
  store?: string | undefined;
  postgres?: string | undefined;
}

interface OpenStore {
  store: ThreadStore;
  close: () => Promise<void> | void;
}

/** Throws unless exactly one store is named. */
export function requireOneStore({ store, postgres }: NamedStore): void {
  if ((store === undefined) === (postgres === undefined)) {
    throw new Error('Pass either --store or --postgres.');
  }
}

/** Opens the store of a command. `createSchema`: whether it may create what its tables lack. */
export async function openStore(
  { store: file, postgres: connectionString }: NamedStore,
  options: { createSchema: boolean },
): Promise<OpenStore> {
  if (connectionString !== undefined) return openPostgres(connectionString, options);
  const path = resolve(file ?? '');
  /* SQLite would create it. */
  await access(path).catch((cause: unknown) => {
    throw new Error(`There is no database ${path}.`, { cause });
  });
  const { sqliteStore } = await import('../stores/sqlite.ts');
  const store = sqliteStore(path);
  return { store, close: () => store.close() };
}

async function openPostgres(
  connectionString: string,
  options: { createSchema: boolean },
): Promise<OpenStore> {
  const { Pool } = await import('pg').then(
    (pg) => pg.default,
    (cause: unknown) => {
      throw new Error('--postgres needs the package pg: install it beside holdpoint.', { cause });
    },
  );
  const { postgresStore } = await import('../stores/postgres.ts');
  const pool = new Pool({ connectionString });
  /* Without a listener, a connection that drops while it is idle ends the process. */
  pool.on('error', () => {});
  return { store: postgresStore(pool, options), close: () => pool.end() };
}
