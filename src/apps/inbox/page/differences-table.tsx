import type { ComponentChildren } from 'preact';
import { useMemo } from 'preact/hooks';
import { inertLine, inertText } from '../../../content/inert-text.ts';
import type { InboxDetail, InboxEntry } from '../inbox-api.ts';
import { findFormat, isMasked, renderArgumentPath } from './argument-path.ts';
import { Arguments, Value, ValuesOf } from './arguments.tsx';
import { DataTable } from './data-table.tsx';
import { Detail } from './details.tsx';
import { compareInputs, findUsual, type DifferingField } from './differing-fields.ts';
import { Escaped, Inert } from './inert.tsx';
import { EdgeTag, Tag } from './literal.tsx';
import { LongText } from './long-text.tsx';
import { isAbsent } from './effect.tsx';
import { Field, MissingField, Reading } from './reading.tsx';
import { AskerFacts, FactParts, pickFacts } from './asker-facts.tsx';
import { isSameJson } from '../../../json/json-value.ts';
import { describeRights, listEntryFacts, pickApproval } from './request-words.ts';
import { diffWords } from './text-diff.ts';
import type { DetailHandle, ShownState } from './shown-state.ts';
import { Warnings } from './warnings.tsx';

interface DifferencesTableProps {
  entries: readonly InboxEntry[];
  /** The present. Default: the browser's clock. */
  now?: number;
  onShown: (shown: ShownState) => void;
  handle?: (handle: DetailHandle) => void;
}

/** Similar requests as one: shared values once, and the differing ones in a table with a row for each request. */
export function DifferencesTable({
  entries,
  now = Date.now(),
  onShown,
  handle,
}: DifferencesTableProps) {
  const key = entries.map(
    ({ threadId, requestId, digest }) => `${threadId} ${requestId} ${digest}`,
  );
  return (
    <Reading key={key.join('\n')} {...{ now, onShown, handle }}>
      <Content entries={entries} />
    </Reading>
  );
}

function Content({ entries }: { entries: readonly InboxEntry[] }) {
  return useMemo(() => <Differences entries={entries} />, [entries]);
}

function Differences({ entries }: { entries: readonly InboxEntry[] }) {
  const [first] = entries;
  const { shared, columns } = useMemo(() => listColumns(entries), [entries]);
  if (first === undefined) return null;
  const why = pickApproval(first)?.reason;
  const rows = entries.map((entry, index) => ({
    name: index + 1,
    /* An argument may be named like another column. */
    cells: columns.map(({ name, render }, place) => (
      <Field
        key={place}
        name={`${entry.threadId} ${entry.requestId} ${place} ${name}`}
        label={`row ${index + 1}: ${name}`}
      >
        {render(index)}
      </Field>
    )),
  }));
  return (
    <>
      <section aria-label="Effect">
        <Field name="effect" label="effect">
          <p className="effect">
            {first.toolName !== null && <span className="code">{inertLine(first.toolName)}</span>}
          </p>
          {entries.every(({ request }) => request?.text === first.request?.text) && (
            <LongText text={first.request?.text ?? ''} />
          )}
          {why !== undefined && entries.every((each) => pickApproval(each)?.reason === why) && (
            <p>
              Why: <Inert text={why} />
            </p>
          )}
          <Warnings of={entries} />
          {entries.some(isAbsent) && (
            <MissingField name="requests" label="what some of them ask">
              What {entries.filter(isAbsent).length} of them ask is not here: open them one by one.
            </MissingField>
          )}
        </Field>
      </section>
      {shared !== undefined && (
        <section>
          <h3>The same in all {entries.length}</h3>
          {entries.some(({ masked }) => masked.length > 0) && (
            <p className="warning">What is not shown may differ all the same.</p>
          )}
          <Arguments name="arguments" root={shared.value} declared={first} />
        </section>
      )}
      <section>
        <h3>What differs</h3>
        {columns.length === 0 ? (
          <Field name="differences" label="what differs">
            <p>All {entries.length} are the same call</p>
          </Field>
        ) : (
          <DataTable label="what differs" columns={columns.map(({ name }) => name)} rows={rows} />
        )}
      </section>
      <AskerFacts entries={entries} />
    </>
  );
}

/** Something in which entries differ. */
interface Column {
  /** Safe to show. */
  name: string;
  render: (index: number) => ComponentChildren;
}

