import { useRef } from 'preact/hooks';
import { Button } from './button.tsx';
import { openDialog } from './open-dialog.ts';
import { renderRemember } from '../../../content/request-text.ts';
import { countWords } from './entry-words.ts';
import type { Inbox } from './inbox.ts';
import { pageReader } from './reading.tsx';
import type { InboxSuggestion } from '../inbox-api.ts';
import { inertLine } from '../../../content/inert-text.ts';
import { describeRelative } from './format-value.ts';

/**
 * What became of the last answer, and what has arrived: the one region that a screen reader speaks. It has always the same height, so that
 * nothing moves.
 */
export function OutcomeStrip({ inbox, arrivals }: { inbox: Inbox; arrivals: string }) {
  const { message } = inbox.answering;
  return (
    <div class="outcome">
      <p role="status" aria-atomic="false">
        <span>{message?.text ?? ''}</span> <span>{arrivals}</span>
      </p>
      {message?.suggestion !== undefined && (
        <Suggestion key={message.text} inbox={inbox} terms={message.suggestion.terms} />
      )}
    </div>
  );
}

/** The rule that would have asked less. It is made in a dialog, away from every answer. */
function Suggestion({ inbox, terms }: { inbox: Inbox; terms: InboxSuggestion }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const { approved, decided, covered, rejectedAt, remember, toolName } = terms;
  const name = inertLine(toolName);
  const last =
    rejectedAt === undefined
      ? 'You have never rejected one.'
      : `You last rejected one ${describeRelative(rejectedAt, inbox.client.now, pageReader)}.`;
  const close = (): void => {
    dialog.current?.close();
    inbox.moveFocusTo('heading');
  };
  return (
    <>
      <Button look="quiet" onPress={() => openDialog(dialog.current)}>
        Approved {approved} of {decided}: make a rule …
      </Button>
      <dialog ref={dialog} aria-labelledby="rule-title">
        <h2 id="rule-title" tabIndex={-1}>
          Let {name} run without asking?
        </h2>
        <p>
          You approved {name} {approved} of {countWords(decided, 'time')}. {last}
        </p>
        <p>
          The rule: approve it {renderRemember(remember)}. It would have covered {covered} of these{' '}
          {decided}.
        </p>
        <div class="buttons">
          <Button look="quiet" onPress={close}>
            Keep asking
          </Button>
          <Button
            onPress={() => {
              close();
              inbox.answering.acceptSuggestion();
            }}
          >
            Make the rule
          </Button>
        </div>
      </dialog>
    </>
  );
}
