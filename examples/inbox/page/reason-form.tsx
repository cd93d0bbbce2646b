import { type SubmitEvent, useId } from 'react';
import { typedText } from './typed-text.ts';

interface ReasonFormProps {
  onReject: (reason?: string) => void;
  onCancel: () => void;
}

/** Takes the reason of a no. Enter rejects, which is safe; Esc goes back. */
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
      <label htmlFor={id}>Why not? The assistant is told.</label>
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
