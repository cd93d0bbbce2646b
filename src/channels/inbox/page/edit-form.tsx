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
  const { texts, faults } = readEditDraft(draft) ?? { texts: {}, faults: [] };
  return (
    <label>
      Input, as JSON
      <textarea
        rows={8}
        value={texts['input'] ?? JSON.stringify(input, null, 2)}
        aria-invalid={faults.length > 0}
        onInput={({ currentTarget: { value } }) => onDraft(readText(value))}
      />
      {refusal && <span>{refusal.message}</span>}
    </label>
  );
}

function readText(text: string): EditDraft {
  const texts = { input: text };
  try {
    return { texts, input: JSON.parse(text), faults: [] };
  } catch {
    return { texts, faults: ['Input'] };
  }
}
