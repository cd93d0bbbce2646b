import { useThreadChat } from 'holdpoint/react';
import { useEffect } from 'react';
import type { OfficeClient } from './office-client.ts';

interface ChatOptions {
  client: OfficeClient;
  threadId: string;
  /** Counts the changes that the server reported: at each the thread is read anew. */
  changes: number;
}

/** The chat of a thread. */
export function useOfficeChat({ client, threadId, changes }: ChatOptions) {
  const chat = useThreadChat({ id: threadId, api: '/api/chat', headers: client.headers });
  const { refresh } = chat;
  useEffect(() => void refresh(), [refresh, changes]);
  return chat;
}
