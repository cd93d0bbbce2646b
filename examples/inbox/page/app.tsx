import { useMemo, useState } from 'react';
import { flushSync } from 'react-dom';
import type { Answer, BoardEntry } from '../board.ts';
import { cardId } from './card-frame.tsx';
import { Conversation } from './conversation.tsx';
import { ConversationList } from './conversation-list.tsx';
import { Inbox } from './inbox.tsx';
import { Notices } from './notices.tsx';
import { errorNotice, OfficeClient } from './office-client.ts';
import { Tabs, type View } from './tabs.tsx';
import { useBoard } from './use-board.ts';
import { useOfficeChat } from './use-office-chat.ts';
import { useThreadId } from './use-thread-id.ts';

/** The page: the conversations, the chat of one of them, and the inbox of all; a phone shows one of the three at a time. */
export function App({ name }: { name: string }) {
  const client = useMemo(() => new OfficeClient(name), [name]);
  const [threadId, openThread] = useThreadId(name);
  const [view, setView] = useState<View>('chat');
  const [notice, setNotice] = useState('');
  const [sent, setSent] = useState<ReadonlySet<string>>(new Set());
  const { board, changes, isConnected, refresh } = useBoard(client);
  const failed = (error: unknown): void => {
    setNotice(errorNotice(error));
    setSent(new Set());
    refresh();
  };
  const chat = useOfficeChat({ client, threadId, changes });
  const waiting = board.entries.filter((entry) => entry.status === 'waiting');

  const answer = (entry: BoardEntry, given: Answer): void => {
    setNotice('');
    const { threadId: asking, requestId } = entry.request;
    /* The chat streams what follows the answer. */
    if (asking === threadId && chat.isLoaded) {
      void chat.answer(given);
      return;
    }
    setSent((before) => new Set([...before, requestId]));
    client.answer(asking, given).catch(failed);
  };
  const open = (id?: string): void => {
    setNotice('');
    openThread(id);
    setView('chat');
  };
  const review = (requestId: string): void => {
    flushSync(() => setView('inbox'));
    document.getElementById(cardId(requestId))?.focus();
  };

  return (
    <div className="app" data-view={view}>
      <header className="bar">
        <h1>Office assistant</h1>
        <p className="who" title="The demo's stand-in for a sign-in: say ?as=Name in the address">
          {name} <small>(demo sign-in)</small>
        </p>
      </header>
      <Notices notice={notice} chat={chat} isConnected={isConnected} />
      <main>
        <ConversationList conversations={board.conversations} threadId={threadId} onOpen={open} />
        <Conversation
          key={threadId}
          chat={chat}
          isConnected={isConnected}
          waiting={waiting.filter(({ request }) => request.threadId === threadId).length}
          onReview={review}
        />
        <Inbox
          entries={board.entries}
          sent={new Set([...sent, ...chat.sending])}
          onAnswer={answer}
        />
      </main>
      <Tabs view={view} waiting={waiting.length} onView={setView} />
    </div>
  );
}
