import { Chat, useChat, type UseChatHelpers } from '@ai-sdk/react';
import type { UIMessage } from 'ai';
import { useEffect, useMemo, useRef, useSyncExternalStore } from 'react';
import type { Composer } from './browser/composer.ts';
import type { ThreadChatState } from './browser/page-state.ts';
import { findDecision } from './browser/page-messages.ts';
import { hasHeldCall, showPart } from './browser/shown-part.ts';
import { ThreadChat } from './browser/thread-chat.ts';
import type { ThreadChatOptions } from './browser/thread-route.ts';

/** The chat of a thread: the helpers of `useChat`, and those that `ThreadChat` adds. */
export interface ThreadChatHelpers
  extends
    Omit<UseChatHelpers<UIMessage>, 'addToolApprovalResponse' | 'setMessages' | 'stop'>,
    ThreadChatState,
    Pick<
      ThreadChat<Chat<UIMessage>>,
      | 'answer'
      | 'withdraw'
      | 'reassign'
      | 'refresh'
      | 'stop'
      | 'tryAgain'
      | 'isHeld'
      | 'resume'
      | 'requests'
      | 'groups'
      | 'notice'
      | 'show'
    > {
  /** The message that the person writes. */
  composer: Omit<Composer, 'takeBack' | 'reset'>;
  /** True if the assistant is at work, or a message or an answer is being sent. */
  isBusy: boolean;
}

/**
 * `useChat` for a thread on the server: it loads the thread and follows its changes, sends answers until they are recorded, and reads the
 * thread again after a refusal or a lost connection. A change of the options `id` or `api` creates another chat.
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
    void thread.open();
    thread.follow();
    return () => thread.close();
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
  useEffect(() => thread.settle());
  const { answer, withdraw, reassign, refresh, stop, tryAgain, resume } = thread;
  const { requests, groups, notice, composer } = thread;
  const findOpen = (asked: string) => requests.find(({ requestId }) => requestId === asked);
  const known = { findOpen, findDecision: (of: string) => findDecision(chat.messages, of) };
  const show: typeof thread.show = (part) => showPart(part, known, Date.now());
  const isBusy = chat.status === 'submitted' || chat.status === 'streaming';
  return {
    ...chat,
    ...state,
    answer,
    withdraw,
    reassign,
    refresh,
    stop,
    tryAgain,
    isHeld: hasHeldCall(chat.messages),
    resume,
    requests,
    groups,
    notice,
    show,
    composer,
    isBusy,
  };
}
