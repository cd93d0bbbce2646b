import { EventEmitter } from 'node:events';
import { setImmediate } from 'node:timers/promises';
import { memoryStore, type StoreNotice, type ThreadStore } from 'holdpoint';
import { type PostgresPool, postgresStore } from 'holdpoint/stores/postgres';
import { sqliteStore } from 'holdpoint/stores/sqlite';
import { z } from 'zod';
import type { ClaimDraws } from './claim-draws.ts';
import type { MortalProcess } from './mortal-process.ts';
import type { StoreView } from './mortal-world.ts';
import { type NoticeLine, NoticeWire } from './notice-wire.ts';

/** Where processes keep their threads, and how they hear of each other. */
export interface ClaimGround extends Disposable {
  /** The store, for those who look on. */
  store: ThreadStore;
  /** The store as a process reaches it. The process may die between an append and its notice. */
  open(process: MortalProcess): ThreadStore;
  /** Lets a process hear nothing for a while. */
  deafen(process: MortalProcess, ms: number): void;
  /** Resolves when nothing can happen before the clock moves. */
  settle(): Promise<void>;
}

/** Makes a ground whose notices have the fates that are drawn, as far as the store leaves that to others. */
export type MakeClaimGround = (draws: ClaimDraws) => Promise<ClaimGround>;

type PostgresConnection = Awaited<ReturnType<PostgresPool['connect']>>;

/** A store in memory as `view` shows it, whose notices go as those of a database do. */
export function makeMemoryGrounds(view: StoreView): MakeClaimGround {
  return async (draws) => makeMemoryGround(draws, view(memoryStore()));
}

/** The same, of a store that is whole. */
export async function makeMemoryGround(
  draws: ClaimDraws,
  store: ThreadStore = memoryStore(),
): Promise<ClaimGround> {
  const wire = new NoticeWire<StoreNotice>(draws);
  return {
    store,
    open(process) {
      const line = wire.connect(process);
      return {
        ...store,
        async append(...input) {
          await store.append(...input);
          const [threadId, , , { agent, status, nextDeadline }] = input;
          if (status === 'running' || nextDeadline === undefined) return;
          const named = agent === undefined ? {} : { agent };
          process.call(() => wire.send({ type: 'thread', threadId, ...named, nextDeadline }));
        },
        subscribe: (listener) =>
          line.listen({
            hear: (heard) => listener(heard),
            reconnect: () => listener(),
          }),
        send(notice) {
          try {
            process.call(() => wire.send(notice));
          } catch {
            /* It dies of it, and nobody is told. */
          }
        },
      };
    },
    deafen: (process, ms) => wire.deafen(process, ms),
    settle: async () => setImmediate(),
    [Symbol.dispose]() {},
  };
}

/** SQLite files, each process with a connection of its own; a process hears of the others when it looks. */
export function makeSqliteGrounds(nextPath: () => string): MakeClaimGround {
  return async () => {
    const path = nextPath();
    const store = sqliteStore(path);
    const stores = [store];
    return {
      store,
      open() {
        const own = sqliteStore(path);
        stores.push(own);
        return own;
      },
      deafen() {},
      settle: async () => setImmediate(),
      [Symbol.dispose]: () => stores.forEach((each) => each.close()),
    };
  };
}

const options = { createSchema: false };

/** What NOTIFY sends. */
interface Notification {
  payload: string;
}

/** One Postgres database, emptied for each ground. Its notifications go over a wire, and its statements one by one. */
export function makePostgresGrounds(
  pool: PostgresPool,
  tables: readonly string[],
): MakeClaimGround {
  return async (draws) => {
    await pool.query({ text: `truncate ${tables.join()}` });
    const wire = new NoticeWire<Notification>(draws);
    const underWay = new Set<Promise<unknown>>();
    const query: PostgresPool['query'] = async (asked) => {
      const asking = pool.query(asked);
      underWay.add(asking);
      return asking.finally(() => underWay.delete(asking));
    };
    return {
      store: postgresStore(
        { query, connect: async () => pool.connect(), options: { max: 2 } },
        options,
      ),
      open(process) {
        const line = wire.connect(process);
        const own: PostgresPool = {
          connect: async () => listenOn(line),
          /* Its listeners have lines of their own. */
          options: { max: 2 },
          query(asked) {
            if (!asked.text.includes('pg_notify')) return query(asked);
            if (draws.mute()) throw new Error('The server can not be reached.');
            return notify(asked, (notification) => process.call(() => wire.send(notification)));
          },
        };
        return postgresStore(own, options);
      },
      deafen: (process, ms) => wire.deafen(process, ms),
      async settle() {
        do await setImmediate();
        while (underWay.size > 0);
      },
      [Symbol.dispose]() {},
    };
  };
}

/** Sends what a statement notifies. */
async function notify(
  { values }: Parameters<PostgresPool['query']>[0],
  send: (notification: Notification) => void,
): ReturnType<PostgresPool['query']> {
  const [payloads] = notifiedSchema.parse(values);
  for (const payload of payloads) send({ payload });
  return { rows: [], rowCount: 0 };
}

const notifiedSchema = z.tuple([z.array(z.string())]);

/** A connection that listens on a line, and drops when that is cut. */
function listenOn(line: NoticeLine<Notification>): PostgresConnection {
  if (line.isCut) throw new Error('The server can not be reached.');
  const events = new EventEmitter();
  const stop = line.listen({
    hear: (notification) => events.emit('notification', notification),
    lose() {
      void stop();
      events.emit('end');
    },
  });
  return {
    query: async () => ({ rows: [], rowCount: 0 }),
    on: events.on.bind(events),
    release: () => void stop(),
  };
}
