import { useEffect, useState } from 'react';

/**
 * The thread that is open, which the URL's hash names, so that a reload and a second tab show the same; and what opens another one,
 * or a new one.
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
