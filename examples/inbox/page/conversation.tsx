import { useEffect, useRef } from 'react';
import { Composer } from './composer.tsx';
import { Message } from './message.tsx';
import type { useOfficeChat } from './use-office-chat.ts';

interface ConversationProps {
  chat: ReturnType<typeof useOfficeChat>;
  /** Whether the server can be reached. */
  isConnected: boolean;
  /** How many requests wait in this conversation. */
  waiting: number;
  onReview: (requestId: string) => void;
}

const suggestions = [
  'Pay the open invoices',
  'Delete old backups',
  'Plan a team lunch',
  'Write to Bob: the heating is fixed.',
];

/** The chat: its messages and calls, and a field for the next message. */
export function Conversation(props: ConversationProps) {
  const { chat, isConnected, waiting, onReview } = props;
  const { messages, isLoaded, status, sending, problem } = chat;
  const isBusy = status === 'submitted' || status === 'streaming';
  const send = (text: string): void => void chat.sendMessage({ text });
  const log = useRef<HTMLDivElement>(null);
  const isAtEnd = useRef(true);
  /* Does not scroll if the person has scrolled up to read. */
  useEffect(() => {
    if (log.current && isAtEnd.current) log.current.scrollTop = log.current.scrollHeight;
  }, [messages]);

  return (
    <section className="chat" aria-label="Chat">
      <div
        className="scroll"
        ref={log}
        role="log"
        aria-label="Messages"
        aria-busy={isBusy}
        onScroll={({ currentTarget: { scrollHeight, scrollTop, clientHeight } }) => {
          isAtEnd.current = scrollHeight - scrollTop - clientHeight < 48;
        }}
      >
        {messages.map((message, index) => (
          /* Not the id: a message that the page sent gets another id when it is read from the server. */
          <Message key={index} message={message} sending={sending} onReview={onReview} />
        ))}
        {isLoaded && messages.length === 0 && (
          <div className="welcome">
            <h2>What can I do for the office?</h2>
            <p>I look things up on my own. Before I pay, delete or send anything, I ask you.</p>
            <div className="suggestions">
              {suggestions.map((text) => (
                <button key={text} type="button" onClick={() => send(text)}>
                  {text}
                </button>
              ))}
            </div>
          </div>
        )}
        {isBusy && problem?.type !== 'away' && <p className="thinking">At work …</p>}
      </div>
      <Composer
        canSend={isLoaded && isConnected && !isBusy && waiting === 0}
        waiting={waiting}
        viewer={chat.viewer}
        unsaid={problem?.type === 'refused' ? problem.unsaid : undefined}
        onSend={send}
        onStop={isBusy ? () => void chat.stop() : undefined}
      />
    </section>
  );
}
