import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { libsqlDriver, sqliteStoreOn } from 'holdpoint/stores/sqlite-on';
import { expect, test } from 'vitest';
import { inFolder } from '../faults/in-folder.ts';
import { cachedPackage } from '../support/cached-package.ts';
import { playStore, storeCaseNames } from './hosts/stores.ts';

interface Libsql {
  createClient(options: { url: string }): Parameters<typeof libsqlDriver>[0] & { close(): void };
}

const folder = await cachedPackage({ '@libsql/client': '0.18.0' });
const entry = join(folder, 'node_modules/@libsql/client/lib-esm/node.js');
const loaded: Partial<Libsql> = await import(/* @vite-ignore */ pathToFileURL(entry).href).catch(
  () => ({}),
);
const { createClient } = loaded;

test('a file of libsql is a store for any number of clients', async ({ skip }) => {
  if (createClient === undefined) return skip('libsql 0.18.0 does not start on this platform');
  await inFolder(async (at) => {
    let files = 0;
    const clients: { close(): void }[] = [];
    const results = await playStore(async () => {
      const url = `file:${join(at, `${(files += 1)}.sqlite`)}`;
      return (hooks) => {
        const client = createClient({ url });
        clients.push(client);
        return sqliteStoreOn(libsqlDriver(client), { ...hooks, snapshots: true });
      };
    });
    for (const client of clients) client.close();
    expect(results).toEqual(Object.fromEntries(storeCaseNames.map((name) => [name, 'passed'])));
  });
});
