import type { CallbackCall } from '../callback-url.ts';
import type { RemoteServer } from '../remote-server.ts';

/**
 * The bodies of a message about a call: one, or, where messages aren't signed, one for each callback URL that the call may have. The server
 * knows a caller by its signature, or else by this URL.
 */
export async function messagesAbout(
  { signatures, keys, callbackUrl }: RemoteServer,
  { threadId, toolName, toolCallId }: CallbackCall,
): Promise<object[]> {
  const message = { thread_id: threadId, tool_call_id: toolCallId };
  if (signatures !== undefined) return [message];
  const urls = await keys.urlsFor(callbackUrl, { threadId, toolName, toolCallId });
  return urls.map((callback_url) => ({ ...message, callback_url }));
}
