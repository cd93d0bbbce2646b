import {
  DefaultChatTransport,
  type HttpChatTransportInitOptions,
  isToolUIPart,
  type PrepareReconnectToStreamRequest,
  type PrepareSendMessagesRequest,
  type UIMessage,
  APICallError,
} from 'ai';
import { z } from 'zod';
import { listPageAnswers } from '../input/answers-in-message.ts';

const bodySchema = z.looseObject({
  answers: z.array(z.unknown()).optional(),
  outputs: z.array(z.unknown()).optional(),
});
const metadataSchema = z.looseObject({ revision: z.number() });

/**
 * For `DefaultChatTransport`: sends the user's message, and the unrecorded results and answers in the assistant's last message, never the
 * rest of the history. `answers` are those that a person gave on this page; an answer that may have been loaded with the message is sent as
 * part of it, and counts only at its very end. The `body` given to `sendMessage` is sent too: `{ answers: [response] }` answers questions.
 *
 * @example
 * const transport = new DefaultChatTransport({ api: '/chat', prepareSendMessagesRequest, prepareReconnectToStreamRequest });
 */
export const prepareSendMessagesRequest: PrepareSendMessagesRequest<UIMessage> = (request) =>
  makeChatBody(request);

/** `isGiven`: checks whether a person has answered a request on this page. Default: judged by the parts. */
function makeChatBody(
  { id, messages, messageId, trigger, body }: Parameters<PrepareSendMessagesRequest<UIMessage>>[0],
  isGiven?: (requestId: string) => boolean,
): { body: object } {
  const { answers = [], outputs = [], ...rest } = bodySchema.parse(body ?? {});
  const named = messages.find((each) => each.id === messageId);
  const message = named ?? messages.at(-1);
  const reply = messages.findLast(({ role }) => role === 'assistant');
  const holder = message?.role === 'assistant' ? message : reply;
  const given = listPageAnswers(holder);
  const isOwn = ({ requestId, isGivenHere }: (typeof given)[number]): boolean =>
    isGiven?.(requestId) ?? isGivenHere;
  const own = given.filter(isOwn).map(({ answer, requestId }) => ({ ...answer, requestId }));
  const unsent = omitEmpty({
    answers: [...own, ...answers],
    outputs: [...listClientOutputs(holder), ...outputs],
  });
  const isUser = message?.role === 'user';
  /* A named message is not new: `sendMessage(undefined, …)` sends answers while a refused message is still last. */
  const isPassedOver = isUser && named !== undefined && answers.length + outputs.length > 0;
  const isRegenerate = trigger === 'regenerate-message' || isPassedOver;
  const shown = isGiven === undefined && !isRegenerate ? given : [];
  /* With a reason its source is unknown: it counts at the very end. */
  const last = isUser
    ? []
    : shown.filter((each) => isOwn(each) || each.answer.reason !== undefined);
  const loaded = shown.filter((each) => !isOwn(each) && !last.includes(each));
  const withParts = (parts: typeof given): object => ({
    id: holder?.id,
    role: 'assistant',
    parts: parts.map(({ part }) => part),
  });
  return {
    body: {
      ...rest,
      id,
      ...(isRegenerate ? { trigger: 'regenerate-message' } : {}),
      ...(isUser && !isPassedOver ? { message } : {}),
      ...(loaded.length > 0 ? { messages: [withParts(loaded)] } : {}),
      ...(!isUser && shown.length > 0 ? { message: withParts(last) } : {}),
      ...unsent,
      ...readRevisionSeen(holder, isUser),
    },
  };
}

/** Lists the results in a message of calls that the page ran, without those that the thread has confirmed. */
function listClientOutputs(message: UIMessage | undefined): unknown[] {
  return (message?.parts ?? []).flatMap((part): unknown[] => {
    if (!isToolUIPart(part) || part.toolMetadata?.['clientTool'] !== true) return [];
    const { toolCallId } = part;
    if (part.state === 'output-error') return [{ toolCallId, errorText: part.errorText }];
    const isFinal = part.state === 'output-available' && part.preliminary !== true;
    return isFinal ? [{ toolCallId, output: part.output }] : [];
  });
}

/* Without an assistant message, the page has seen no revision. */
function readRevisionSeen(message: UIMessage | undefined, isUser: boolean): { revision?: number } {
  const { revision } = metadataSchema.safeParse(message?.metadata).data ?? {};
  if (revision !== undefined) return { revision };
  return isUser && message === undefined ? { revision: 0 } : {};
}

function omitEmpty(lists: Record<string, unknown[]>): Record<string, unknown[]> {
  return Object.fromEntries(Object.entries(lists).filter(([, list]) => list.length > 0));
}

/** For `DefaultChatTransport`: requests the running turn after a reload or a lost connection, at the same route: `?id=…&stream`. */
export const prepareReconnectToStreamRequest: PrepareReconnectToStreamRequest = ({ id, api }) => ({
  api: `${api}${api.includes('?') ? '&' : '?'}id=${encodeURIComponent(id)}&stream`,
});

/** The AI SDK's transport for a thread. */
export function makeThreadTransport({
  isGiven,
  ...options
}: Pick<HttpChatTransportInitOptions<UIMessage>, 'api' | 'headers' | 'fetch'> & {
  isGiven: (requestId: string) => boolean;
}): DefaultChatTransport<UIMessage> {
  return new DefaultChatTransport({
    ...options,
    prepareSendMessagesRequest: (request) => makeChatBody(request, isGiven),
    prepareReconnectToStreamRequest,
  });
}

/**
 * For `sendAutomaticallyWhen`: sends as soon as one request is answered, so that an approved call runs while the others wait, also if a
 * refused message is below them. The AI SDK's `lastAssistantMessageIsCompleteWithApprovalResponses` sends only when all are answered.
 */
export function lastAssistantMessageHasApprovalResponses({
  messages,
}: {
  /** The messages of the chat, oldest first. */
  messages: readonly UIMessage[];
}): boolean {
  const last = messages.findLast(({ role }) => role === 'assistant');
  return (
    last?.parts.some((part) => isToolUIPart(part) && part.state === 'approval-responded') ?? false
  );
}

/** A `Chat` of the AI SDK, or what `useChat` returns. */
interface StoppableChat {
  /** The id of the chat, which is that of the thread. */
  id: string;
  /** Ends the stream in this page: `stop` of `useChat`. */
  stop: () => Promise<void>;
  /** Reads the stream again: `resumeStream` of `useChat`. */
  resumeStream: () => Promise<void>;
}

/** The settings for requests to the route, as in `DefaultChatTransport`. */
export interface StopChatOptions {
  /** Default `/api/chat`. */
  api?: string;
  /** Sent with the request: the transport's option. */
  headers?: Record<string, string> | Headers;
  /** The request's credentials: the transport's option. */
  credentials?: NonNullable<RequestInit['credentials']>;
  /** Sends the request: the transport's option. Default: the page's own. */
  fetch?: typeof globalThis.fetch;
}

/**
 * Stops the reply: the server ends the run and keeps the text so far, the page shows the recorded messages, and the next message is
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
