import { type ComponentChildren, createContext } from 'preact';
import { useContext } from 'preact/hooks';
import { inertLine, quoteInertLine } from '../../../content/inert-text.ts';
import { isObject } from '../../../json/json-value.ts';
import type { FieldFormat } from '../inbox-api.ts';
import {
  type ArgumentPath,
  type Declared,
  findCurrencyPath,
  findFormat,
  hasMasked,
  isMasked,
  leadsThrough,
  renderArgumentPath,
} from './argument-path.ts';
import { isPlainObject, isSameJson, readOwn } from '../../../json/json-value.ts';
import { DataTable } from './data-table.tsx';
import { FileValue } from './file-value.tsx';
import { formatValue } from './format-value.ts';
import { Literal, NotShown, Tag } from './literal.tsx';
import { LongText } from './long-text.tsx';
import { Field, Fold, useReader } from './reading.tsx';
import { Relative } from './relative.tsx';

/** The source of values: all arguments, with the declarations about them. */
interface Source {
  /** Its unique name in the shown content. */
  name: string;
  root: unknown;
  declared: Declared;
}

const Source = createContext<Source>({
  name: '',
  root: undefined,
  declared: { formats: [], masked: [] },
});

/** Arguments, or any JSON, in full: each field has to be read. */
export function Arguments(source: Source) {
  const { name, root } = source;
  return (
    <Source.Provider value={source}>
      {isPlainObject(root) && Object.keys(root).length > 0 ? (
        <Rows value={root} path={[]} />
      ) : (
        <Field name={`${name}:`} label={name}>
          <Value value={root} path={[]} />
        </Field>
      )}
    </Source.Provider>
  );
}

/** A container for the values of one source, in which `Value` can be used. */
export function ValuesOf({ children, ...source }: Source & { children: ComponentChildren }) {
  return <Source.Provider value={source}>{children}</Source.Provider>;
}

interface PlacedValue {
  value: unknown;
  path: ArgumentPath;
}

/** A value of any kind, in full. */
export function Value({ value, path }: PlacedValue) {
  const { name, declared } = useContext(Source);
  if (isMasked(declared, path))
    return <NotShown name={`${name}:${renderArgumentPath(path)}`} why="a secret" />;
  const found = findFormat(declared, path);
  if (found !== undefined && value !== null)
    return <Formatted value={value} path={path} {...found} />;
  if (!isObject(value)) return <Literal value={value} />;
  if (Object.keys(value).length === 0)
    return <Tag>{Array.isArray(value) ? 'empty list' : 'empty object'}</Tag>;
  return <Group value={value} path={path} />;
}

function Formatted({
  value,
  path,
  format,
  indexes,
}: PlacedValue & { format: FieldFormat; indexes: number[] }) {
  const { name, root } = useContext(Source);
  const reader = useReader();
  const exact = isObject(value) ? <Group value={value} path={path} /> : <Literal value={value} />;
  if (format.type === 'file' && typeof value === 'string')
    return (
      <FileValue name={`${name}:${renderArgumentPath(path)}`} base64={value} format={format} />
    );
  if (format.type === 'code' && typeof value === 'string')
    return (
      <>
        <LongText text={value} isCode />
        {format.language !== undefined && <Tag>{inertLine(format.language)}</Tag>}
      </>
    );
  const formatted = formatValue(value, format, reader, { root, indexes });
  if (formatted === undefined) return exact;
  if ('fault' in formatted)
    return (
      <>
        {exact} <Tag>{formatted.fault}</Tag>
      </>
    );
  const { text, more, at } = formatted;
  return (
    <span className="formatted">
      <strong>{text}</strong>
      {at !== undefined && <Relative at={at} />}
      {more !== undefined && <span className="more">{more}</span>}
      <span className="exact">
        <span className="unseen">exactly </span>
        {typeof value === 'string' ? quoteInertLine(value) : exact}
      </span>
    </span>
  );
}

/* Values with more leaves, or deeper ones, are folded at first. */
const mostOpen = 200;
const deepestOpen = 16;
/* A table in a table is narrow; a third level would be too narrow to read. */
const deepestTable = 3;
/* Deeper values are written as JSON: browsers crash at some hundred nested boxes. */
const deepestRows = 40;
/* The number of items in one fold of a long list. */
const chunkSize = 100;

function Group({ value, path }: { value: object; path: ArgumentPath }) {
  const { name } = useContext(Source);
  if (path.length > deepestRows)
    return (
      <>
        <LongText text={JSON.stringify(value)} isCode /> <Tag>JSON</Tag>
      </>
    );
  const label = renderArgumentPath(path);
  const isOpen = path.length < deepestOpen && countLeaves(value, mostOpen) <= mostOpen;
  return (
    <Fold
      summary={
        <>
          {describeCount(value)}
          <span className="unseen"> in {label}</span>
        </>
      }
      isOpen={isOpen}
      field={{ name: `${name}:${label}()`, label }}
    >
      {() =>
        path.length <= deepestTable && isTable(value) ? (
          <Table rows={value} path={path} start={0} />
        ) : (
          <Rows value={value} path={path} />
        )
      }
    </Fold>
  );
}

/** Describes the number of parts of a value. */
function describeCount(value: object): string {
  const count = Object.keys(value).length;
  const noun = Array.isArray(value) ? 'item' : 'field';
  return `${count.toLocaleString('en')} ${noun}${count === 1 ? '' : 's'}`;
}

/** Counts the leaves in a value, or returns any number above the limit. */
function countLeaves(value: unknown, limit: number): number {
  let count = 0;
  let ahead = [value];
  for (let depth = 0; ahead.length > 0; depth += 1) {
    if (depth > deepestOpen) return limit + 1;
    const inside = ahead.filter(isObject);
    count += ahead.length - inside.length;
    if (count + inside.length > limit) return limit + 1;
    ahead = inside.flatMap((each) => Object.values(each).slice(0, limit + 1));
  }
  return count;
}

