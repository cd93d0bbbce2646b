import { isToolUIPart, type UIMessage } from 'ai';
import { Inert } from './inert.tsx';
import { ToolCard } from './tool-card.tsx';

interface MessageProps {
  message: UIMessage;
  /** The requests whose answers are being sent. */
  sending: ReadonlySet<string>;
  onReview: (requestId: string) => void;
}

/** A message of the chat: plain text, and cards for its calls. */
export function Message({ message: { role, parts }, sending, onReview }: MessageProps) {
  return (
    <article className={`message ${role}`} aria-label={role === 'user' ? 'You' : 'Assistant'}>
      {parts.map((part, index) => {
        if (part.type === 'text' && part.text !== '') {
          return (
            <p key={index} className="text">
              <Inert text={part.text} />
            </p>
          );
        }
        return isToolUIPart(part) ? (
          <ToolCard key={index} part={part} sending={sending} onReview={onReview} />
        ) : undefined;
      })}
    </article>
  );
}
