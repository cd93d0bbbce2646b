import type { CallbackCall } from '../callback-url.ts';
import type { DroppedCall } from '../../../agent/calls.ts';
import { postJson } from '../post-json.ts';
import type { RemoteServer } from '../remote-server.ts';
import { messagesAbout } from './messages-about.ts';

/**
 * Notifies a server that a call has been cancelled. The response changes nothing here: the call has already ended, and a late
 * result will be dropped. Never rejects.
 */
export async function sendCancellation(
  server: RemoteServer,
  call: CallbackCall & Pick<DroppedCall, 'idempotencyKey'>,
): Promise<void> {
  const id = `${call.idempotencyKey ?? call.toolCallId}.cancel`;
  for (const body of await messagesAbout(server, call)) {
    await postJson(server, { id, url: server.cancelUrl, body, signal: undefined });
  }
}
