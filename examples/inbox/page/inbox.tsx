import { type KeyboardEvent, useEffect, useRef } from 'react';
import type { Answer, BoardEntry } from '../board.ts';
import { ApprovalCard } from './approval-card.tsx';
import type { CardProps } from './card-frame.tsx';
import { EndedCard } from './ended-card.tsx';
import { QuestionCard } from './question-card.tsx';
import { useIsMoving } from './use-is-moving.ts';

interface InboxProps {
  entries: readonly BoardEntry[];
  /** The requests whose answers are being sent. */
  sent: ReadonlySet<string>;
  onAnswer: (entry: BoardEntry, answer: Answer) => void;
}

/** The requests in all of the person's conversations: those that wait, and the latest that ended. */
export function Inbox({ entries, sent, onAnswer }: InboxProps) {
  const heading = useRef<HTMLHeadingElement>(null);
  const waiting = entries.filter(({ status }) => status === 'waiting');
  const ended = entries.filter(({ status }) => status !== 'waiting');
  const isMoving = useIsMoving(waiting.map(({ request }) => request.requestId).join());
  const count = waiting.length === 1 ? '1 waits for you' : `${waiting.length} wait for you`;

  useEffect(() => {
    document.title = `${waiting.length > 0 ? `(${waiting.length}) ` : ''}Office assistant`;
  }, [waiting.length]);

  return (
    <section className="inbox" aria-labelledby="inbox-heading" onKeyDown={moveBetweenCards}>
      <header>
        <h2 id="inbox-heading" ref={heading} tabIndex={-1}>
          Inbox
        </h2>
        <p className={waiting.length === 0 ? 'count none' : 'count'} role="status">
          {waiting.length === 0 ? 'Nothing waits for you' : count}
        </p>
      </header>
      <Legend />
      <div className="scroll">
        {waiting.map((entry) => (
          <WaitingCard
            key={entry.request.requestId}
            request={entry.request}
            title={entry.title}
            isSent={sent.has(entry.request.requestId)}
            isMoving={isMoving}
            onAnswer={(answer) => {
              onAnswer(entry, answer);
              /* Not the next card: a key pressed twice must not answer two requests. */
              heading.current?.focus({ preventScroll: true });
            }}
          />
        ))}
        {waiting.length === 0 && (
          <p className="empty">When the assistant wants to do something, it asks here first.</p>
        )}
        {ended.length > 0 && <h3>Decided</h3>}
        {ended.map((entry) => (
          <EndedCard key={entry.request.requestId} entry={entry} />
        ))}
      </div>
    </section>
  );
}

function WaitingCard({ request, ...props }: CardProps<BoardEntry['request']>) {
  return request.type === 'approval-request' ? (
    <ApprovalCard request={request} {...props} />
  ) : (
    <QuestionCard request={request} {...props} />
  );
}

function Legend() {
  return (
    <p className="legend">
      <kbd>j</kbd> <kbd>k</kbd> move, <kbd>r</kbd> reject with a reason
    </p>
  );
}

/** j and k, or the arrow keys, move from card to card; in a field they keep their meaning. */
function moveBetweenCards(event: KeyboardEvent<HTMLElement>): void {
  const step = { j: 1, ArrowDown: 1, k: -1, ArrowUp: -1 }[event.key];
  if (step === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target instanceof Element && event.target.matches('input, textarea')) return;
  const cards = [...event.currentTarget.querySelectorAll<HTMLElement>('[data-card]')];
  const at = cards.findIndex((card) => card.contains(document.activeElement));
  const next = at === -1 && step === -1 ? undefined : cards[at + step];
  event.preventDefault();
  next?.focus();
}
