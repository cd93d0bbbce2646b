import { Chat } from '@ai-sdk/react';
import {
  createAgentUIStreamResponse,
  DefaultChatTransport,
  lastAssistantMessageIsCompleteWithApprovalResponses,
  ToolLoopAgent,
  type ToolSet,
  type UIMessage,
  type wrapLanguageModel,
} from 'ai';
import { z } from 'zod';

/** A server for `useChat`, and what came to it. */
export interface ChatServer {
  bodies: unknown[];
  /** The next reply is lost on its way: the server has done its work, and the page sees a dead line. */
  loseReply(): void;
  /** A chat as a browser tab has it. */
  chat(messages?: UIMessage[]): Chat<UIMessage>;
}

/** Serves a held model to chats, as an app would: a `ToolLoopAgent` a request, the thread named by the chat's id. */
export function chatServer(
  model: ReturnType<typeof wrapLanguageModel>,
  tools: ToolSet = {},
  person: () => string | undefined = () => undefined,
): ChatServer {
  const bodies: unknown[] = [];
  let losing = false;
  const serve = async (_url: unknown, init?: RequestInit): Promise<Response> => {
    const body = JSON.parse(typeof init?.body === 'string' ? init.body : '');
    bodies.push(body);
    const { id: threadId, messages, answers } = body;
    const messageId = z
      .array(z.looseObject({ id: z.string() }))
      .parse(messages)
      .at(-1)?.id;
    const principal = person();
    const agent = new ToolLoopAgent({
      model,
      tools,
      instructions: 'You book flights.',
      providerOptions: {
        holdpoint: {
          threadId,
          messageId,
          ...(answers && { answers }),
          ...(principal !== undefined && { principal }),
        },
      },
    });
    const isLost = losing;
    losing = false;
    const response = await createAgentUIStreamResponse({
      agent,
      uiMessages: messages,
      ...(init?.signal && { abortSignal: init.signal }),
      onError: (error) => (error instanceof Error ? error.message : String(error)),
      messageMetadata: ({ part }) =>
        part.type === 'finish-step' ? part.providerMetadata?.['holdpoint'] : undefined,
    });
    if (!isLost) return response;
    await response.text();
    throw new TypeError('The line is dead.');
  };
  return {
    bodies,
    loseReply: () => {
      losing = true;
    },
    chat: (messages = []) =>
      new Chat({
        id: 'chat-1',
        messages,
        transport: new DefaultChatTransport({ api: 'http://localhost/chat', fetch: serve }),
        sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithApprovalResponses,
      }),
  };
}

/** The tool parts of the last message: what a page would show of them. */
export function toolParts({ messages }: Pick<Chat<UIMessage>, 'messages'>) {
  return (messages.at(-1)?.parts ?? []).flatMap((part) => ('toolCallId' in part ? [part] : []));
}
