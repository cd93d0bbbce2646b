import { z } from 'zod';
import type { ThreadNotice } from '../../thread/thread-store.ts';

/* Postgres rejects a payload of 8000 bytes or more, and with it the append. */
const maximumBytes = 7999;

const noticeSchema = z.object({
  threadId: z.string(),
  agent: z.string().optional(),
  nextDeadline: z.number().optional(),
});

/** A notice as the payload of a notification. If the notice is too long, the payload is empty: any thread may have changed. */
export function payloadOf(notice: ThreadNotice): string {
  const payload = JSON.stringify(notice);
  return new TextEncoder().encode(payload).length > maximumBytes ? '' : payload;
}

/** The notice in a payload; `undefined` for any other text. */
export function noticeOfPayload(payload: string | undefined): ThreadNotice | undefined {
  try {
    const { threadId, agent, nextDeadline } = noticeSchema.parse(JSON.parse(payload ?? ''));
    return {
      threadId,
      ...(agent === undefined ? {} : { agent }),
      ...(nextDeadline === undefined ? {} : { nextDeadline }),
    };
  } catch {
    return undefined;
  }
}
