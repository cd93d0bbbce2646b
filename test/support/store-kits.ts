import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { memoryStore, type ThreadStore } from 'holdpoint';
import { deriveStore } from 'holdpoint/stores/derive';
import { sqliteStore } from 'holdpoint/stores/sqlite';
import { FakeRedis } from './fake-redis.ts';
import { redisPort } from './redis-port.ts';

/** Where the threads of one test are kept. */
export interface KeptThreads extends Disposable {
  /** The store as another process would open it. */
  open(): ThreadStore;
}

/** A kind of store, for tests that hold with every one. */
export interface StoreKit {
  name: string;
  keep(): KeptThreads;
}

export const memoryKit: StoreKit = {
  name: 'memoryStore',
  keep() {
    const store = memoryStore();
    return { open: () => store, [Symbol.dispose]() {} };
  },
};

const sqliteKit: StoreKit = {
  name: 'sqliteStore',
  keep() {
    const folder = mkdtempSync(join(tmpdir(), 'holdpoint-'));
    const opened: Disposable[] = [];
    return {
      open() {
        const store = sqliteStore(join(folder, 'threads.sqlite'));
        opened.push(store);
        return store;
      },
      [Symbol.dispose]() {
        for (const store of opened) store[Symbol.dispose]();
        rmSync(folder, { recursive: true });
      },
    };
  },
};

/** The store of the guide for stores of one's own, on a Redis server in memory. */
const redisKit: StoreKit = {
  name: 'deriveStore(redisPort)',
  keep() {
    const server = new FakeRedis();
    const connect = () => server.connect();
    return { open: () => deriveStore(redisPort(connect(), connect)), [Symbol.dispose]() {} };
  },
};

/** Every store of the package. */
export const storeKits: StoreKit[] = [memoryKit, sqliteKit];

/** These, and one that is derived from a port. */
export const allStoreKits: StoreKit[] = [...storeKits, redisKit];
