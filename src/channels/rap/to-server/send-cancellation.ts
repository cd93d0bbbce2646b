import type { DroppedCall } from '../../../agent/calls/answer-receiver.ts';
import { postJson } from '../post-json.ts';
import type { RemoteServer } from '../remote-server.ts';

/**
 * Notifies a server, once, that a call has been cancelled. The response changes nothing here: the call has already ended, and a late
 * result will be dropped. Never rejects.
 */
export async function sendCancellation(
  server: RemoteServer,
  {
    threadId,
    toolCallId,
    idempotencyKey,
  }: Pick<DroppedCall, 'threadId' | 'toolCallId' | 'idempotencyKey'>,
): Promise<void> {
  await postJson(server, {
    id: `${idempotencyKey ?? toolCallId}.cancel`,
    url: server.cancelUrl,
    body: { thread_id: threadId, tool_call_id: toolCallId },
    signal: undefined,
  });
}
