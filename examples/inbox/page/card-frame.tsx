import { lookAlikeWarnings } from 'holdpoint';
import type { KeyboardEventHandler, ReactNode } from 'react';
import type { Answer, BoardEntry } from '../board.ts';
import { Inert } from './inert.tsx';
import { RelativeTime } from './relative-time.tsx';
import { useIsExpired } from './use-now.ts';

/** Props of the card of a waiting request. */
export interface CardProps<REQUEST extends BoardEntry['request']> {
  request: REQUEST;
  /** The title of its conversation. */
  title: string;
  /** Whether the answer is being sent. */
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

/** The element id of a request's card. */
export function cardId(requestId: string): string {
  return `request-${requestId}`;
}

/** The common parts of the cards of waiting requests: what is asked, by which agent, until when, and in which conversation. */
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
      {lookAlikeWarnings(request).map((warning) => (
        <p key={warning} className="why">
          {warning}
        </p>
      ))}
      {children}
      {request.path !== undefined && (
        <p className="from">
          Asked by <Inert text={request.path.map(({ agent }) => agent).join(' > ')} />
        </p>
      )}
      <p className="from">
        <Inert text={title} />
      </p>
    </article>
  );
}

/** What a request asks, as a title. If there are several questions, each field shows its own text. */
export function titleOf(request: BoardEntry['request']): string {
  if (request.type === 'approval-request' || request.fields.length === 1) return request.text;
  const saysMore = !request.fields.every(({ label }) => request.text.includes(label));
  return saysMore ? request.text : `${request.fields.length} questions`;
}
