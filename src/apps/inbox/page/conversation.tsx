import type { InboxRequest } from '../inbox-api.ts';
import { LongText } from './long-text.tsx';
import { Fold, Optional } from './reading.tsx';

const roles = { user: 'User', assistant: 'Agent', tool: 'Tool' };

/** The conversation that led to the request. It need not be read. */
export function Conversation({
  messages,
}: {
  messages: NonNullable<InboxRequest['conversation']>;
}) {
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
