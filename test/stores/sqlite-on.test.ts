import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { sqliteStore } from 'holdpoint/stores/sqlite';
import { type SqliteDriver, sqliteSchema, sqliteStoreOn } from 'holdpoint/stores/sqlite-on';
import { storeConformance } from 'holdpoint/testing/store';
import { describe, expect, test } from 'vitest';
import { inFolder } from '../faults/in-folder.ts';
import { errorCode } from '../support/error-code.ts';
import { nodeDriver } from '../support/node-driver.ts';
import { appendPlain, plainEnd, plainEntry, plainSummary } from '../support/plain-entries.ts';
import { appendGrants, createGrants, plainGrant, uses, usesLeft } from '../support/plain-grants.ts';
import { pickCases } from '../support/sampling.ts';

/** A driver that answers later, as one over the network does, and notes how many statements each call has. */
function remoteDriver(database: DatabaseSync, calls: number[] = []): SqliteDriver {
  const driver = nodeDriver(database);
  return {
    async query(statement) {
      calls.push(1);
      return driver.query(statement);
    },
    async batch(statements) {
      calls.push(statements.length);
      return driver.batch(statements);
    },
  };
}

const drivers = [
  { name: 'a driver that answers later', driverOn: remoteDriver },
  { name: 'a driver that answers at once', driverOn: nodeDriver },
];

describe.each(pickCases(drivers))('sqliteStoreOn $name', ({ driverOn }) => {
  test.each(storeConformance)('$name', async ({ check }) => {
    const database = new DatabaseSync(':memory:');
    await check(sqliteStoreOn(driverOn(database), { snapshots: true }), () =>
      sqliteStoreOn(driverOn(database), { snapshots: true }),
    );
    database.close();
  });
});

describe('sqliteStoreOn', () => {
  test('writes nothing of an append whose thread has gone on, or was written already', async () => {
    const database = new DatabaseSync(':memory:');
    const store = sqliteStoreOn(nodeDriver(database));
    await appendPlain(store, 't');
    const entries = [plainEntry(1, 'again'), plainEntry(2), plainEntry(3)];
    const summary = plainSummary('t', { revision: 3 });
    for (const expected of [plainEnd(0), { revision: 1, hash: 'another' }, plainEnd(2)]) {
      const grants = [...uses('unknown'), { type: 'create', grant: plainGrant('g') } as const];
      for (const changes of [undefined, grants]) {
        const appending = store.append('t', expected, entries, summary, { grants: changes });
        expect(await errorCode(appending)).toBe('revision-conflict');
      }
    }
    expect(await store.read('t')).toEqual([plainEntry(1)]);
    expect(await store.head('t')).toEqual(plainSummary('t'));
    expect(await store.grants.list({})).toEqual([]);
  });

  test('takes uses of several standing approvals together, or of none', async () => {
    const store = sqliteStoreOn(nodeDriver(new DatabaseSync(':memory:')));
    await createGrants(
      store,
      plainGrant('many', { usesLeft: 3 }),
      plainGrant('few', { usesLeft: 1 }),
    );
    const wanting = appendGrants(store, 't', uses('many', 'few', 'few'));
    expect(await errorCode(wanting)).toBe('grant-ended');
    expect(await usesLeft(store)).toEqual({ many: 3, few: 1 });
    await appendGrants(store, 't', uses('many', 'few', 'many'));
    expect(await usesLeft(store)).toEqual({ many: 1 });
  });

  test('keeps nothing of an append that fails inside', async () => {
    const store = sqliteStoreOn(nodeDriver(new DatabaseSync(':memory:')));
    await createGrants(store, plainGrant('g'));
    const again = appendGrants(store, 't', [{ type: 'create', grant: plainGrant('g') }]);
    await expect(again).rejects.toThrow('UNIQUE');
    expect(await store.read('t')).toEqual([]);
    expect(await store.head('t')).toBeUndefined();
  });

  test('makes an append in one round trip', async () => {
    const calls: number[] = [];
    const store = sqliteStoreOn(remoteDriver(new DatabaseSync(':memory:'), calls));
    await appendPlain(store, 't');
    const [schema, ...appends] = calls;
    expect(schema).toBeGreaterThan(3);
    await appendPlain(store, 't', { revision: 2 });
    expect([...appends, calls.length]).toEqual([2, 3]);
  });

  test('creates the tables again if that failed, and none with createSchema: false', async () => {
    const database = new DatabaseSync(':memory:');
    const driver = nodeDriver(database);
    let isDown = true;
    const store = sqliteStoreOn({
      query: (statement) => driver.query(statement),
      batch(statements) {
        if (isDown) throw new Error('The database is down.');
        return driver.batch(statements);
      },
    });
    await expect(store.head('t')).rejects.toThrow('down');
    isDown = false;
    expect(await store.head('t')).toBeUndefined();

    const migrated = new DatabaseSync(':memory:');
    const bare = sqliteStoreOn(nodeDriver(migrated), { createSchema: false });
    await expect(bare.head('t')).rejects.toThrow('no such table');
    migrated.exec(sqliteSchema);
    await appendPlain(bare, 't');
    expect(await bare.count({})).toBe(1);
  });

  test('opens a file of sqliteStore, and the other way round', async () => {
    await inFolder(async (folder) => {
      const path = join(folder, 'threads.sqlite');
      using file = sqliteStore(path);
      const database = new DatabaseSync(path);
      const store = sqliteStoreOn(nodeDriver(database), { createSchema: false });
      await appendPlain(file, 't');
      await appendPlain(store, 't', { revision: 2 });
      expect(await file.read('t')).toEqual(await store.read('t'));
      expect(await file.read('t')).toHaveLength(2);
      database.close();
    });
  });

  test('refuses an entry that is no text', async () => {
    const driver = nodeDriver(new DatabaseSync(':memory:'));
    const store = sqliteStoreOn({ ...driver, query: () => [[1, null]] });
    expect(await errorCode(store.read('t'))).toBe('log-tampered');
  });
});
