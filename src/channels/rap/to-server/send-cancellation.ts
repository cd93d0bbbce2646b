import type { DroppedCall } from '../../../agent/calls/answer-receiver.ts';
import { postJson } from '../post-json.ts';
import type { RemoteServer } from '../remote-server.ts';

/**
 * Tells a server that a call is not wanted any more, once. Whether it hears that, and what it does then, changes nothing here: the
 * call has ended, and its late result is dropped. Never rejects.
 */
export async function sendCancel(
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
