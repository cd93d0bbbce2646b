import type { KeyboardEventHandler, ReactNode } from 'react';
import type { Answer, BoardEntry } from '../board.ts';
import { Inert } from './inert.tsx';
import { RelativeTime } from './relative-time.tsx';
import { titleOf } from './request-title.ts';
import { useIsExpired } from './use-now.ts';

/** What the card of a request that waits is given. */
export interface CardProps<REQUEST extends BoardEntry['request']> {
  request: REQUEST;
  /** The conversation it comes from. */
  title: string;
  /** Whether the answer is on its way. */
  isSent: boolean;
  /** Whether the cards have just moved. */
  isMoving: boolean;
  onAnswer: (answer: Answer) => void;
}

interface CardFrameProps {
  request: BoardEntry['request'];
  title: string;
  kind: 'Approval' | 'Question';
  isSent: boolean;
  onKeyDown?: KeyboardEventHandler<HTMLElement>;
  children: ReactNode;
}

/** The id of the card of a request, for those who want to show it. */
export function cardId(requestId: string): string {
  return `request-${requestId}`;
}

/** What the cards of all requests that wait have in common: what is asked, until when, and in which conversation. */
export function CardFrame({ request, title, kind, isSent, onKeyDown, children }: CardFrameProps) {
  const id = cardId(request.requestId);
  const isExpired = useIsExpired(request);
  return (
    <article
      id={id}
      className="card waiting"
      data-card
      tabIndex={0}
      aria-labelledby={`${id}-title`}
      aria-busy={isSent}
      onKeyDown={onKeyDown}
    >
      <p className="kicker">
        <span>{kind}</span>
        {request.expiresAt !== undefined && (
          <span className="expiry">
            {isExpired ? 'expired' : 'expires'} <RelativeTime at={request.expiresAt} />
          </span>
        )}
      </p>
      <h3 id={`${id}-title`}>
        <Inert text={titleOf(request)} />
      </h3>
      {children}
      <p className="from">
        <Inert text={title} />
      </p>
    </article>
  );
}
