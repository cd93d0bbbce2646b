import { z } from 'zod';
import type { ThreadNotice } from '../../thread/thread-store.ts';

/* Postgres refuses a payload of 8000 bytes or more, and the append with it. */
const maximumBytes = 7999;

const noticeSchema = z.object({
  threadId: z.string(),
  agent: z.string().optional(),
  nextDeadline: z.number().optional(),
});

/** What a notification says. It is empty, which means "anything may have changed", where the notice is too long. */
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
