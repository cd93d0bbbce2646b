import { type MouseEvent, useId } from 'react';
import { typedText } from './read-answer.ts';

interface ReasonFormProps {
  onReject: (reason?: string) => void;
  onCancel: () => void;
}

/** A form for the reason of a rejection. Enter in it decides nothing; Esc goes back. */
export function ReasonForm({ onReject, onCancel }: ReasonFormProps) {
  const id = useId();
  const rejectWithReason = ({ currentTarget }: MouseEvent<HTMLButtonElement>): void => {
    const reason = typedText(new FormData(currentTarget.form ?? undefined), 'reason');
    onReject(reason === '' ? undefined : reason);
  };
  return (
    <form
      className="reason"
      onSubmit={(event) => event.preventDefault()}
      onKeyDown={(event) => event.key === 'Escape' && onCancel()}
    >
      <label htmlFor={id}>Why not? The assistant will read this.</label>
      <input id={id} name="reason" autoFocus autoComplete="off" />
      <div className="controls">
        <button type="button" className="no" onClick={rejectWithReason}>
          Reject
        </button>
        <button type="button" className="quiet" onClick={onCancel}>
          Back
        </button>
      </div>
    </form>
  );
}
