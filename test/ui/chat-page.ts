import { Chat } from '@ai-sdk/react';
import {
  type ChatInit,
  DefaultChatTransport,
  isToolUIPart,
  lastAssistantMessageIsCompleteWithApprovalResponses,
  type UIMessage,
} from 'ai';
import { prepareReconnectToStreamRequest, prepareSendMessagesRequest } from 'holdpoint/ui';

/** A route, as `createUiHandler` makes it. */
export type Handler = (request: Request) => Promise<Response>;

/** What a page has sent, and the status it got. */
interface Exchange {
  method: string;
  url: string;
  body: unknown;
  status: number;
}

/** How a page is made: as a chat of the AI SDK, or with the AI SDK's own transport, which sends the whole history. */
export interface PageOptions extends Partial<ChatInit<UIMessage>> {
  sendsHistory?: boolean;
}

/** Where pages of tests are. */
export const origin = 'http://page.test';

/** A page with the AI SDK's own chat in it, whose requests go straight to the handler. */
export function chatPage(handler: Handler, { sendsHistory = false, ...init }: PageOptions = {}) {
  const sent: Exchange[] = [];
  const errors: Error[] = [];
  let open = 0;
  const fetchRoute = async (
    url: string | URL | Request,
    options?: RequestInit,
  ): Promise<Response> => {
    if (sent.length > 30) throw new Error('The page sends for ever.');
    open += 1;
    try {
      const request = new Request(new URL(urlOf(url), origin), options);
      const body = request.method === 'POST' ? await request.clone().json() : undefined;
      const response = await handler(request);
      sent.push({ method: request.method, url: request.url, body, status: response.status });
      return response;
    } finally {
      open -= 1;
    }
  };
  const transport = new DefaultChatTransport({
    api: '/chat',
    fetch: fetchRoute,
    ...(sendsHistory ? {} : { prepareSendMessagesRequest, prepareReconnectToStreamRequest }),
  });
  const chat = new Chat<UIMessage>({
    id: 't',
    transport,
    sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithApprovalResponses,
    onError: (error) => void errors.push(error),
    ...init,
  });
  /** Waits until the page has sent all that it sends by itself, and has read what came. */
  const quiet = async (): Promise<void> => {
    for (let calm = 0; calm < 20; calm += 1) {
      if (open > 0 || chat.status === 'submitted' || chat.status === 'streaming') calm = 0;
      await new Promise(setImmediate);
    }
  };
  const respond = async (id: string, approved: boolean, reason?: string): Promise<void> => {
    await chat.addToolApprovalResponse({
      id,
      approved,
      ...(reason === undefined ? {} : { reason }),
    });
    await quiet();
  };
  return { chat, sent, errors, quiet, respond };
}

/** What a request goes to. */
export function urlOf(url: string | URL | Request): string {
  if (typeof url === 'string') return url;
  return url instanceof URL ? url.href : url.url;
}

/** The tool parts of a page's messages, oldest first. */
export function toolParts(messages: readonly UIMessage[]) {
  return messages.flatMap(({ parts }) => parts.filter(isToolUIPart));
}

/** The ids of the requests that a page shows as open. */
export function openApprovals(messages: readonly UIMessage[]): string[] {
  return toolParts(messages).flatMap((part) =>
    part.state === 'approval-requested' ? [part.approval.id] : [],
  );
}

/** The text of the last message. */
export function lastText(messages: readonly UIMessage[]): string {
  return (messages.at(-1)?.parts ?? [])
    .map((part) => (part.type === 'text' ? part.text : ''))
    .join('');
}

/** Messages as JSON. */
export function comparable(messages: readonly UIMessage[]): unknown {
  const plain: UIMessage[] = JSON.parse(JSON.stringify(messages));
  return plain.map(({ id, role, parts, metadata }) => ({ id, role, metadata, parts }));
}

/** A request to the route. */
export function post(body: unknown, headers: Record<string, string> = {}): Request {
  return new Request(`${origin}/chat`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
}

/** The chunks of a streamed response. */
export async function chunksOf(
  response: Response,
): Promise<{ type: string; [key: string]: unknown }[]> {
  const text = await response.text();
  return text
    .split('\n\n')
    .map((line) => line.replace(/^data: /, ''))
    .filter((data) => data.startsWith('{'))
    .map((data) => JSON.parse(data));
}
