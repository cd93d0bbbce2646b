import type { QuestionAnswer, QuestionField as Field, QuestionRequestContent } from 'holdpoint';
import { useState } from 'react';
import { CardFrame, cardId, type CardProps } from './card-frame.tsx';
import { QuestionField } from './question-field.tsx';
import { readAnswer, textPlace, whyIncomplete } from './read-answer.ts';
import { useIsExpired } from './use-now.ts';

/**
 * A question of the assistant, with all its fields. An answer never approves a call. Enter sends the one text that is asked for, and no
 * other answer.
 */
export function QuestionCard({
  request,
  title,
  isSent,
  onAnswer,
}: CardProps<QuestionRequestContent>) {
  const [faults, setFaults] = useState<ReadonlyMap<string, string>>(new Map());
  const isClosed = useIsExpired(request) || isSent;
  const response = { type: 'question-response', requestId: request.requestId } as const;

  const [only, ...others] = request.fields;
  const isOneText = only && others.length === 0 && textPlace(only, request.kind) === 'alone';

  const send = (form: HTMLFormElement | null): void => {
    if (isClosed || form === null) return;
    const data = new FormData(form);
    const answers = request.fields.map((field) => readAnswer(field, data, request.kind));
    const found = faultsOf(request.fields, answers);
    setFaults(found);
    const [firstKey] = found.keys();
    if (firstKey === undefined) onAnswer({ ...response, status: 'answered', answers });
    else
      focusField(
        form,
        request.fields.findIndex(({ key }) => key === firstKey),
      );
  };

  return (
    <CardFrame request={request} title={title} kind="Question" isSent={isSent}>
      <form
        className="question"
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          if (isOneText) send(event.currentTarget);
        }}
      >
        {request.fields.map((field, index) => (
          <QuestionField
            key={field.key}
            field={field}
            id={`${cardId(request.requestId)}-${index}`}
            isOnly={request.fields.length === 1}
            kind={request.kind}
            fault={faults.get(field.key)}
          />
        ))}
        <div className="controls">
          <button
            type="button"
            className="yes"
            aria-disabled={isClosed}
            onClick={({ currentTarget }) => send(currentTarget.form)}
          >
            Answer
          </button>
          {request.allowDismiss && (
            <button
              type="button"
              className="quiet"
              aria-disabled={isClosed}
              onClick={() => !isClosed && onAnswer({ ...response, status: 'dismissed' })}
            >
              Skip
            </button>
          )}
        </div>
      </form>
    </CardFrame>
  );
}

function faultsOf(fields: readonly Field[], answers: readonly QuestionAnswer[]) {
  const faults = new Map<string, string>();
  for (const field of fields) {
    const answer = answers.find(({ key }) => key === field.key);
    const fault = answer && whyIncomplete(field, answer);
    if (fault !== undefined) faults.set(field.key, fault);
  }
  return faults;
}

function focusField(form: HTMLFormElement, index: number): void {
  form.querySelectorAll('fieldset')[index]?.querySelector('input')?.focus();
}
