import { useMemo } from 'preact/hooks';
import type { InboxEntry, InboxRequest } from '../inbox-api.ts';
import { Arguments } from './arguments.tsx';
import { Changes } from './changes.tsx';
import { Conversation } from './conversation.tsx';
import { EarlierDecisions } from './earlier-decisions.tsx';
import { Effect } from './effect.tsx';
import { isNamed } from './argument-path.ts';
import { Details } from './details.tsx';
import { Inert } from './inert.tsx';
import { Field, Reading } from './reading.tsx';
import { AskerFacts } from './asker-facts.tsx';
import { Time } from './relative.tsx';
import { pickApproval } from './request-words.ts';
import type { DetailHandle, ShownState } from './shown-state.ts';

export type { DetailHandle } from './shown-state.ts';

interface RequestDetailProps {
  entry: InboxEntry;
  earlier: InboxRequest['earlier'];
  conversation?: InboxRequest['conversation'];
  now: number;
  /** Told whenever the person has reached the end of something more. */
  onShown: (shown: ShownState) => void;
  /** Given once what the keys do. */
  handle: (handle: DetailHandle) => void;
}

/** One request in full, below its title: what it does, its arguments, who asks, for whom and until when, and what was decided before. */
export function RequestDetail(props: RequestDetailProps) {
  const { entry, now, onShown, handle } = props;
  const { threadId, requestId, digest } = entry;
  /* Whatever else is shown has to be read anew; a person's own edit has no digest yet. */
  const edit = pickApproval(entry)?.edit;
  const key = [threadId, requestId, digest, edit?.original.digest, edit?.at];
  return (
    <Reading key={key.join(' ')} {...{ now, onShown, handle }}>
      <Content {...props} />
    </Reading>
  );
}

function Content({ entry, earlier, conversation }: RequestDetailProps) {
  /* Without the present, which changes each second: what needs it has it from its context. */
  return useMemo(
    () => (
      <>
        <Effect entry={entry} />
        <Edit entry={entry} />
        <CallArguments entry={entry} />
        <Details entry={entry} />
        <AskerFacts entries={[entry]} />
        <EarlierDecisions earlier={earlier} entry={entry} />
        {conversation !== undefined && <Conversation messages={conversation} />}
      </>
    ),
    [entry, earlier, conversation],
  );
}

/** The call that a request or a lost call is about. */
function readCall({ request, lostCall }: InboxEntry): { input?: unknown } | undefined {
  return lostCall ?? request?.toolCall;
}

function CallArguments({ entry }: { entry: InboxEntry }) {
  const call = readCall(entry);
  if (call === undefined) return null;
  const count = isNamed(call.input) ? Object.keys(call.input).length : 1;
  return (
    <section>
      <h3>
        Arguments <span className="count">{count}</span>
      </h3>
      <Arguments name="arguments" root={call.input} declared={entry} />
    </section>
  );
}

function Edit({ entry }: { entry: InboxEntry }) {
  const request = pickApproval(entry);
  const edit = request?.edit;
  if (edit === undefined) return null;
  const { original, person, onBehalfOf, at } = edit;
  return (
    <section>
      <h3>
        Edited
        {person !== undefined && (
          <>
            {' '}
            by <Inert text={person} />
          </>
        )}
      </h3>
      <Field name="edit" label="edit">
        <p className="muted">
          {onBehalfOf !== undefined && (
            <>
              for <Inert text={onBehalfOf} />,{' '}
            </>
          )}
          <Time at={at} />
        </p>
        {original.text !== request?.text && (
          <p>
            Asked before the edit: <Inert text={original.text} />
          </p>
        )}
        <Changes
          name="edit"
          before={original.input}
          after={request?.toolCall?.input}
          declared={entry}
        />
      </Field>
    </section>
  );
}
