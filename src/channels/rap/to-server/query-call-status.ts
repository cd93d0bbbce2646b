import { z } from 'zod';
import type { CallbackCall } from '../callback-url.ts';
import { postJson, type Posted } from '../post-json.ts';
import type { RemoteServer } from '../remote-server.ts';
import { messagesAbout } from './messages-about.ts';

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
  call: CallbackCall,
  signal?: AbortSignal,
): Promise<boolean> {
  const id = `${call.threadId}.${call.toolCallId}.status`;
  for (const body of await messagesAbout(server, call)) {
    const post = { id, url: server.statusUrl, body, signal, readBytes: 1_024 };
    if (!saysLost(await postJson(server, post))) return false;
  }
  return true;
}

function saysLost(posted: Posted): boolean {
  if (posted.status !== 'accepted') return false;
  try {
    return statusSchema.safeParse(JSON.parse(posted.text)).success;
  } catch {
    return false;
  }
}
