import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ThreadEvent } from 'holdpoint';
import { threadEventSchema } from 'holdpoint/schemas';
import { z } from 'zod';

const golden = join(import.meta.dirname, '..', 'golden', 'thread-v1.json');
const threadSchema = z.object({
  threadId: z.string(),
  entries: z.array(z.object({ events: z.array(threadEventSchema) })),
});

/** The oldest released thread: its JSON text, and what it says. */
export function goldenThread(): { text: string; threadId: string; sound: ThreadEvent[] } {
  const text = readFileSync(golden, 'utf8').trim();
  const { threadId, entries } = threadSchema.parse(JSON.parse(text));
  return { text, threadId, sound: entries.flatMap(({ events }) => events) };
}
