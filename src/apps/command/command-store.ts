import { access } from 'node:fs/promises';
import { resolve } from 'node:path';
import { type Command, Option } from 'commander';
import { z } from 'zod';
import { readPages } from '../../content/read-pages.ts';
import type { ThreadStoreRequests } from '../../thread/thread-store-requests.ts';
import type { ThreadStore, ThreadSummary } from '../../thread/thread-store.ts';
import { type CommandWorld, UsageError } from './run-command.ts';

/** Adds the options that name a store. */
export function addStoreOptions(command: Command): Command {
  return command
    .addOption(
      new Option(
        '--store <file>',
        'the SQLite file of the threads; default: the environment variable HOLDPOINT_STORE',
      ).conflicts('postgres'),
    )
    .option(
      '--postgres <url>',
      'the database of the threads, which needs the package pg; default: the environment variable DATABASE_URL',
    );
}

/** The options of `addStoreOptions`. */
export const storeFields = { store: z.string().optional(), postgres: z.string().optional() };

/** The options of a command that name its store. */
interface NamedStore {
  store?: string | undefined;
  postgres?: string | undefined;
}

/** Opens the store of a command for `use`, and closes it. `createSchema`: whether it may create missing tables. */
export async function withStore<RESULT>(
  given: NamedStore,
  { env }: Pick<CommandWorld, 'env'>,
  use: (store: ThreadStore) => Promise<RESULT>,
  { createSchema = false }: { createSchema?: boolean } = {},
): Promise<RESULT> {
  const { store, close } = await openStore(findStore(given, env), createSchema);
  try {
    return await use(store);
  } finally {
    await close();
  }
}

/* Arguments take precedence over the environment, and our variables over those that other programs share. */
function findStore({ store, postgres }: NamedStore, env: CommandWorld['env']): NamedStore {
  if ((store ?? postgres) !== undefined) return { store, postgres };
  if (env['HOLDPOINT_STORE']) return { store: env['HOLDPOINT_STORE'] };
  if (env['DATABASE_URL']) return { postgres: env['DATABASE_URL'] };
  throw new UsageError(
    'Name the store: --store <file>, or --postgres <url>; or set HOLDPOINT_STORE or DATABASE_URL.',
  );
}

interface OpenStore {
  store: ThreadStore;
  close: () => Promise<void> | void;
}

async function openStore(
  { store: file = '', postgres: connectionString }: NamedStore,
  createSchema: boolean,
): Promise<OpenStore> {
  if (connectionString !== undefined) return openPostgres(connectionString, createSchema);
  const path = resolve(file);
  /* SQLite would create the file. */
  await access(path).catch((cause: unknown) => {
    throw new Error(`There is no database ${path}.`, { cause });
  });
  const { sqliteStore } = await import('../../stores/sqlite.ts');
  const store = sqliteStore(path);
  return { store, close: () => store.close() };
}

async function openPostgres(connectionString: string, createSchema: boolean): Promise<OpenStore> {
  const { Pool } = await import('pg').then(
    (pg) => pg.default,
    (cause: unknown) => {
      throw new Error('Postgres needs the package pg: install it beside holdpoint.', { cause });
    },
  );
  const { postgresStore } = await import('../../stores/postgres.ts');
  const pool = new Pool({ connectionString });
  /* Without a listener, a connection that drops while it is idle ends the process. */
  pool.on('error', () => {});
  return { store: postgresStore(pool, { createSchema }), close: () => pool.end() };
}

/** The requests of a store. */
export function requireRequests({ requests }: ThreadStore): ThreadStoreRequests {
  if (requests !== undefined) return requests;
  throw new Error('This store keeps no requests.');
}

/** The ids of all threads, in their order. */
export async function* listThreadIds(store: ThreadStore): AsyncGenerator<string> {
  const readPage = async (after?: ThreadSummary) => store.list({ after });
  for await (const page of readPages(readPage)) for (const { threadId } of page) yield threadId;
}
