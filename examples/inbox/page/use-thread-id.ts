import { useEffect, useState } from 'react';

/**
 * The id of the open thread, and a function that opens another thread, or a new one. The id is in the URL's hash, so that a reload or a
 * second tab shows the same thread.
 */
export function useThreadId(name: string): [string, (threadId?: string) => void] {
  const newId = (): string => `${name}.${crypto.randomUUID()}`;
  const [threadId, setThreadId] = useState(() => hashId() ?? newId());

  useEffect(() => {
    history.replaceState(null, '', `#${encodeURIComponent(threadId)}`);
  }, [threadId]);
  useEffect(() => {
    const follow = (): void => setThreadId((before) => hashId() ?? before);
    addEventListener('hashchange', follow);
    return () => removeEventListener('hashchange', follow);
  }, []);

  return [threadId, (next) => setThreadId(next ?? newId())];
}

function hashId(): string | undefined {
  try {
    return decodeURIComponent(location.hash.slice(1)) || undefined;
  } catch {
    return undefined;
  }
}
