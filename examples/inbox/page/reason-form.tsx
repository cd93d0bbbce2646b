import { type SubmitEvent, useId } from 'react';
import { typedText } from './read-answer.ts';

interface ReasonFormProps {
  onReject: (reason?: string) => void;
  onCancel: () => void;
}

/** A form for the reason of a rejection. Enter rejects, which is safe; Esc goes back. */
export function ReasonForm({ onReject, onCancel }: ReasonFormProps) {
  const id = useId();
  const submit = (event: SubmitEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const reason = typedText(new FormData(event.currentTarget), 'reason');
    onReject(reason === '' ? undefined : reason);
  };
  return (
    <form
      className="reason"
      onSubmit={submit}
      onKeyDown={(event) => event.key === 'Escape' && onCancel()}
    >
      <label htmlFor={id}>Why not? The assistant will read this.</label>
      <input id={id} name="reason" autoFocus autoComplete="off" />
      <div className="controls">
        <button type="submit" className="no">
          Reject
        </button>
        <button type="button" className="quiet" onClick={onCancel}>
          Back
        </button>
      </div>
    </form>
  );
}
