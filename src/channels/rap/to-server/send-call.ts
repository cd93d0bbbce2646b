import { z } from 'zod';
import type { ToolRunOptions } from '../../../agent/calls/execute-call.ts';
import { postJson } from '../post-json.ts';
import type { RemoteServer } from '../remote-server.ts';
import { sendCancellation } from './send-cancellation.ts';

/** A call, and the URL for its result. */
interface RemoteCall {
  input: unknown;
  operation: string | undefined;
  callbackUrl: URL;
  call: ToolRunOptions;
}

/** Posts a call to its server, once. Throws an error for the model unless the server has accepted the call. */
export async function sendCall(
  server: RemoteServer,
  { input, operation, callbackUrl, call }: RemoteCall,
): Promise<void> {
  const { threadId, toolName, toolCallId, idempotencyKey, abortSignal } = call;
  if (threadId === undefined || toolName === undefined || idempotencyKey === undefined) {
    throw new Error('Not run: a remote tool only runs in a holdpoint agent.');
  }
  const body = {
    operation: operation ?? toolName,
    arguments: input,
    id: toolCallId,
    call_id: idempotencyKey,
    callback_url: await server.keys.urlFor(callbackUrl, { threadId, toolName, toolCallId }),
    group_id: threadId,
  };
  const posted = await postJson(server, {
    id: idempotencyKey,
    url: server.endpoint,
    body,
    signal: abortSignal,
    readBytes: 4_096,
  });
  switch (posted.status) {
    case 'accepted':
      return;
    case 'refused':
      throw new Error(
        `Not run: the tool server refused the call (${posted.why})${reasonIn(posted.text)}.`,
      );
    case 'unreachable':
      throw new Error(`Not run: the tool server can't be reached (${posted.why}).`);
    case 'unknown':
      void sendCancellation(server, { threadId, toolCallId, idempotencyKey });
      throw new Error(
        `It is unknown whether the tool server received the call (${posted.why}). It was sent once and will not be sent ` +
          'again; it may have run, or may still run.',
      );
  }
}

const refusalSchema = z.object({ error: z.object({ message: z.string() }) });
const maximumReasonLength = 500;

/* The error that `createToolServer` responds with. For other servers, the HTTP status must be enough. */
function reasonIn(text: string): string {
  try {
    const { error } = refusalSchema.parse(JSON.parse(text));
    return `: ${error.message.slice(0, maximumReasonLength).toWellFormed().replace(/\.$/, '')}`;
  } catch {
    return '';
  }
}
