import { APICallError } from 'ai';

/** A `Chat` of the AI SDK, or what `useChat` returns. */
interface StoppableChat {
  id: string;
  stop: () => Promise<void>;
  resumeStream: () => Promise<void>;
}

/** How the route is reached: the same settings as those of `DefaultChatTransport`. */
export interface StopChatOptions {
  /** Default `/api/chat`. */
  api?: string;
  headers?: Record<string, string> | Headers;
  credentials?: NonNullable<RequestInit['credentials']>;
  fetch?: typeof globalThis.fetch;
}

/**
 * Stops the reply: the server ends the run and keeps the text so far, then the page shows what is recorded, and the next message is
 * accepted. The chat's own `stop()` only closes the page's connection, and the run continues.
 *
 * Resolves when the run has ended. Rejects with an `APICallError` if the server refuses, and with the error of `fetch` if it can't be
 * reached; the run then continues.
 *
 * @example
 * const chat = useChat({ id, transport });
 * <button onClick={() => void stopChat(chat, { api: '/chat' })}>Stop</button>
 */
export async function stopChat(
  chat: StoppableChat,
  { api = '/api/chat', headers, credentials, fetch = globalThis.fetch }: StopChatOptions = {},
): Promise<void> {
  const body = { id: chat.id, stop: true };
  const sent = new Headers(headers);
  sent.set('content-type', 'application/json');
  const response = await fetch(api, {
    method: 'POST',
    headers: sent,
    body: JSON.stringify(body),
    ...(credentials === undefined ? {} : { credentials }),
  });
  const responseBody = await response.text();
  if (!response.ok) {
    const { status: statusCode } = response;
    throw new APICallError({
      message: responseBody,
      url: api,
      requestBodyValues: undefined,
      statusCode,
      responseBody,
    });
  }
  await chat.stop();
  await chat.resumeStream();
}
