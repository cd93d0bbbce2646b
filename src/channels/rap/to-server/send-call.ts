import { z } from 'zod';
import type { ToolRunOptions } from '../../../agent/calls.ts';
import { parseJson } from '../../../content/parse-json.ts';
import { hashText } from '../../../content/sha256.ts';
import { postJson } from '../post-json.ts';
import type { RemoteServer } from '../remote-server.ts';
import { sendCancellation } from './call-messages.ts';

/** A call to send. */
interface RemoteCall {
  input: unknown;
  operation: string | undefined;
  call: ToolRunOptions;
}

/** Posts a call to its server, once. Throws an error for the model unless the server has accepted the call. */
export async function sendCall(
  server: RemoteServer,
  { input, operation, call }: RemoteCall,
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
    callback_url: await server.keys.urlFor(server.callbackUrl, { threadId, toolName, toolCallId }),
    group_id: threadId,
    ...(await makeUserFields(call)),
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
        `Not run: the tool server refused the call (${posted.why})${parseReason(posted.text)}.`,
      );
    case 'unreachable':
      throw new Error(`Not run: the tool server can't be reached (${posted.why}).`);
    case 'unknown':
      void sendCancellation(server, { threadId, toolName, toolCallId, idempotencyKey });
      throw new Error(
        `It is unknown whether the tool server received the call (${posted.why}). It was sent once and will not be sent ` +
          'again; it may have run, or may still run.',
      );
  }
}

/*
 * For whom the call is made, so that what the server remembers for one user serves nobody else. Several people, and one without an id, are
 * known by a digest; somebody unknown among them may be anybody, so then no other call has the same.
 */
async function makeUserFields({
  requester,
  requesters = [],
  threadId,
  idempotencyKey,
}: ToolRunOptions): Promise<{ user_id: string } | { requesters_digest: string } | undefined> {
  if (requester !== undefined && requester.length <= maximumIdLength) return { user_id: requester };
  if (requesters.every((each) => each === null)) return undefined;
  const own = requesters.includes(null) ? idempotencyKey : null;
  const people = requesters.map((each) => JSON.stringify(each)).toSorted();
  const text = JSON.stringify([threadId, own, ...people]);
  return { requesters_digest: await hashText(`holdpoint/rap-requesters/v1\0${text}`) };
}

const maximumIdLength = 1_000;

const refusalSchema = z.object({ error: z.object({ message: z.string() }) });
const maximumReasonLength = 500;

/* The error that `createToolServer` responds with. For other servers, the HTTP status must be enough. */
function parseReason(text: string): string {
  const { data } = refusalSchema.safeParse(parseJson(text));
  if (data === undefined) return '';
  const { message } = data.error;
  return `: ${message.slice(0, maximumReasonLength).toWellFormed().replace(/\.$/, '')}`;
}
