import { useMemo } from 'preact/hooks';
import type { InboxEntry, InboxRequest } from '../inbox-api.ts';
import { Arguments } from './arguments.tsx';
import { Changes } from './changes.tsx';
import { Effect } from './effect.tsx';
import { isPlainObject } from '../../../json/json-value.ts';
import { Details } from './details.tsx';
import { renderAnswerer } from '../../../content/request-text.ts';
import { Escaped, Inert } from './inert.tsx';
import { Field, Fold, Optional, Reading } from './reading.tsx';
import { AskerFacts } from './asker-facts.tsx';
import { Time } from './relative.tsx';
import { pickApproval } from './request-words.ts';
import type { DetailHandle, ShownState } from './shown-state.ts';
import { LongText } from './long-text.tsx';
import { inertLine } from '../../../content/inert-text.ts';
import { stateWords } from '../../../view/state-words.ts';

export type { DetailHandle } from './shown-state.ts';

interface RequestDetailProps {
  entry: InboxEntry;
  earlier: InboxRequest['earlier'];
  conversation?: InboxRequest['conversation'];
  now: number;
  /** Called whenever the person has reached the end of another field. */
  onShown: (shown: ShownState) => void;
  /** Called once with the handle for the keys. */
  handle: (handle: DetailHandle) => void;
}

/** One request in full, below its title: its effect, its arguments, its requester, principal and deadline, and earlier decisions. */
export function RequestDetail(props: RequestDetailProps) {
  const { entry, now, onShown, handle } = props;
  const { threadId, requestId, digest } = entry;
  /* Changed content has to be read again; a person's own edit has no digest yet. */
  const edit = pickApproval(entry)?.edit;
  const key = [threadId, requestId, digest, edit?.original.digest, edit?.at];
  return (
    <Reading key={key.join(' ')} {...{ now, onShown, handle }}>
      <Content {...props} />
    </Reading>
  );
}

function Content({ entry, earlier, conversation }: RequestDetailProps) {
  /* Without the present, which changes each second: components that need it read its context. */
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

/** Reads the call that a request or a lost call is about. */
function readCall({ request, lostCall }: InboxEntry): { input?: unknown } | undefined {
  return lostCall ?? request?.toolCall;
}

function CallArguments({ entry }: { entry: InboxEntry }) {
  const call = readCall(entry);
  if (call === undefined) return null;
  const count = isPlainObject(call.input) ? Object.keys(call.input).length : 1;
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
  const { original, person = 'somebody', onBehalfOf, at } = edit;
  return (
    <section>
      <h3>
        Edited by <Escaped text={renderAnswerer({ person, onBehalfOf })} />
      </h3>
      <Field name="edit" label="edit">
        <p className="muted">
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

const roles = { user: 'User', assistant: 'Agent', tool: 'Tool' };

/** The conversation that led to the request. It need not be read. */
function Conversation({ messages }: { messages: NonNullable<InboxRequest['conversation']> }) {
  if (messages.length === 0) return null;
  return (
    <Optional>
      <section>
        <h3>
          Conversation <span className="count">{messages.length}</span>
        </h3>
        <Fold summary="What was said" isOpen={false}>
          {() => (
            <ol className="conversation">
              {messages.map(({ role, text }, index) => (
                <li key={index}>
                  <b>{roles[role]}</b>
                  <LongText text={text} />
                </li>
              ))}
            </ol>
          )}
        </Fold>
      </section>
    </Optional>
  );
}

interface EarlierDecisionsProps {
  entry: InboxEntry;
  earlier: InboxRequest['earlier'];
}

/** Earlier decisions about calls of the same tool, each with its differences from this one. They need not be read. */
function EarlierDecisions({ entry, earlier }: EarlierDecisionsProps) {
  if (earlier.length === 0) return null;
  const input = entry.lostCall?.input ?? entry.request?.toolCall?.input;
  return (
    <Optional>
      <section>
        <h3>
          Earlier decisions <span className="count">{earlier.length}</span>
        </h3>
        <ul className="earlier">
          {earlier.map(
            ({ requestId, threadId, state, decidedBy, decidedAt, reason, input: before }) => (
              <li key={`${threadId} ${requestId}`}>
                <b>{stateWords[state]}</b>
                {decidedBy !== null && ` by ${inertLine(decidedBy)}`}
                {decidedAt !== undefined && (
                  <>
                    , <Time at={decidedAt} />
                  </>
                )}
                {reason !== undefined && (
                  <q>
                    <Inert text={reason} />
                  </q>
                )}
                {before === undefined ? (
                  <> Its arguments are not shown here: they are long, or were erased.</>
                ) : (
                  <Fold summary="What differs from this one" isOpen={false}>
                    {() => (
                      <Changes
                        name={`earlier ${requestId}`}
                        before={before}
                        after={input}
                        declared={entry}
                      />
                    )}
                  </Fold>
                )}
              </li>
            ),
          )}
        </ul>
      </section>
    </Optional>
  );
}
