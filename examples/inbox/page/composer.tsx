import { type KeyboardEvent, type SubmitEvent, useEffect, useRef, useState } from 'react';

interface ComposerProps {
  canSend: boolean;
  waiting: number;
  /** For whom the conversation is loaded; `undefined` once somebody else has signed in. */
  viewer: string | undefined;
  /** The text that the server refused: it is put back into the field. */
  unsaid: string | undefined;
  onSend: (text: string) => void;
  /** Absent while the assistant is idle. */
  onStop: (() => void) | undefined;
}

/** The field for the next message. While requests wait, they must be answered first: a message would be refused. */
export function Composer({ canSend, waiting, viewer, unsaid, onSend, onStop }: ComposerProps) {
  const [text, setText] = useState('');
  const field = useRef<HTMLTextAreaElement>(null);
  const isReady = canSend && text.trim() !== '';

  useEffect(() => {
    if (unsaid === undefined) return;
    setText((typed) => (typed.includes(unsaid) ? typed : `${unsaid}\n${typed}`.trim()));
  }, [unsaid]);
  useEffect(() => {
    if (viewer === undefined) setText('');
  }, [viewer]);
  useEffect(() => field.current?.focus({ preventScroll: true }), []);
  const send = (event: SubmitEvent | KeyboardEvent): void => {
    event.preventDefault();
    if (!isReady) return;
    onSend(text.trim());
    setText('');
  };

  return (
    <form className="composer" onSubmit={send}>
      {waiting > 0 && (
        <p id="composer-hint">
          {waiting === 1 ? 'One request waits' : `${waiting} requests wait`} for your answer first.
        </p>
      )}
      <label className="unseen" htmlFor="composer-text">
        Message
      </label>
      <textarea
        id="composer-text"
        ref={field}
        rows={2}
        value={text}
        placeholder="Message the assistant"
        aria-describedby={waiting > 0 ? 'composer-hint' : undefined}
        onChange={(event) => setText(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === 'Enter' && !event.shiftKey && !event.nativeEvent.isComposing)
            send(event);
        }}
      />
      {onStop ? (
        <button type="button" onClick={onStop}>
          Stop
        </button>
      ) : (
        <button type="submit" className="yes" aria-disabled={!isReady}>
          Send
        </button>
      )}
    </form>
  );
}
