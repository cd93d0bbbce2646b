import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { memoryStore, type ThreadStore } from 'holdpoint';
import { sqliteStore } from 'holdpoint/stores/sqlite';

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

/** Every store of the package. */
export const storeKits: StoreKit[] = [memoryKit, sqliteKit];
