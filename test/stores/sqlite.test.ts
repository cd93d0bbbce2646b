import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { StoreNotice } from 'holdpoint';
import { type SqliteStore, sqliteStore } from 'holdpoint/stores/sqlite';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { withSqliteStore } from '../support/with-sqlite-store.ts';
import { plainEnd, appendPlain, plainEntry, plainSummary } from '../support/plain-entries.ts';

/** Lets the microtasks pass in which listeners are called. */
const settle = async (): Promise<void> => {
  await Promise.resolve();
};

describe('a deleted thread', () => {
  const marker = 'the-secret-of-thread';

  /** The files of the folder that hold the marker. */
  function holders(folder: string): string[] {
    return readdirSync(folder).filter((name) => readFileSync(join(folder, name)).includes(marker));
  }

  /* Sizes on both sides of a page of 4,096 bytes, in an order that splits and merges pages. */
  async function fill(store: SqliteStore): Promise<number> {
    let revision = 0;
    for (let round = 0; round < 60; round += 1) {
      const text = `${marker} ${'x'.repeat((round * 977) % 9_000)}`;
      for (const id of [`a${round}`, `z${round % 7}${round}`]) {
        const other = plainEntry(1, 'other '.repeat((round * 131) % 1_500));
        await store.append(id, plainEnd(0), [other], plainSummary(id));
      }
      const head = { revision: revision + 2, agent: marker };
      const entries = [plainEntry(revision + 1, text), plainEntry(revision + 2, marker)];
      await store.append(marker, plainEnd(revision), entries, plainSummary(marker, head));
      revision += 2;
    }
    return revision;
  }

  test('leaves no byte in the files, in small entries or large ones', async () => {
    await withSqliteStore(async (store, _path, folder) => {
      const revision = await fill(store);
      expect(holders(folder)).not.toEqual([]);
      await store.delete(marker, plainEnd(revision));
      expect(holders(folder)).toEqual([]);
      expect(await store.count({})).toBe(120);
    });
  });

  test('is out of the write-ahead log with the next append, where another process was reading', async () => {
    await withSqliteStore(async (store, path, folder) => {
      const revision = await fill(store);
      const reader = new DatabaseSync(path);
      reader.exec('begin; select count(*) from holdpoint_threads');
      await store.delete(marker, plainEnd(revision));
      expect(holders(folder)).not.toEqual([]);
      reader.close();
      await appendPlain(store, 'next');
      expect(holders(folder)).toEqual([]);
    });
  });
});

describe('a claim', () => {
  const claim = { agent: null, dueBefore: 10, until: 20, limit: 1 };

  test('that finds nothing due waits for no writer, and one that finds something does', async () => {
    await withSqliteStore(async (_, path) => {
      using store = sqliteStore(path, { busyTimeoutMs: 1 });
      const writer = new DatabaseSync(path);
      writer.exec('begin immediate');
      expect(await store.claim(claim)).toEqual([]);
      writer.exec('rollback');
      await appendPlain(store, 't', { nextDeadline: 1 });
      writer.exec('begin immediate');
      await expect(store.claim(claim)).rejects.toThrow('locked');
      writer.close();
      expect(await store.claim(claim)).toHaveLength(1);
    });
  });
});

describe('subscribe', () => {
  afterEach(() => {
    vi.useRealTimers();
  });

  type Heard = (StoreNotice | undefined)[];
  const due = { nextDeadline: 5, status: 'waiting' } as const;

  test('hears of appends by this store at once, and of those by other processes within 50 ms', async () => {
    vi.useFakeTimers();
    await withSqliteStore(async (store, path) => {
      using other = sqliteStore(path);
      const heard: Heard = [];
      const stop = store.subscribe((notice) => heard.push(notice));
      await appendPlain(store, 't', { ...due, agent: 'booking' });
      await settle();
      const notice = { type: 'thread', threadId: 't', agent: 'booking', nextDeadline: 5 };
      expect(heard).toEqual([notice]);
      await vi.advanceTimersByTimeAsync(1_000);
      expect(heard).toEqual([notice]);
      await appendPlain(other, 'u', due);
      await vi.advanceTimersByTimeAsync(50);
      expect(heard).toEqual([notice, undefined]);
      await vi.advanceTimersByTimeAsync(1_000);
      expect(heard).toHaveLength(2);
      await stop();
    });
  });

  test('is silent about own appends that leave the thread running or without a deadline', async () => {
    await withSqliteStore(async (store) => {
      const heard: Heard = [];
      const stop = store.subscribe((notice) => heard.push(notice));
      await appendPlain(store, 'running', { status: 'running', nextDeadline: 5 });
      await appendPlain(store, 'idle');
      await expect(appendPlain(store, 'idle', due)).rejects.toThrow('revision');
      await settle();
      expect(heard).toEqual([]);
      await stop();
    });
  });

  test('has one timer for all subscribers, which ends with the last of them', async () => {
    vi.useFakeTimers();
    await withSqliteStore(async (store) => {
      const heard: string[] = [];
      const stops = ['a', 'b', 'c'].map((name) => store.subscribe(() => heard.push(name)));
      expect(vi.getTimerCount()).toBe(1);
      await stops[0]?.();
      await stops[0]?.();
      await appendPlain(store, 't', due);
      await settle();
      expect(heard).toEqual(['b', 'c']);
      for (const stop of stops) await stop();
      expect(vi.getTimerCount()).toBe(0);
      const stopAgain = store.subscribe(() => heard.push('again'));
      expect(vi.getTimerCount()).toBe(1);
      await stopAgain();
    });
  });

  test('sends nothing to a subscriber that unsubscribed before its notice came', async () => {
    await withSqliteStore(async (store) => {
      const heard: string[] = [];
      const stop = store.subscribe(() => heard.push('gone'));
      const stopOther = store.subscribe(() => heard.push('there'));
      const appending = appendPlain(store, 't', due);
      await stop();
      await appending;
      await settle();
      expect(heard).toEqual(['there']);
      await stopOther();
    });
  });

  test('ends when the store is closed', async () => {
    vi.useFakeTimers();
    await withSqliteStore(async (store) => {
      const heard: Heard = [];
      const stop = store.subscribe((notice) => heard.push(notice));
      store.close();
      expect(vi.getTimerCount()).toBe(0);
      await stop();
      store.close();
      expect(heard).toEqual([]);
      expect(() => store.subscribe(() => {})).toThrow('closed');
      expect(vi.getTimerCount()).toBe(0);
    });
  });
});
