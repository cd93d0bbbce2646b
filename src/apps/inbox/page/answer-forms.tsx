import type { InboxEntry } from '../inbox-api.ts';
import { Button } from './button.tsx';
import type { Inbox } from './inbox.ts';

interface FormProps {
  inbox: Inbox;
  entry: InboxEntry;
}

/** The form for a reason. No key in it answers. */
export function ReasonForm({
  inbox: { answering },
  entry: { requestId },
  title,
  isLater,
}: FormProps & { title: string; isLater?: boolean }) {
  return (
    <label class="field">
      {title}
      <textarea
        class={isLater === true ? undefined : 'step'}
        rows={2}
        value={answering.draft(requestId).reason ?? ''}
        onInput={({ currentTarget }) =>
          answering.setDraft(requestId, { reason: currentTarget.value })
        }
      />
    </label>
  );
}

/** The form that reassigns a request to another person. */
export function ReassignForm({ inbox: { answering }, entry: { requestId } }: FormProps) {
  const { to = '' } = answering.draft(requestId);
  return (
    <div class="field-line">
      <label class="field">
        Who is to answer instead: a name, role or team
        <input
          class="step"
          value={to}
          autocomplete="off"
          onInput={({ currentTarget }) =>
            answering.setDraft(requestId, { to: currentTarget.value })
          }
        />
      </label>
      <Button
        isRested={() => answering.isRested}
        onPress={() => {
          if (to.trim() === '') answering.say('Say who is to answer instead.');
          else answering.act({ type: 'reassign', to: to.trim() }, 'Passing it on');
        }}
      >
        Pass it on
      </Button>
    </div>
  );
}

const outcomes = [
  { value: 'succeeded', label: 'It happened; this was its result:' },
  { value: 'failed', label: 'It did not happen; this is why:' },
  { value: 'retry', label: 'It did not happen: run it again' },
] as const;

/** The form that settles a lost call. */
export function SettleForm({ inbox: { answering }, entry: { requestId } }: FormProps) {
  const { outcome, result = '' } = answering.draft(requestId);
  return (
    <fieldset class="field">
      <legend class="step" tabIndex={-1}>
        What became of the call?
      </legend>
      {outcomes.map(({ value, label }) => (
        <label key={value} class="check">
          <input
            type="radio"
            name="outcome"
            checked={outcome === value}
            onChange={() => answering.setDraft(requestId, { outcome: value })}
          />
          {label}
        </label>
      ))}
      {outcome !== undefined && outcome !== 'retry' && (
        <textarea
          rows={2}
          aria-label={outcome === 'succeeded' ? 'The result' : 'Why'}
          value={result}
          onInput={({ currentTarget }) =>
            answering.setDraft(requestId, { result: currentTarget.value })
          }
        />
      )}
      {outcome === 'succeeded' && <p class="why">{describeResult(result)}</p>}
      {outcome !== undefined && (
        <Button
          isRested={() => answering.isRested}
          onPress={() =>
            answering.act({ type: 'settle', outcome: makeOutcome(outcome, result) }, 'Settling')
          }
        >
          Settle
        </Button>
      )}
    </fieldset>
  );
}

function makeOutcome(status: (typeof outcomes)[number]['value'], result: string) {
  switch (status) {
    case 'succeeded':
      return { status, output: readResult(result) };
    case 'failed':
      return { status, error: result };
    case 'retry':
      return { status };
  }
}

/* Text that is valid JSON counts as JSON. */
function readResult(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return value;
  } catch {
    return text;
  }
}

function describeResult(text: string): string {
  const value = readResult(text);
  return value === text ? 'It will be recorded as text.' : 'It will be recorded as JSON.';
}
