import type { ApprovalRequest } from './approval.ts';
import type { Remember } from './approval-terms.ts';
import { describeDeadlineAction } from './deadline-action.ts';
import { describeDeadline, describeDuration, type TimeReader } from './deadline-words.ts';
import { inertLine, quoteInert, quoteInertLine } from './inert-text.ts';
import type { AnswerRefusal } from './request-rights.ts';
import { type Requested, listRequesters } from './requesters.ts';
import type { Patch, RequestPath } from './tool-call.ts';
import type { Vote } from './vote.ts';

/**
 * Lines that are safe to show: what a request demands of the people who answer it, what it allows them, and who has answered so far. Times
 * are shown in ISO 8601 unless it is known who reads them.
 */
export function renderTerms(request: ApprovalRequest, reader?: TimeReader): string[] {
  const { risk, approvers, notRequester, requireReason, editable, metadata, follows } = request;
  const starts = describeStart(request);
  return [
    ...(risk === undefined ? [] : [`Risk: ${risk}`]),
    ...(approvers === undefined ? [] : [`May be answered by: ${renderNames(approvers)}`]),
    ...(notRequester === true ? ['Not by the person for whom the agent asks'] : []),
    ...renderVotes(request),
    ...(requireReason === true ? ['An approval needs a reason'] : []),
    ...(editable === undefined ? [] : [`May be edited: ${renderEditable(editable)}`]),
    ...renderDeadline(request, reader),
    ...(starts === undefined ? [] : [`Starts ${starts}`]),
    ...(follows === undefined ? [] : ['Asked again: an earlier request expired unanswered']),
    ...(metadata === undefined ? [] : [`Metadata: ${inertLine(JSON.stringify(metadata))}`]),
    ...renderEdit(request),
  ];
}

function renderNames(names: readonly string[]): string {
  return names.map((name) => inertLine(name)).join(', ');
}

function renderEditable(editable: NonNullable<ApprovalRequest['editable']>): string {
  return editable === true ? 'the whole input' : renderNames(editable);
}

function renderVotes({ quorum, votes = [], reassignments = [] }: ApprovalRequest): string[] {
  const people = votes.map(renderAnswerer);
  const voted = people.length === 0 ? 'none yet' : people.join(', ');
  return [
    ...(quorum === undefined ? [] : [`Approvals: ${people.length} of ${quorum} (${voted})`]),
    ...reassignments.map(
      ({ from, to }) => `${inertLine(from)} asked ${inertLine(to)} to answer instead`,
    ),
  ];
}

/** Who answered, and for whom, as one line that is safe to show. */
export function renderAnswerer({
  person,
  onBehalfOf,
}: Pick<Vote, 'person' | 'onBehalfOf'>): string {
  const name = inertLine(person);
  return onBehalfOf === undefined ? name : `${name} (for ${inertLine(onBehalfOf)})`;
}

/** One line that is safe to show: a request has so many of the approvals that it needs, and waits for the others. */
export function renderWaiting({ quorum = 1, text }: ApprovalRequest, count: number): string {
  const left = Math.max(1, quorum - count);
  const others = left === 1 ? 'another person' : `${left} other people`;
  return `${count} of ${quorum} approvals, waits for ${others}: ${inertLine(text)}`;
}

/** Why a person may not answer a request, in words for them. */
export const refusalWords: Record<AnswerRefusal, string> = {
  requester: 'You asked for this, so somebody else has to decide it.',
  'unknown-requesters': 'It is not known who asked for this, so nobody can approve it.',
  'not-approver': 'This waits for somebody else: you are not one of those who may answer it.',
  unidentified: 'Sign in to answer this.',
  'already-voted': 'You have approved this.',
  closed: 'It is too late to answer this.',
  'child-thread': 'This is answered in the conversation that it belongs to.',
  'missing-tool': 'This can’t be answered here: the server lacks what takes the answer.',
  'no-request': 'There is nothing to answer.',
};

