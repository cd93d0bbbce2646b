import type { QuestionField, ToolCallOutcome } from 'holdpoint';
import type { BoardEntry } from '../board.ts';
import { CallDetails } from './call-details.tsx';
import { titleOf } from './card-frame.tsx';
import { Inert } from './inert.tsx';
import { RelativeTime } from './relative-time.tsx';
import { Value } from './value.tsx';

/** A request that was answered or closed: the answer, who gave it, and the outcome. */
export function EndedCard({ entry }: { entry: BoardEntry }) {
  const { request } = entry;
  const id = `ended-${request.requestId}`;
  return (
    <article id={id} className="card ended" data-card tabIndex={0} aria-labelledby={`${id}-title`}>
      <h4 id={`${id}-title`}>
        <Inert text={titleOf(request)} />
      </h4>
      <Verdict entry={entry} />
      {request.type === 'approval-request' && request.toolCall && (
        <details>
          <summary>What was asked</summary>
          <CallDetails call={request.toolCall} />
        </details>
      )}
    </article>
  );
}

function Verdict({ entry: { request, status, answer, outcome } }: { entry: BoardEntry }) {
  if (answer === undefined || status !== 'answered')
    return <p className="verdict">{closed[status]}</p>;
  const { response, name, at } = answer;
  const when = <RelativeTime at={at} />;
  if (response.type === 'question-response') {
    if (response.status === 'dismissed')
      return (
        <p className="verdict">
          Skipped by {name}, {when}
        </p>
      );
    const fields = request.type === 'question-request' ? request.fields : [];
    return (
      <>
        <p className="verdict said-yes">
          Answered by {name}, {when}
        </p>
        <Value value={answerTexts(fields, response.answers)} />
      </>
    );
  }
  return response.approved ? (
    <>
      <p className="verdict said-yes">
        Approved by {name}, {when}
      </p>
      {/* The outcome of a sub-agent's call is in the child thread. */}
      {request.type === 'approval-request' && request.toolCall && !request.path && (
        <Outcome outcome={outcome} />
      )}
    </>
  ) : (
    <p className="verdict said-no">
      Rejected by {name}, {when}
      {response.reason !== undefined && (
        <q>
          <Inert text={response.reason} />
        </q>
      )}
    </p>
  );
}

const closed: Record<BoardEntry['status'], string> = {
  waiting: 'Waits',
  answered: 'Answered',
  expired: 'Expired before anybody answered',
  cancelled: 'Cancelled',
  invalidated: 'Invalid, and asked again',
};

function Outcome({ outcome }: { outcome: ToolCallOutcome | undefined }) {
  switch (outcome?.status) {
    case undefined:
      return <p className="outcome">At work …</p>;
    case 'succeeded':
      return <Value value={outcome.output} />;
    case 'failed':
      return (
        <p className="outcome said-no">
          It failed: <Inert text={outcome.error} />
        </p>
      );
    case 'denied':
      return (
        <p className="outcome said-no">
          It was denied{outcome.reason !== undefined && ': '}
          <Inert text={outcome.reason ?? ''} />
        </p>
      );
    case 'forwarded':
      return <p className="outcome">The approval was sent to the provider</p>;
  }
}

type AnsweredField = { key: string; optionIds: string[]; text?: string | undefined };

/* An array, as labels may repeat. */
function answerTexts(
  fields: readonly QuestionField[],
  answers: readonly AnsweredField[],
): string[] {
  return answers.map(({ key, optionIds, text }) => {
    const field = fields.find((each) => each.key === key);
    const labels = optionIds.map(
      (optionId) => field?.options.find(({ id }) => id === optionId)?.label ?? optionId,
    );
    return [...labels, ...(text === undefined ? [] : [text])].join(', ');
  });
}
