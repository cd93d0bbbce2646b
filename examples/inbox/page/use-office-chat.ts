import { useThreadChat } from 'holdpoint/react';
import { useEffect } from 'react';
import type { OfficeClient } from './office-client.ts';

interface ChatOptions {
  client: OfficeClient;
  threadId: string;
  /** How many changes the server has reported: after each, the thread is read again. */
  changes: number;
}

/** The chat of a thread. */
export function useOfficeChat({ client, threadId, changes }: ChatOptions) {
  const chat = useThreadChat({ id: threadId, api: '/api/chat', headers: client.headers });
  const { refresh } = chat;
  useEffect(() => void refresh(), [refresh, changes]);
  return chat;
}