/** What a standing approval covers, as one line that is safe to show. Who knows the call says which inputs these are, and for whom. */
export function renderRemember(
  { scope, match, expiresAfterMs, uses }: Remember,
  inputs?: string,
  person = 'for this person',
): string {
  const scopes = { thread: 'in this conversation', principal: person, everyone: 'for everyone' };
  const matches = { exact: 'with this input', any: 'with any input' };
  return [
    scopes[scope],
    inputs ?? (typeof match === 'string' ? matches[match] : `with the same ${renderNames(match)}`),
    expiresAfterMs && `for ${Math.ceil(expiresAfterMs / 60_000)} minutes`,
    uses && `${uses} times`,
  ]
    .filter(Boolean)
    .join(', ');
}

function renderDeadline(
  { expiresAt, onExpiry, remindAt }: ApprovalRequest,
  reader: TimeReader | undefined,
): string[] {
  const render = (time: number): string =>
    reader === undefined ? renderDate(time) : describeDeadline(time, reader);
  if (expiresAt === undefined) {
    return remindAt === undefined ? [] : [`Reminder: ${render(remindAt)}`];
  }
  return [`Until: ${render(expiresAt)}, then ${describeDeadlineAction(onExpiry).text}`];
}

/** When a call starts at the latest, after "Starts"; `undefined` if its rule doesn't say so. */
export function describeStart({ startWithinMs }: ApprovalRequest): string | undefined {
  if (startWithinMs === undefined) return undefined;
  return `within ${describeDuration(startWithinMs)} of the approval, or it is asked again`;
}

/* A rule may name a time that is later than any date. */
function renderDate(time: number): string {
  return new Date(Math.min(time, 8.64e15)).toISOString();
}

function renderEdit({ edit, text }: ApprovalRequest): string[] {
  if (edit === undefined) return [];
  const { original, patches, person } = edit;
  const who = person === undefined ? '' : ` by ${inertLine(person)}`;
  return [
    `Edited${who}:`,
    ...renderPatches(patches, original.input),
    ...(original.text === text ? [] : [`Asked before the edit: ${inertLine(original.text)}`]),
  ];
}

/** What patches change in an input, from what to what. */
function renderPatches(patches: readonly Patch[], original: unknown): string[] {
  return patches.map(({ op, path, value }) => {
    const place =
      path.length === 0 ? 'everything' : path.map((part) => inertLine(String(part))).join('.');
    const before = renderJson(readValueAt(original, path));
    switch (op) {
      case 'remove':
        return `  ${place}: ${before} is removed`;
      case 'add':
        return `  ${place}: ${renderJson(value)} is added`;
      case 'replace':
        return `  ${place}: ${before} → ${renderJson(value)}`;
    }
  });
}

function renderJson(value: unknown): string {
  return inertLine(JSON.stringify(value) ?? 'nothing');
}

function readValueAt(value: unknown, path: Patch['path']): unknown {
  return path.reduce<unknown>(
    (at, part) =>
      typeof at === 'object' && at !== null && Object.hasOwn(at, part)
        ? Reflect.get(at, part)
        : undefined,
    value,
  );
}

/* The fields in which apps name a person, as people choose it, the most telling first. */
const names = ['name', 'email'] as const;

/** The fields by which apps identify a person, the most reliable first. */
export const idFields = ['id', 'subject', 'sub', 'email'] as const;

/**
 * A person, as one line that is safe to show; `undefined` if there is none. A text principal as it is; an object by its name with its id
 * beside it, as in `Ada (u-17)`, because people choose their names, or by its id alone; any other as JSON.
 */
export function renderPerson(principal: unknown): string | undefined {
  if (principal === undefined || principal === null) return undefined;
  return renderNamedPerson(principal) ?? inertLine(JSON.stringify(principal));
}

/** The same for others to read; `undefined` for a principal without a name and an id, whose JSON may hold what is only that person's. */
export function renderNamedPerson(principal: unknown): string | undefined {
  const text = readName(principal) ?? readFirstField(principal, idFields);
  const name = readFirstField(principal, names);
  if (name === undefined) return text === undefined ? undefined : inertLine(text);
  const id = readFirstField(principal, idFields, readIdText);
  /* A name in parentheses or quotation marks could look like an id, or like another name. */
  const shown = /["()]/.test(name.normalize('NFKC')) ? quoteInertLine(name) : inertLine(name);
  return id === undefined || id === name ? shown : `${shown} (${inertLine(id)})`;
}

/** Who a principal is, as text, where the app's `principalId` is not known: a text or a number as it is, an object's id, or its JSON; `undefined` for nobody. */
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
