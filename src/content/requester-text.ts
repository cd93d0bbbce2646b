import { inertLine, quoteInert, quoteInertLine } from './inert-text.ts';
import { type Requested, listRequesters } from './requesters.ts';
import type { RequestPath } from './tool-call.ts';

/* The fields in which apps name a person, as people choose it, and those that identify one; the most telling first. */
const names = ['name', 'email'] as const;
const ids = ['id', 'sub', 'subject', 'email'] as const;

/**
 * A person, as one line that is safe to show; `undefined` if there is none. A text principal as it is; an object by its name with its id
 * beside it, as in `Ada (u-17)`, because people choose their names, or by its id alone; any other as JSON.
 */
export function renderPerson(principal: unknown): string | undefined {
  if (principal === undefined || principal === null) return undefined;
  const text = readName(principal) ?? readFirstField(principal, ids);
  const name = readFirstField(principal, names);
  if (name === undefined) return inertLine(text ?? JSON.stringify(principal));
  const id = readFirstField(principal, ids, readIdText);
  /* A name in parentheses or quotation marks could look like an id, or like another name. */
  const shown = /["()]/.test(name.normalize('NFKC')) ? quoteInertLine(name) : inertLine(name);
  return id === undefined || id === name ? shown : `${shown} (${inertLine(id)})`;
}

function readFirstField(
  principal: unknown,
  fields: readonly string[],
  read: (value: unknown) => string | undefined = readName,
): string | undefined {
  if (typeof principal !== 'object' || principal === null) return undefined;
  const values = new Map<string, unknown>(Object.entries(principal));
  return fields.map((field) => read(values.get(field))).find((text) => text !== undefined);
}

/* A text of white space is no name. */
function readName(value: unknown): string | undefined {
  return typeof value === 'string' && value.trim() !== '' ? value : undefined;
}

function readIdText(value: unknown): string | undefined {
  return typeof value === 'number' ? String(value) : readName(value);
}

/** Everybody who asked, as one line that is safe to show; `undefined` if nobody is known. */
export function renderRequesters(requested: Requested): string | undefined {
  const requesters = listRequesters(requested).map(renderPerson);
  if (requesters.every((requester) => requester === undefined)) return undefined;
  if (requesters.length === 1) return requesters[0];
  return requesters
    .map((requester) => (requester === undefined ? 'somebody unknown' : quoteListedName(requester)))
    .join(', ');
}

/* A name within a list that contains other characters is quoted, so that it can't imitate two. */
function quoteListedName(name: string): string {
  return /^[\p{L}\p{N}_ .@+()-]+$/u.test(name) && name !== 'somebody unknown'
    ? name
    : quoteInert(name);
}

/**
 * The path to a sub-agent, outermost first, as one line that is safe to show. A name that contains other characters than letters, digits,
 * spaces, `_`, `.` and `-` is quoted, so that it can't imitate a longer path.
 */
function renderPath(path: RequestPath): string {
  return path
    .map(({ agent }) => (/^[\p{L}\p{N}_ .-]+$/u.test(agent) ? agent : quoteInertLine(agent)))
    .join(' > ');
}

/** Lines that are safe to show: the path to the sub-agent that asks, and the person for whom it runs. */
export function renderAsker({ path, ...requested }: Asker): string[] {
  const requesters = renderRequesters(requested);
  return [
    ...(path === undefined ? [] : [`Asked by: ${renderPath(path)}`]),
    ...(requesters === undefined ? [] : [`Asked for by: ${requesters}`]),
  ];
}

/** The parts of a request that say who asks. */
interface Asker extends Requested {
  path?: RequestPath | undefined;
}
