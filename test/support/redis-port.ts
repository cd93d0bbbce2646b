import type { LogEntry } from 'holdpoint';
import {
  selectRows,
  type StorePort,
  type StoreRow,
  type StoreTable,
} from 'holdpoint/stores/derive';

/** What is used of a Redis client. `watch` and `multi` belong to a connection, so that each write has one of its own. */
export interface Redis {
  get(key: string): Promise<string | null>;
  mget(keys: string[]): Promise<(string | null)[]>;
  smembers(key: string): Promise<string[]>;
  lrange(key: string, start: number, stop: number): Promise<string[]>;
  watch(keys: string[]): Promise<void>;
  /** Runs the commands as one, unless a watched key has changed: then nothing, and `null`. */
  multi(commands: readonly Command[]): Promise<unknown>;
  /** Ends the connection, and what it watches. */
  close(): Promise<void>;
}

type Command = [name: 'set' | 'del' | 'sadd' | 'srem' | 'rpush', key: string, value?: string];

const rowKey = (table: StoreTable, key: string) => `row:${table}:${key}`;

function parseRow(text: string | null): StoreRow | undefined {
  return text === null ? undefined : JSON.parse(text);
}

/** A store's port over Redis: a key for each row, a set of the keys of each table, and a list for each log. */
export function redisPort(redis: Redis, connect: () => Redis): StorePort {
  return {
    async read(threadId, afterRevision) {
      const texts = await redis.lrange(`log:${threadId}`, 0, -1);
      const entries = texts.map((text): LogEntry => JSON.parse(text));
      return entries.filter(({ revision }) => revision > afterRevision);
    },

    async get(table, key) {
      return parseRow(await redis.get(rowKey(table, key)));
    },

    async select(query) {
      const keys = await redis.smembers(`table:${query.table}`);
      const texts = await redis.mget(keys.map((key) => rowKey(query.table, key)));
      return selectRows(
        texts.flatMap((text) => parseRow(text) ?? []),
        query,
      );
    },

    async write(given) {
      const connection = connect();
      try {
        return await writeOn(connection, given);
      } finally {
        await connection.close();
      }
    },
  };
}

type StoreWrite = Parameters<StorePort['write']>[0];

async function writeOn(
  connection: Redis,
  { rows, appended, deletedLogs }: StoreWrite,
): Promise<boolean> {
  const keys = rows.map(({ table, key }) => rowKey(table, key));
  await connection.watch(keys);
  const versions = (await connection.mget(keys)).map((text) => parseRow(text)?.version);
  if (rows.some(({ before }, index) => before !== versions[index])) return false;
  const commands: Command[] = deletedLogs.map((threadId) => ['del', `log:${threadId}`]);
  for (const { table, key, after } of rows) {
    if (after === undefined) {
      commands.push(['del', rowKey(table, key)], ['srem', `table:${table}`, key]);
    } else {
      commands.push(['set', rowKey(table, key), JSON.stringify(after)]);
      commands.push(['sadd', `table:${table}`, key]);
    }
  }
  for (const entry of appended?.entries ?? []) {
    commands.push(['rpush', `log:${appended?.threadId}`, JSON.stringify(entry)]);
  }
  return (await connection.multi(commands)) !== null;
}
