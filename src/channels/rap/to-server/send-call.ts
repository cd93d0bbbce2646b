import { z } from 'zod';
import type { ToolRunOptions } from '../../../agent/calls/execute-call.ts';
import { postJson } from '../post-json.ts';
import type { RemoteServer } from '../remote-server.ts';
import { sendCancel } from './send-cancellation.ts';

/** What a call is posted with. */
interface Invocation {
  input: unknown;
  operation: string | undefined;
  callbackUrl: URL;
  call: ToolRunOptions;
}

/** Posts a call to its server, once. Throws what the model is told when it is not known to have been taken. */
export async function invoke(
  server: RemoteServer,
  { input, operation, callbackUrl, call }: Invocation,
): Promise<void> {
  const { threadId, toolName, toolCallId, idempotencyKey, abortSignal } = call;
  if (threadId === undefined || toolName === undefined || idempotencyKey === undefined) {
    throw new Error('Not run: a remote tool runs in a holdpoint agent alone.');
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
    case 'taken':
      return;
    case 'refused':
      throw new Error(
        `Not run: the tool server refused the call (${posted.why})${reasonIn(posted.text)}.`,
      );
    case 'unreached':
      throw new Error(`Not run: the tool server can't be reached (${posted.why}).`);
    case 'unknown':
      void sendCancel(server, { threadId, toolCallId, idempotencyKey });
      throw new Error(
        `Whether the tool server got the call is not known (${posted.why}). It was sent once, and is not sent again; ` +
          'it may have been done, or be done yet.',
      );
  }
}

const refusalSchema = z.object({ error: z.object({ message: z.string() }) });
const maximumReasonLength = 500;

/* As `createToolServer` says it. Of what another server sends, the status must do. */
function reasonIn(text: string): string {
  try {
    const { error } = refusalSchema.parse(JSON.parse(text));
    return `: ${error.message.slice(0, maximumReasonLength).toWellFormed().replace(/\.$/, '')}`;
  } catch {
    return '';
  }
}
