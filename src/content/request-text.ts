import type { ApprovalRequest } from './approval.ts';
import type { Remember } from './approval-terms.ts';
import { inertLine, inertNames, quoteInert, quoteInertLine } from './inert-text.ts';
import { type Requested, listRequesters } from './requesters.ts';
import type { Vote } from './vote.ts';

/** Renders who answered, and for whom, as one line that is safe to show. */
export function renderAnswerer({
  person,
  onBehalfOf,
}: Pick<Vote, 'person' | 'onBehalfOf'>): string {
  const name = inertLine(person);
  return onBehalfOf === undefined ? name : `${name} (for ${inertLine(onBehalfOf)})`;
}

/** Renders, as one line that is safe to show, how many of its approvals a request has, and that it waits for the others. */
export function renderWaiting({ quorum = 1, text }: ApprovalRequest, count: number): string {
  const left = Math.max(1, quorum - count);
  const others = left === 1 ? 'another person' : `${left} other people`;
  return `${count} of ${quorum} approvals, waits for ${others}: ${inertLine(text)}`;
}

/**
 * Renders the scope of a standing approval, as one line that is safe to show. A caller that knows the call adds the inputs and the people.
 */
export function renderRemember(
  { scope, match, expiresAfterMs, uses }: Remember,
  inputs?: string,
  person = 'for this person',
): string {
  const scopes = { thread: 'in this conversation', principal: person, everyone: 'for everyone' };
  const matches = { exact: 'with this input', any: 'with any input' };
  return [
    scopes[scope],
    inputs ?? (typeof match === 'string' ? matches[match] : `with the same ${inertNames(match)}`),
    expiresAfterMs && `for ${Math.ceil(expiresAfterMs / 60_000)} minutes`,
    uses && `${uses} times`,
  ]
    .filter(Boolean)
    .join(', ');
}

/* The fields in which apps name a person, as people choose it, the most telling first. */
const names = ['name', 'email'] as const;

/** The fields by which apps identify a person, the most reliable first. */
export const idFields = ['id', 'subject', 'sub', 'email'] as const;

/**
 * Renders a person, as one line that is safe to show; `undefined` if there is none. A text principal as it is; an object by its name with
 * its id beside it, as in `Ada (u-17)`, because people choose their names, or by its id alone; any other as JSON.
 */
export function renderPerson(principal: unknown): string | undefined {
  if (principal === undefined || principal === null) return undefined;
  return renderNamedPerson(principal) ?? inertLine(JSON.stringify(principal));
}

/** Renders a person for others to read; `undefined` for a principal without a name and an id, whose JSON may hold private data. */
export function renderNamedPerson(principal: unknown): string | undefined {
  const text = readName(principal) ?? readFirstField(principal, idFields);
  const name = readFirstField(principal, names);
  if (name === undefined) return text === undefined ? undefined : inertLine(text);
  const id = readFirstField(principal, idFields, readIdText);
  /* A name in parentheses or quotation marks could look like an id, or like another name. */
  const shown = /["()]/.test(name.normalize('NFKC')) ? quoteInertLine(name) : inertLine(name);
  return id === undefined || id === name ? shown : `${shown} (${inertLine(id)})`;
}

/**
 * Names a principal, as text, where the app's `principalId` is not known: a text or a number as it is, an object's id, or its JSON;
 * `undefined` for nobody.
 */
export function namePrincipal(principal: unknown): string | undefined {
  const name = readName(principal) ?? readFirstField(principal, idFields, readIdText);
  if (name !== undefined) return name;
  if (typeof principal === 'number') return String(principal);
  return typeof principal === 'object' && principal !== null
    ? JSON.stringify(principal)
    : undefined;
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

/* White space is not a name. */
function readName(value: unknown): string | undefined {
  return typeof value === 'string' && value.trim() !== '' ? value : undefined;
}

function readIdText(value: unknown): string | undefined {
  return typeof value === 'number' ? String(value) : readName(value);
}

/** Renders everybody who asked, as one line that is safe to show; `undefined` if nobody is known. */
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
