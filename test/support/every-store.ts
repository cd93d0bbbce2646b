import type { ThreadStore } from 'holdpoint';
import { postgresStore } from 'holdpoint/stores/postgres';
import { afterAll, afterEach, beforeEach } from 'vitest';
import { sharedPostgres } from './shared-postgres.ts';
import { type KeptThreads, storeKits } from './store-kits.ts';
import { pickCases } from './sampling.ts';

/** A kind of store that may be on a server. */
export interface ServedKit {
  name: string;
  start(): Promise<KeptThreads>;
}

/** Every store of the package, with Postgres, for the tests of one file, of which `npm test` tries the first; connections to it that are idle that long are closed. */
export function everyStore({ idleTimeoutMillis = 50 } = {}): ServedKit[] {
  const server = sharedPostgres();
  afterAll(async () => server[Symbol.asyncDispose]());
  const start = async (): Promise<KeptThreads> => {
    const place = await server.createSchema();
    /* Each process has connections of its own, and gives them back soon: others share the server. */
    const open = () => postgresStore(server.pool(place, { max: 2, idleTimeoutMillis }));
    return { open, [Symbol.dispose]() {} };
  };
  const local = storeKits.map(({ name, keep }) => ({ name, start: async () => keep() }));
  return pickCases([...local, { name: 'postgresStore', start }]);
}

/** Opens the store of the test that runs, for a `describe` whose tests share nothing. */
export function storeOfEach(start: ServedKit['start']): () => ThreadStore {
  let kept: KeptThreads;
  beforeEach(async () => {
    kept = await start();
  });
  afterEach(() => kept[Symbol.dispose]());
  return () => kept.open();
}
