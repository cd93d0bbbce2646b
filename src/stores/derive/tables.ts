import { z } from 'zod';
import { HoldpointError } from '../../errors.ts';
import { feedChangeTypes } from '../../thread/thread-store-requests.ts';
import type { KeptChange } from '../rows/tables.ts';
import { ascending, declareTable, type Table } from '../rows/table.ts';
import type { RowOrder } from '../rows/row-query.ts';
import type { StoreRow } from './store-port.ts';

/** The value in a row. Throws `log-tampered` for one that no holdpoint has written. */
export function parseRow<ROW>({ name, schema }: Table<ROW>, { text }: StoreRow): ROW {
  try {
    return schema.parse(JSON.parse(text));
  } catch (cause) {
    throw new HoldpointError(
      'log-tampered',
      `The table ${name} of the store has an invalid row. Restore the database from a backup.`,
      { cause },
    );
  }
}

export const dueOrder: readonly RowOrder[] = [ascending('nextDeadline'), ascending('key')];

export const changes = declareTable<KeptChange>({
  name: 'changes',
  key: 'position',
  kinds: { position: 'time', type: 'text', requestId: 'text', threadId: 'text', madeAt: 'time' },
  schema: z.object({
    position: z.number(),
    type: z.enum(feedChangeTypes),
    requestId: z.string(),
    threadId: z.string(),
    madeAt: z.number(),
  }),
});

export const changeOrder: readonly RowOrder[] = [ascending('position'), ascending('key')];

export const snapshots = declareTable<{ threadId: string; snapshot: string }>({
  name: 'snapshots',
  key: 'threadId',
  kinds: { threadId: 'text', snapshot: 'text' },
  schema: z.object({ threadId: z.string(), snapshot: z.string() }),
});

/** The last position in the feed: each added change increments it, so that changes become durable in the order of their positions. */
export const counters = declareTable<{ name: 'changes'; last: number }>({
  name: 'counters',
  key: 'name',
  kinds: { name: 'text', last: 'count' },
  schema: z.object({ name: z.literal('changes'), last: z.number() }),
});
