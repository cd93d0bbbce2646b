import type { InboxEntry } from '../inbox-api.ts';
import { type EditDraft, readEditDraft } from './edit-draft.ts';

interface EditFormProps {
  entry: InboxEntry;
  refusal?: { field?: readonly string[]; reason?: string; message: string } | undefined;
  draft: unknown;
  onDraft: (draft: EditDraft) => void;
}

/** The input of a call, to be edited. */
export function EditForm({ entry, refusal, draft, onDraft }: EditFormProps) {
  const input = entry.request?.toolCall?.input;
  const { entered, faults } = readEditDraft(draft) ?? { entered: new Map(), faults: [] };
  return (
    <label>
      Input, as JSON
      <textarea
        rows={8}
        value={String(entered.get('') ?? JSON.stringify(input, null, 2))}
        aria-invalid={faults.length > 0}
        onInput={({ currentTarget: { value } }) => onDraft(readText(value))}
      />
      {refusal && <span>{refusal.message}</span>}
    </label>
  );
}

function readText(text: string): EditDraft {
  const entered = new Map([['', text]]);
  try {
    return { entered, input: JSON.parse(text), faults: [] };
  } catch {
    return { entered, faults: ['Input'] };
  }
}
