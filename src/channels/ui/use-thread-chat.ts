import { Chat, useChat, type UseChatHelpers } from '@ai-sdk/react';
import type { UIMessage } from 'ai';
import { useEffect, useMemo, useRef, useSyncExternalStore } from 'react';
import { ThreadChat } from './thread-chat.ts';
import type { ThreadChatOptions, ThreadChatState } from './thread-chat-state.ts';

/** The chat of a thread: what `useChat` gives, and what `ThreadChat` adds to it. */
export interface ThreadChatHelpers
  extends
    Omit<UseChatHelpers<UIMessage>, 'addToolApprovalResponse' | 'setMessages' | 'stop'>,
    ThreadChatState,
    Pick<ThreadChat<Chat<UIMessage>>, 'answer' | 'refresh' | 'stop' | 'tryAgain'> {}

/* The page's; the package is compiled without the types of browsers. */
declare const document: {
  visibilityState: string;
  addEventListener: (type: 'visibilitychange', listener: () => void) => void;
  removeEventListener: (type: 'visibilitychange', listener: () => void) => void;
};

/**
 * `useChat` for a thread on the server: it loads the thread, sends answers until they are recorded, and shows the thread as it is after a
 * refusal, a lost connection or a change in another tab. Of the options `id` and `api` make another chat when they change.
 *
 * @example
 * const { messages, sendMessage, answer, problem, tryAgain } = useThreadChat({ id, api: '/chat' });
 */
export function useThreadChat(options: ThreadChatOptions): ThreadChatHelpers {
  const { id, api } = options;
  const latest = useRef(options);
  latest.current = options;
  const thread = useMemo(() => {
    const headers = (): Record<string, string> => {
      const { headers: own = {} } = latest.current;
      return typeof own === 'function' ? own() : own;
    };
    const made = { ...latest.current, id, ...(api === undefined ? {} : { api }), headers };
    return new ThreadChat((init) => new Chat<UIMessage>(init), made);
  }, [id, api]);
  useEffect(() => {
    const refresh = (): void => {
      if (document.visibilityState === 'visible') void thread.refresh();
    };
    void thread.open();
    document.addEventListener('visibilitychange', refresh);
    return () => {
      document.removeEventListener('visibilitychange', refresh);
      thread.close();
    };
  }, [thread]);
  const state = useSyncExternalStore(
    thread.subscribe,
    () => thread.state,
    () => thread.state,
  );
  const {
    addToolApprovalResponse: _raw,
    setMessages: _set,
    ...chat
  } = useChat({ chat: thread.chat });
  const { answer, refresh, stop, tryAgain } = thread;
  return { ...chat, ...state, answer, refresh, stop, tryAgain };
}
