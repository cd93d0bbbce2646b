import type { DroppedCall } from '../../../agent/calls.ts';
import type { CallbackCall } from '../callback-url.ts';
import type { RemoteServer } from '../remote-server.ts';
import { z } from 'zod';
import { parseJson } from '../../../content/parse-json.ts';
import { type Posted, postJson } from '../post-json.ts';

/**
 * The bodies of a message about a call: one, or, where messages aren't signed, one for each callback URL that the call may have. The server
 * knows a caller by its signature, or else by this URL.
 */
async function makeMessagesAbout(
  { signatures, keys, callbackUrl }: RemoteServer,
  { threadId, toolName, toolCallId }: CallbackCall,
): Promise<object[]> {
  const message = { thread_id: threadId, tool_call_id: toolCallId };
  if (signatures !== undefined) return [message];
  const urls = await keys.urlsFor(callbackUrl, { threadId, toolName, toolCallId });
  return urls.map((callback_url) => ({ ...message, callback_url }));
}

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
  for (const body of await makeMessagesAbout(server, call)) {
    const post = { id, url: server.statusUrl, body, signal, readBytes: 1_024 };
    if (!saysLost(await postJson(server, post))) return false;
  }
  return true;
}

function saysLost(posted: Posted): boolean {
  return posted.status === 'accepted' && statusSchema.safeParse(parseJson(posted.text)).success;
}

/**
 * Notifies a server that a call has been cancelled. The response changes nothing here: the call has already ended, and a late
 * result will be dropped. Never rejects.
 */
export async function sendCancellation(
  server: RemoteServer,
  call: CallbackCall & Pick<DroppedCall, 'idempotencyKey'>,
): Promise<void> {
  const id = `${call.idempotencyKey ?? call.toolCallId}.cancel`;
  for (const body of await makeMessagesAbout(server, call)) {
    await postJson(server, { id, url: server.cancelUrl, body, signal: undefined });
  }
}
