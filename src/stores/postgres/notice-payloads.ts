import { z } from 'zod';
import type { ClaimNotice, ThreadNotice } from '../../thread/thread-store.ts';

/** The channels of NOTIFY. */
export const channels = { threads: 'holdpoint', claims: 'holdpoint_claims' } as const;

/* Postgres rejects a payload of 8000 bytes or more, and the id of the table comes on top. */
const maximumBytes = 7_900;

function fits(payload: string): boolean {
  return new TextEncoder().encode(payload).length <= maximumBytes;
}

/** A notice that was received. */
export interface Heard<NOTICE> {
  notice: NOTICE;
  /** The id of the table of threads that the notice is about; absent if the sender had none. */
  table: string | undefined;
}

const noticeSchema = z.object({
  table: z.string().optional(),
  threadId: z.string(),
  agent: z.string().optional(),
  nextDeadline: z.number().optional(),
  requestIds: z.array(z.string()).optional(),
});

/** A notice as the payload of a notification. If the notice is too long, the payload is empty: any thread may have changed. */
export function stringifyNotice(notice: ThreadNotice): string {
  const payload = JSON.stringify(notice);
  return fits(payload) ? payload : '';
}

/** The notice in a payload; `undefined` for any other text. */
export function parseNotice(payload: string | undefined): Heard<ThreadNotice> | undefined {
  const parsed = parsePayload(noticeSchema, payload);
  if (parsed === undefined) return undefined;
  const { table, threadId, agent, nextDeadline, requestIds } = parsed;
  const notice = {
    threadId,
    ...(agent === undefined ? {} : { agent }),
    ...(nextDeadline === undefined ? {} : { nextDeadline }),
    ...(requestIds === undefined ? {} : { requestIds }),
  };
  return { table, notice };
}

const claimSchema = z.object({
  table: z.string().optional(),
  agent: z.string().optional(),
  worker: z.string(),
  threadId: z.string().optional(),
  isFree: z.boolean(),
});

/** A notice of a claim as the payload of a notification; `undefined` if it is too long. */
export function stringifyClaimNotice(notice: ClaimNotice): string | undefined {
  const payload = JSON.stringify(notice);
  return fits(payload) ? payload : undefined;
}

/** The notice of a claim in a payload; `undefined` for any other text. */
export function parseClaimNotice(payload: string | undefined): Heard<ClaimNotice> | undefined {
  const parsed = parsePayload(claimSchema, payload);
  if (parsed === undefined) return undefined;
  const { table, agent, worker, threadId, isFree } = parsed;
  const notice = {
    worker,
    isFree,
    ...(agent === undefined ? {} : { agent }),
    ...(threadId === undefined ? {} : { threadId }),
  };
  return { table, notice };
}

function parsePayload<PARSED>(
  schema: z.ZodType<PARSED>,
  payload: string | undefined,
): PARSED | undefined {
  try {
    return schema.parse(JSON.parse(payload ?? ''));
  } catch {
    return undefined;
  }
}
