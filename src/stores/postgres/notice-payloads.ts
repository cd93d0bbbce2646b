import { z } from 'zod';
import type { StoreNotice } from '../../thread/thread-store.ts';

/** The channel of NOTIFY. */
export const noticeChannel = 'holdpoint';

/* Postgres rejects a payload of 8000 bytes or more, and the id of the table is added. */
const maximumBytes = 7_900;

/** A notice that was received. */
export interface Heard {
  notice: StoreNotice;
  /** The id of the table of threads that the notice is about; absent if the sender had none. */
  table: string | undefined;
}

const agent = z.string().exactOptional();
const noticeSchema = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('thread'),
    threadId: z.string(),
    agent,
    nextDeadline: z.number().exactOptional(),
    requestIds: z.array(z.string()).exactOptional(),
  }),
  z.object({
    type: z.literal('claim'),
    worker: z.string(),
    agent,
    threadId: z.string().exactOptional(),
    isFree: z.boolean(),
  }),
]);
const tableSchema = z.object({ table: z.string().optional() });

/**
 * Writes a notice as the payload of a notification. If it is too long, the payload is empty: any thread may have changed. A claim is then
 * left out, as nothing depends on it.
 */
export function stringifyNotice(notice: StoreNotice): string | undefined {
  const payload = JSON.stringify(notice);
  if (new TextEncoder().encode(payload).length <= maximumBytes) return payload;
  return notice.type === 'claim' ? undefined : '';
}

/** The notice in a payload; `undefined` for any other text. */
export function parseNotice(payload: string | undefined): Heard | undefined {
  try {
    const parsed: unknown = JSON.parse(payload ?? '');
    return { notice: noticeSchema.parse(parsed), table: tableSchema.parse(parsed).table };
  } catch {
    return undefined;
  }
}
