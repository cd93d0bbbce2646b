import { z } from 'zod';
import { postJson } from '../post-json.ts';
import type { RemoteServer } from '../remote-server.ts';

/** What a call that its server has lost came to. */
export const lost = {
  status: 'failed',
  error:
    'The tool server does not have this call any more. It is not known whether it took effect.',
} as const;

const statusSchema = z.object({ alive: z.literal(false) });

/**
 * Whether a server says that it has no record of a call. One that can't be reached, or answers anything else, has not said so. Never
 * rejects.
 */
export async function isLost(
  server: RemoteServer,
  { threadId, toolCallId }: { threadId: string; toolCallId: string },
  signal?: AbortSignal,
): Promise<boolean> {
  const posted = await postJson(server, {
    id: `${threadId}.${toolCallId}.status`,
    url: server.statusUrl,
    body: { thread_id: threadId, tool_call_id: toolCallId },
    signal,
    readBytes: 1_024,
  });
  if (posted.status !== 'taken') return false;
  try {
    return statusSchema.safeParse(JSON.parse(posted.text)).success;
  } catch {
    return false;
  }
}
