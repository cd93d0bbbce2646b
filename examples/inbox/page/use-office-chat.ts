import { Chat, useChat } from '@ai-sdk/react';
import { APICallError, DefaultChatTransport, type UIMessage } from 'ai';
import {
  lastAssistantMessageHasApprovalResponses,
  prepareReconnectToStreamRequest,
  prepareSendMessagesRequest,
} from 'holdpoint/ui';
import { useEffect, useMemo, useRef, useState } from 'react';
import { type OfficeClient, Refusal } from './office-client.ts';

interface ChatOptions {
  client: OfficeClient;
  threadId: string;
  /** Counts the changes that the server told of: at each the thread is read anew. */
  changes: number;
  onError: (error: Error) => void;
}

/** The chat of a thread: `useChat`, with the server's thread as the truth. */
export function useOfficeChat({ client, threadId, changes, onError }: ChatOptions) {
  const failed = useRef(onError);
  failed.current = onError;
  const [loaded, setLoaded] = useState({ threadId: '', isRunning: false });

  const [chat, stored] = useMemo(() => {
    const known: { messages: UIMessage[] } = { messages: [] };
    const made = new Chat<UIMessage>({
      id: threadId,
      transport: new DefaultChatTransport({
        api: '/api/chat',
        headers: client.headers,
        prepareSendMessagesRequest,
        prepareReconnectToStreamRequest,
      }),
      sendAutomaticallyWhen: lastAssistantMessageHasApprovalResponses,
      onError: (error) => {
        /* Whether it reached the server is unknown: what is shown is what the server said last. */
        made.messages = known.messages;
        failed.current(toRefusal(error));
      },
    });
    return [made, known] as const;
  }, [client, threadId]);
  const { messages, status } = useChat({ chat });
  const isIdle = status === 'ready' || status === 'error';

  /* While an answer streams in here, it is newer than what could be read. */
  useEffect(() => {
    if (!isIdle) return;
    let isStale = false;
    const read = async (): Promise<void> => {
      const thread = await client.thread(threadId);
      if (isStale) return;
      stored.messages = thread.messages;
      chat.messages = thread.messages;
      setLoaded({ threadId, isRunning: thread.status === 'running' });
    };
    read().catch((error: unknown) => {
      /* A server that is away is told of elsewhere. */
      if (!isStale && error instanceof Refusal) failed.current(error);
    });
    return () => {
      isStale = true;
    };
  }, [chat, stored, client, threadId, changes, isIdle]);

  const isLoaded = loaded.threadId === threadId;
  /* By this tab, by another one, or by the worker. */
  const isBusy = !isIdle || (isLoaded && loaded.isRunning);
  return { chat, messages, isLoaded, isBusy };
}

function toRefusal(error: Error): Error {
  return APICallError.isInstance(error) && error.statusCode !== undefined
    ? Refusal.read(error.statusCode, error.responseBody ?? '')
    : error;
}
