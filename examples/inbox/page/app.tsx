import { useMemo, useState } from 'react';
import { flushSync } from 'react-dom';
import type { Answer, BoardEntry } from '../board.ts';
import { answerInChat } from './answer-in-chat.ts';
import { cardId } from './card-frame.tsx';
import { Conversation } from './conversation.tsx';
import { ConversationList } from './conversation-list.tsx';
import { Inbox } from './inbox.tsx';
import { noticeOf } from './notice-of.ts';
import { OfficeClient } from './office-client.ts';
import { Tabs, type View } from './tabs.tsx';
import { useBoard } from './use-board.ts';
import { useOfficeChat } from './use-office-chat.ts';
import { useThreadId } from './use-thread-id.ts';

/** The page: conversations, the chat of one of them, and the inbox over all; on a phone one of the three at a time. */
export function App({ name }: { name: string }) {
  const client = useMemo(() => new OfficeClient(name), [name]);
  const [threadId, openThread] = useThreadId(name);
  const [view, setView] = useState<View>('chat');
  const [notice, setNotice] = useState('');
  const [sent, setSent] = useState<ReadonlySet<string>>(new Set());
  const { board, changes, isConnected, refresh } = useBoard(client);
  const failed = (error: unknown): void => {
    setNotice(noticeOf(error));
    setSent(new Set());
    refresh();
  };
  const { chat, messages, isLoaded, isBusy } = useOfficeChat({
    client,
    threadId,
    changes,
    onError: failed,
  });
  const waiting = board.entries.filter((entry) => entry.status === 'waiting');

  const answer = (entry: BoardEntry, given: Answer): void => {
    setNotice('');
    setSent((before) => new Set([...before, given.requestId]));
    if (!answerInChat(chat, given)) client.answer(entry.request.threadId, given).catch(failed);
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
      <div className="notices" role="alert">
        {notice !== '' && <p>{notice}</p>}
        {!isConnected && <p>The server is away. Trying again …</p>}
      </div>
      <main>
        <ConversationList conversations={board.conversations} threadId={threadId} onOpen={open} />
        <Conversation
          key={threadId}
          messages={messages}
          isLoaded={isLoaded}
          isBusy={isBusy}
          isConnected={isConnected}
          waiting={waiting.filter(({ request }) => request.threadId === threadId).length}
          onSend={(text) => void chat.sendMessage({ text })}
          onReview={review}
        />
        <Inbox entries={board.entries} sent={sent} onAnswer={answer} />
      </main>
      <Tabs view={view} waiting={waiting.length} onView={setView} />
    </div>
  );
}
