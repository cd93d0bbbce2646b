import { Chat } from '@ai-sdk/react';
import {
  type ChatInit,
  DefaultChatTransport,
  lastAssistantMessageIsCompleteWithApprovalResponses,
  type UIMessage,
} from 'ai';
import { prepareReconnectToStreamRequest, prepareSendMessagesRequest } from 'holdpoint/ui';

type Handler = (request: Request) => Promise<Response>;

/** What a page has sent, and got. */
export interface Exchange {
  method: string;
  url: string;
  body: unknown;
  status: number;
}

export const base = 'http://page.test';

/** A page with the AI SDK's own chat in it, whose requests go straight to the handler. */
export function chatPage(
  handler: Handler,
  init: Partial<ChatInit<UIMessage>> & { plainTransport?: boolean } = {},
) {
  const sent: Exchange[] = [];
  const { plainTransport = false, ...rest } = init;
  const transport = new DefaultChatTransport({
    api: '/chat',
    ...(plainTransport ? {} : { prepareSendMessagesRequest, prepareReconnectToStreamRequest }),
    fetch: async (url, options) => {
      const request = new Request(new URL(String(url), base), options);
      const text = typeof options?.body === 'string' ? options.body : 'null';
      const response = await handler(request);
      const { pathname, search } = new URL(request.url);
      sent.push({
        method: request.method,
        url: pathname + search,
        body: JSON.parse(text),
        status: response.status,
      });
      return response;
    },
  });
  const errors: Error[] = [];
  const chat = new Chat<UIMessage>({
    id: 't',
    transport,
    sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithApprovalResponses,
    onError: (error) => void errors.push(error),
    ...rest,
  });
  return { chat, sent, errors };
}
