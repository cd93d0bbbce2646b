import { type ApprovalRequest, approve, reject } from 'holdpoint';
import { type KeyboardEvent, useState } from 'react';
import { ApprovalControls } from './approval-controls.tsx';
import { CallDetails } from './call-details.tsx';
import { CardFrame, cardId, type CardProps } from './card-frame.tsx';
import { Inert } from './inert.tsx';
import { ReasonForm } from './reason-form.tsx';
import { RequestTerms } from './request-terms.tsx';
import { useIsExpired } from './use-now.ts';

/**
 * A call that waits for approval, exactly as it would run, and the reason for asking. The answer contains the call and its digest as shown
 * here, so that an answer to anything else is refused; the arguments can't be edited. No key but Enter or Space on the button approves.
 */
export function ApprovalCard(props: CardProps<ApprovalRequest>) {
  const { request, title, isSent, isMoving, onAnswer } = props;
  const [isReasoning, setIsReasoning] = useState(false);
  const isClosed = useIsExpired(request) || isSent;
  const sayYes = (): void => {
    if (!isClosed && !isMoving) onAnswer(approve(request));
  };
  const sayNo = (reason?: string): void => {
    if (!isClosed) onAnswer(reject(request, reason));
  };
  const startReasoning = (): void => setIsReasoning(!isClosed);

  const press = (event: KeyboardEvent): void => {
    if (event.repeat || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target instanceof Element && event.target.matches('input')) return;
    if (event.key !== 'r') return;
    /* Otherwise the r would be typed into the field that opens. */
    event.preventDefault();
    startReasoning();
  };

  return (
    <CardFrame request={request} title={title} kind="Approval" isSent={isSent} onKeyDown={press}>
      {request.reason !== undefined && (
        <p className="why">
          <Inert text={request.reason} />
        </p>
      )}
      <RequestTerms request={request} />
      {request.toolCall && <CallDetails call={request.toolCall} />}
      {isReasoning && !isClosed ? (
        <ReasonForm
          onReject={sayNo}
          onCancel={() => {
            setIsReasoning(false);
            document.getElementById(cardId(request.requestId))?.focus();
          }}
        />
      ) : (
        <ApprovalControls
          canApprove={!isClosed && !isMoving}
          canReject={!isClosed}
          onApprove={sayYes}
          onReject={sayNo}
          onReason={startReasoning}
        />
      )}
    </CardFrame>
  );
}
