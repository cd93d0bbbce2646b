import { inertLine } from '../../../content/inert-text.ts';
import { stateWords } from '../../../view/state-words.ts';
import type { InboxEntry, InboxRequest } from '../inbox-api.ts';
import { Changes } from './changes.tsx';
import { Inert } from './inert.tsx';
import { Fold, Optional } from './reading.tsx';
import { Time } from './relative.tsx';

interface EarlierDecisionsProps {
  entry: InboxEntry;
  earlier: InboxRequest['earlier'];
}

/** Earlier decisions about calls of the same tool, each with its differences from this one. They need not be read. */
export function EarlierDecisions({ entry, earlier }: EarlierDecisionsProps) {
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
