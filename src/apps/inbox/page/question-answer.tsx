import { type QuestionRequestContent, visitedAddress } from '../../../content/question.ts';
import { listQuestionFields } from '../../../view/answer-form.ts';
import type { InboxEntry } from '../inbox-api.ts';
import { Address } from './address.tsx';
import { Button } from './button.tsx';
import { fieldId, FieldView } from './form-field.tsx';
import type { Inbox } from './inbox.ts';

interface QuestionFieldsProps {
  inbox: Inbox;
  entry: InboxEntry;
  request: QuestionRequestContent;
}

/** The fields of a question. An answer never approves a call, and no key in a field sends it. */
export function QuestionFields({ inbox, entry, request }: QuestionFieldsProps) {
  const { answering } = inbox;
  const { requestId, rights } = entry;
  if (!rights.mayAnswer) return null;
  const fields = listQuestionFields(request, answering.draft(requestId));
  const faults = answering.findFaults(entry);
  const send = (): void => {
    answering.answerQuestion();
    const [fault] = answering.findFaults(entry);
    document.getElementById(fieldId(fault?.key ?? ''))?.focus();
  };
  const whyNot = answering.whyNot === undefined ? undefined : 'answer-why';
  const isRested = (): boolean => answering.isRested;
  const address = request.metadata?.[visitedAddress];
  return (
    <div class="question">
      {typeof address === 'string' && (
        <p>
          <Address url={address} />
        </p>
      )}
      {fields.map((field) => (
        <FieldView
          key={field.key}
          field={field}
          faults={faults}
          isTitled={fields.length === 1}
          onEnter={(enter) => answering.enter(requestId, enter)}
        />
      ))}
      <div class="buttons">
        <Button look="yes" whyNot={whyNot} isRested={isRested} onPress={send}>
          Answer
        </Button>
        {request.allowDismiss && rights.mayReject && (
          <Button
            whyNot={whyNot}
            isRested={isRested}
            onPress={() => answering.answerQuestion({ isDismissed: true })}
          >
            Skip the question
          </Button>
        )}
      </div>
    </div>
  );
}