/** The parts of a value, each with its path. Large numbers of them are folded by the hundred. */
function Rows({ value, path }: { value: object; path: ArgumentPath }) {
  const { name } = useContext(Source);
  const isList = Array.isArray(value);
  const parts = Object.entries(value).map(([key, part]: [string, unknown]) => ({
    part,
    path: [...path, isList ? Number(key) : key],
  }));
  if (parts.length <= chunkSize) return <RowList parts={parts} />;
  const count = Math.ceil(parts.length / chunkSize);
  const starts = Array.from({ length: count }, (_, at) => at * chunkSize);
  return (
    <>
      {starts.map((start) => {
        const chunk = parts.slice(start, start + chunkSize);
        const items = chunk.map(({ part }) => part);
        const [first, last] = [chunk[0], chunk.at(-1)].map((each) =>
          renderArgumentPath(each?.path ?? []),
        );
        const label = `${first} to ${last}`;
        return (
          <Fold
            key={start}
            summary={label}
            isOpen={false}
            field={{ name: `${name}:${label}`, label }}
          >
            {() => (
              <div className="chunk">
                {isList && isTable(items) ? (
                  <Table rows={items} path={path} start={start} />
                ) : (
                  <RowList parts={chunk} />
                )}
              </div>
            )}
          </Fold>
        );
      })}
    </>
  );
}

function RowList({ parts }: { parts: { part: unknown; path: ArgumentPath }[] }) {
  const { name } = useContext(Source);
  return (
    <dl className="rows">
      {parts.map(({ part, path }) => {
        const label = renderArgumentPath(path);
        const value = <Value value={part} path={path} />;
        return (
          <div key={label} className={isWide(part) ? 'row wide' : 'row'}>
            <dt>
              <PathName path={path} />
            </dt>
            <dd>
              {path.length > 1 ? (
                value
              ) : (
                <Field name={`${name}:${label}`} label={label}>
                  {value}
                </Field>
              )}
            </dd>
          </div>
        );
      })}
    </dl>
  );
}

/** A path with its last part set apart. */
export function PathName({ path }: { path: ArgumentPath }) {
  const whole = renderArgumentPath(path);
  const before = renderArgumentPath(path.slice(0, -1));
  return (
    <>
      {before !== '' && <span className="path">{before}</span>}
      {whole.slice(before.length)}
    </>
  );
}

const widestBeside = 400;

/** Checks whether a value gets the whole width, below its name. */
function isWide(value: unknown): boolean {
  if (typeof value === 'string') return value.length > widestBeside || value.includes('\n');
  return isObject(value) && Object.keys(value).length > 0;
}

type TableRow = Record<string, unknown>;
const mostColumns = 12;
const mostRows = 100;

/** Checks whether a list is one of objects that fit into a table. */
function isTable(value: unknown): value is TableRow[] {
  if (!Array.isArray(value) || value.length < 2 || value.length > mostRows) return false;
  if (!value.every(isPlainObject)) return false;
  const { length } = listColumns(value);
  return length > 0 && length <= mostColumns;
}

function listColumns(rows: readonly TableRow[]): string[] {
  return [...new Set(rows.flatMap((row) => Object.keys(row)))];
}

/** Lists the columns with the currencies of a column's amounts: amounts are the same in all rows only if these are. */
function listCurrencyColumns({ formats }: Declared, item: ArgumentPath, column: string): string[] {
  return formats.flatMap(({ path, format }) => {
    const currency = findCurrencyPath(format) ?? [];
    const isOfItem = leadsThrough(path, [...item, column]) && leadsThrough(currency, item);
    const name = currency[item.length];
    return isOfItem && name !== undefined ? [name] : [];
  });
}

interface TableProps {
  rows: readonly TableRow[];
  path: ArgumentPath;
  /** The position of the first row in its list. */
  start: number;
}

/** A table of a list of objects. Fields that all of them share are shown once, above. */
function Table({ rows, path, start }: TableProps) {
  const { declared } = useContext(Source);
  const label = renderArgumentPath(path);
  const columns = listColumns(rows);
  const first = rows[0] ?? {};
  const isSame = (column: string): boolean =>
    Object.hasOwn(first, column) &&
    rows.every((row) => Object.hasOwn(row, column) && isSameJson(row[column], first[column]));
  const item = [...path, start];
  /* Hidden values may differ. */
  const same = columns.filter(
    (column) => isSame(column) && !hasMasked(declared, [...item, column]),
  );
  const constant = same.filter((column) =>
    listCurrencyColumns(declared, item, column).every((each) => same.includes(each)),
  );
  const others = columns.filter((column) => !constant.includes(column));
  return (
    <>
      {constant.length > 0 && (
        <>
          <p className="same">The same in all {rows.length}:</p>
          <dl className="rows">
            {constant.map((column) => (
              <div key={column} className="row">
                <dt>{renderArgumentPath([column])}</dt>
                <dd>
                  <Value value={first[column]} path={[...path, start, column]} />
                </dd>
              </div>
            ))}
          </dl>
        </>
      )}
      {others.length > 0 && (
        <DataTable
          label={label}
          columns={others.map((column) => renderArgumentPath([column]))}
          rows={rows.map((row, index) => ({
            name: `[${start + index}]`,
            cells: others.map((column) => {
              const cell = readOwn(row, column);
              return cell === undefined ? (
                <Tag>absent</Tag>
              ) : (
                <Value value={cell.value} path={[...path, start + index, column]} />
              );
            }),
          }))}
        />
      )}
    </>
  );
}
