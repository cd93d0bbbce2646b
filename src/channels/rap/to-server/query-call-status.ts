import { z } from 'zod';
import { postJson } from '../post-json.ts';
import type { RemoteServer } from '../remote-server.ts';

/** The outcome of a call that its server has lost. */
export const lostCallOutcome = {
  status: 'failed',
  error: 'The tool server no longer has this call. It is unknown whether it took effect.',
} as const;

const statusSchema = z.object({ alive: z.literal(false) });

/**
 * Asks a server whether it still has a call (`tool_call_status`). True only if the server says that it does not: a server that can't be
 * reached or answers anything else keeps its call. Never rejects.
 */
export async function isCallLost(
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
  if (posted.status !== 'accepted') return false;
  try {
    return statusSchema.safeParse(JSON.parse(posted.text)).success;
  } catch {
    return false;
  }
}
