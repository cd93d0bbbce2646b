import type { ComponentChildren } from 'preact';
import { inertLine } from '../../../content/inert-text.ts';
import type { CardFact } from '../../../view/request-card.ts';
import { describeState } from './entry-words.ts';
import type { InboxEntry } from '../inbox-api.ts';
import { Address } from './address.tsx';
import { Value, ValuesOf } from './arguments.tsx';
import { isSameJson } from '../../../json/json-value.ts';
import { Escaped, Inert } from './inert.tsx';
import { Field } from './reading.tsx';
import { Time } from './relative.tsx';
import { describeRights, listEntryFacts } from './request-words.ts';

/* Shown above: by the effect of a request, and by its edit. */
const above: readonly CardFact['name'][] = ['risk', 'editor', 'change', 'original-text'];
/* Shown by the effect, and among what the person who reads may do. */
const elsewhere: readonly CardFact['name'][] = ['reason', 'editable'];

/**
 * The requester, on whose behalf they ask, the times, the votes, and the reader's rights. For several requests, only facts that all of them
 * share.
 */
export function AskerFacts({ entries }: { entries: readonly InboxEntry[] }) {
  const [entry] = entries;
  if (entry === undefined) return null;
  const { agent, tenant, createdAt, sourceUrl } = entry;
  const isSame = (read: (each: InboxEntry) => unknown): boolean =>
    entries.every((each) => isSameJson(read(each), read(entry)));
  const latest = Math.max(...entries.map((each) => each.createdAt));
  const isOne = entries.length === 1;
  const facts = listEntryFacts(entry).filter(
    ({ name }) =>
      !elsewhere.includes(name) && !(isOne && above.includes(name)) && isSame(pickFacts(name)),
  );
  return (
    <section>
      <h3>Who asks, and until when</h3>
      <Field name="facts" label="who asks, and until when">
        <dl className="rows facts">
          {isSame((each) => each.agent) && (
            <Fact name="Agent">{agent !== null && inertLine(agent)}</Fact>
          )}
          {isSame((each) => each.tenant) && (
            <Fact name="Tenant">{tenant !== null && inertLine(tenant)}</Fact>
          )}
          <Fact name="Since">
            <Time at={Math.min(...entries.map((each) => each.createdAt))} />
            {latest !== createdAt && !isOne && (
              <>
                , the latest <Time at={latest} />
              </>
            )}
          </Fact>
          {facts.map((fact, index) => (
            <Fact key={index} name={fact.label}>
              <FactParts fact={fact} name={`fact ${index}`} />
            </Fact>
          ))}
          {isOne && (
            <>
              <State entry={entry} />
              <Fact name="Comes from">
                {sourceUrl !== undefined && <Address url={sourceUrl} />}
              </Fact>
            </>
          )}
          {isSame(describeRights) && <Fact name="You may">{describeRights(entry)}</Fact>}
        </dl>
      </Field>
    </section>
  );
}

/** Picks the facts of an entry with this name. */
export function pickFacts(name: CardFact['name']): (entry: InboxEntry) => readonly CardFact[] {
  return (entry) => listEntryFacts(entry).filter((fact) => fact.name === name);
}

/** The content of a fact. `name` is unique in the shown content. */
export function FactParts({ fact, name }: { fact: CardFact; name: string }) {
  return (
    <>
      {fact.parts.map((part, index) => {
        if (typeof part === 'string') return <Escaped key={index} text={part} />;
        switch (part.type) {
          case 'time':
            return <Time key={index} at={part.at} />;
          case 'quote':
            return (
              <q key={index}>
                <Inert text={part.text} />
              </q>
            );
          case 'json':
            return (
              <ValuesOf key={index} name={name} root={part.value} declared={noDeclared}>
                <Value value={part.value} path={[]} />
              </ValuesOf>
            );
        }
      })}
    </>
  );
}

const noDeclared = { formats: [], masked: [] };

function State({ entry }: { entry: InboxEntry }) {
  const { state, decidedAt } = entry;
  if (state === 'open') return null;
  return (
    <Fact name="State">
      {describeState(entry)}
      {decidedAt !== undefined && (
        <>
          {' '}
          <Time at={decidedAt} />
        </>
      )}
    </Fact>
  );
}

/** A fact with its name; nothing where there is none. */
function Fact({ name, children }: { name: string; children: ComponentChildren }) {
  if (children === undefined || children === null || children === false || children === '')
    return null;
  return (
    <div className="row">
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}
