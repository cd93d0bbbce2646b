import type { UIMessage } from 'ai';
import { useEffect, useRef } from 'react';
import { Composer } from './composer.tsx';
import { Message } from './message.tsx';

interface ConversationProps {
  messages: readonly UIMessage[];
  isLoaded: boolean;
  /** Whether the assistant is at work. */
  isBusy: boolean;
  /** Whether the server can be reached. */
  isConnected: boolean;
  /** How many requests wait in this conversation. */
  waiting: number;
  onSend: (text: string) => void;
  onReview: (requestId: string) => void;
}

const suggestions = [
  'Pay the open invoices',
  'Delete old backups',
  'Plan a team lunch',
  'Write to Bob: the heating is fixed.',
];

/** The chat: what was said, what the assistant did or wants to do, and a field to say more. */
export function Conversation(props: ConversationProps) {
  const { messages, isLoaded, isBusy, isConnected, waiting, onSend, onReview } = props;
  const log = useRef<HTMLDivElement>(null);
  const isAtEnd = useRef(true);
  /* Who has scrolled up to read stays there. */
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
          /* Not the id: what the page has sent has another one when it is read from the server. */
          <Message key={index} message={message} onReview={onReview} />
        ))}
        {isLoaded && messages.length === 0 && (
          <div className="welcome">
            <h2>What can I do for the office?</h2>
            <p>I look things up on my own. Before I pay, delete or send anything, I ask you.</p>
            <div className="suggestions">
              {suggestions.map((text) => (
                <button key={text} type="button" onClick={() => onSend(text)}>
                  {text}
                </button>
              ))}
            </div>
          </div>
        )}
        {isBusy && <p className="thinking">At work …</p>}
      </div>
      <Composer
        canSend={isConnected && !isBusy && waiting === 0}
        waiting={waiting}
        onSend={onSend}
      />
    </section>
  );
}
