import {
  type AnswerDraft,
  type AnswerFault,
  type AskedApproval,
  type Enter,
  listInputFields,
  readEditedInput,
} from '../../../view/answer-form.ts';
import type { InboxEntry } from '../inbox-api.ts';
import { Changes } from './changes.tsx';
import { FieldView } from './form-field.tsx';

interface EditFormProps {
  entry: InboxEntry;
  asked: AskedApproval;
  draft: AnswerDraft;
  faults: readonly AnswerFault[];
  onEnter: (enter: Enter) => void;
}

/** The fields of a call that may be edited. It sends nothing: the draft has what was entered. */
export function EditForm({ entry, asked, draft, faults, onEnter }: EditFormProps) {
  const { input } = readEditedInput(asked, draft);
  return (
    <div class="edit-form" role="group" aria-label="Edit">
      {faults.map(({ key, text }) => key === undefined && <p class="fault">{text}</p>)}
      {listInputFields(asked, draft).map((field) => (
        <FieldView key={field.key} {...{ field, faults, onEnter }} isTextFirst />
      ))}
      {input !== undefined && (
        <section>
          <h3>What you change</h3>
          <Changes
            name="draft"
            before={asked.request.toolCall?.input}
            after={input}
            declared={entry}
          />
        </section>
      )}
    </div>
  );
}