function listColumns(entries: readonly InboxEntry[]): {
  shared?: { value: unknown };
  columns: Column[];
} {
  const inputs = entries.map(
    ({ request, lostCall }) => lostCall?.input ?? request?.toolCall?.input,
  );
  const { shared, differing } = compareInputs(inputs, entries[0]?.formats);
  const renderArgument = (field: DifferingField): Column => ({
    name: renderArgumentPath(field.path) || 'input',
    render: (index) => (
      <Cell field={field} index={index} entry={entries[index]} root={inputs[index]} />
    ),
  });
  return {
    ...(shared && { shared }),
    columns: [
      ...differing.map(renderArgument),
      ...listDetailColumns(entries),
      ...listFactColumns(entries),
    ],
  };
}

interface CellProps {
  field: DifferingField;
  index: number;
  entry: InboxEntry | undefined;
  root: unknown;
}

/** A value of a row, in full. In a text, differences from the text of most rows are marked. */
function Cell({ field: { path, cells }, index, entry, root }: CellProps) {
  const cell = cells[index];
  if (cell === undefined || entry === undefined) return <Tag>absent</Tag>;
  const usual = findUsual(cells)?.value;
  const isPlain = findFormat(entry, path) === undefined && !isMasked(entry, path);
  if (
    typeof cell.value === 'string' &&
    typeof usual === 'string' &&
    cell.value !== usual &&
    usual.length > shortest &&
    isPlain
  ) {
    return <MarkedText text={cell.value} usual={usual} />;
  }
  return (
    <ValuesOf name={`row ${index + 1}`} root={root} declared={entry}>
      <Value value={cell.value} path={path} />
    </ValuesOf>
  );
}

/* In shorter texts differences are easy to see. */
const shortest = 40;

function MarkedText({ text, usual }: { text: string; usual: string }) {
  const { before, after } = diffWords(inertText(usual), inertText(text));
  const gone = before.filter(({ isChanged }) => isChanged);
  return (
    <>
      <span className="text">
        {after.map((part, index) =>
          part.isChanged ? (
            <b key={index} className="differs">
              <Escaped text={part.text} />
            </b>
          ) : (
            <Escaped key={index} text={part.text} />
          ),
        )}
      </span>
      <EdgeTag text={text} />
      <span className="more">
        Differs from most
        {gone.length > 0 && (
          <>
            , which have <Escaped text={gone.map((part) => part.text.trim()).join(' … ')} />
          </>
        )}
      </span>
    </>
  );
}

/** Lists details with the same place and label in all entries, if they differ, and all others. */
function listDetailColumns(entries: readonly InboxEntry[]): Column[] {
  const most = Math.max(...entries.map(({ details }) => details.length));
  return Array.from({ length: most }, (_, place) => {
    const details = entries.map((entry): InboxDetail | undefined => entry.details[place]);
    const [first] = details;
    const labels = new Set(details.map((each) => each?.label));
    return {
      name: labels.size === 1 && first ? inertLine(first.label) : `detail ${place + 1}`,
      render: (index: number) => {
        const detail = details[index];
        if (detail === undefined) return <Tag>absent</Tag>;
        return (
          <>
            {labels.size > 1 && `${inertLine(detail.label)}: `}
            <Detail detail={detail} name={`row ${index + 1} detail ${place}`} />
          </>
        );
      },
    };
  });
}

function listFactColumns(entries: readonly InboxEntry[]): Column[] {
  const texts: [string, (entry: InboxEntry) => string | undefined][] = [
    ['asked as', ({ request }) => request?.text],
    ['agent', ({ agent }) => agent ?? undefined],
    ['tenant', ({ tenant }) => tenant ?? undefined],
    ['you may', describeRights],
  ];
  const columns = texts
    .map(([name, read]) => ({ name, values: entries.map(read) }))
    .filter(({ values }) => values.some((each) => each !== values[0]))
    .map(({ name, values }) => ({
      name,
      render: (index: number) => {
        const text = values[index];
        return text === undefined ? <Tag>absent</Tag> : <Inert text={text} />;
      },
    }));
  return [...columns, ...listRequestColumns(entries)];
}

/** Lists the columns for the facts in which the requests differ. */
function listRequestColumns(entries: readonly InboxEntry[]): Column[] {
  const labels = new Map(entries.flatMap(listEntryFacts).map(({ name, label }) => [name, label]));
  return [...labels].flatMap(([name, label]) => {
    const cells = entries.map(pickFacts(name));
    if (cells.every((facts) => isSameJson(facts, cells[0]))) return [];
    const render = (index: number): ComponentChildren => {
      const facts = cells[index] ?? [];
      if (facts.length === 0) return <Tag>absent</Tag>;
      return facts.map((fact, place) => (
        <div key={place}>
          <FactParts fact={fact} name={`row ${index + 1} ${name} ${place}`} />
        </div>
      ));
    };
    return [{ name: label.toLowerCase(), render }];
  });
}
