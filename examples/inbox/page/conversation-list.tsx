import type { ConversationLine } from '../board.ts';
import { Inert } from './inert.tsx';

interface ConversationListProps {
  conversations: readonly ConversationLine[];
  threadId: string;
  onOpen: (threadId?: string) => void;
}

/** The person's conversations, and a button that starts a new one. */
export function ConversationList({ conversations, threadId, onOpen }: ConversationListProps) {
  return (
    <nav className="conversations" aria-label="Conversations">
      <button type="button" className="new" onClick={() => onOpen()}>
        New conversation
      </button>
      <ul>
        {conversations.map(({ threadId: id, title, waiting }) => (
          <li key={id}>
            <button
              type="button"
              aria-current={id === threadId ? 'true' : undefined}
              onClick={() => onOpen(id)}
            >
              <span className="title">
                <Inert text={title} />
              </span>
              {waiting > 0 && (
                <span className="badge">
                  {waiting}
                  <span className="unseen"> waiting</span>
                </span>
              )}
            </button>
          </li>
        ))}
      </ul>
    </nav>
  );
}
