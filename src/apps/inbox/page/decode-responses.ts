import { type AnyObject, isObject } from '../../../json/json-value.ts';
import {
  type InboxChange,
  type InboxCounts,
  type InboxEntry,
  inboxLists,
  type InboxOutcome,
  type InboxPage,
  type InboxRequest,
} from '../inbox-api.ts';

/*
 * The page reads responses of the route that served it. These checks distinguish them from others, and check each field from which an
 * answer is made. The schemas would check more, and be half of the page; see ADR 62. The agent checks the effect of an answer.
 */

/** The server's refusal. */
export type InboxRefusal = Extract<InboxOutcome, { status: 'refused' }>['error'];

const entryTexts = ['requestId', 'threadId', 'kind', 'state', 'digest'];
const entryLists = ['requesters', 'approvers', 'formats', 'details', 'masked'];
const requestTypes = ['approval-request', 'question-request'];

function hasTexts(value: AnyObject, names: readonly string[]): boolean {
  return names.every((name) => typeof value[name] === 'string');
}

function isEntry(value: unknown): value is InboxEntry {
  if (!isObject(value) || !hasTexts(value, entryTexts)) return false;
  const { rights, request } = value;
  const hasRights = isObject(rights) && typeof rights['mayAnswer'] === 'boolean';
  const areLists = entryLists.every((name) => Array.isArray(value[name]));
  return hasRights && areLists && (request === undefined || isRequestOf(value, request));
}

function isRequestOf({ requestId, threadId }: AnyObject, request: unknown): boolean {
  return (
    isObject(request) &&
    requestTypes.some((type) => type === request['type']) &&
    request['requestId'] === requestId &&
    request['threadId'] === threadId
  );
}

/** Checks whether it has the viewer and the time of reading. */
function isRead(value: unknown): value is AnyObject {
  return isObject(value) && hasTexts(value, ['viewer']) && typeof value['at'] === 'number';
}

/** Checks whether it is the response to `GET requests`. */
export function isPage(value: unknown): value is InboxPage {
  if (!isRead(value)) return false;
  const { entries, position } = value;
  return Array.isArray(entries) && entries.every(isEntry) && typeof position === 'number';
}

/** Checks whether it is the response to `GET requests/<requestId>`. */
export function isRequest(value: unknown): value is InboxRequest {
  return isRead(value) && isEntry(value['entry']) && Array.isArray(value['earlier']);
}

/** Checks whether it is the response to `GET counts`. */
export function isCounts(value: unknown): value is InboxCounts {
  if (!isRead(value)) return false;
  const counted = inboxLists.filter((list) => list !== 'decided').map((list) => value[list]);
  return counted.every((each) => isObject(each) && typeof each['count'] === 'number');
}

/** Checks whether it is the response to `POST actions`. */
export function isOutcome(value: unknown): value is InboxOutcome {
  if (!isObject(value) || !hasTexts(value, ['requestId'])) return false;
  const { status, entry, error } = value;
  if (status === 'recorded') return isEntry(entry);
  return status === 'refused' && isRefusal(error) && (entry === undefined || isEntry(entry));
}

/** Checks whether it is the response to `POST answers`. */
export function isOutcomes(value: unknown): value is { outcomes: InboxOutcome[] } {
  if (!isObject(value)) return false;
  const { outcomes } = value;
  return Array.isArray(outcomes) && outcomes.every(isOutcome);
}

function isRefusal(value: unknown): value is InboxRefusal {
  return isObject(value) && hasTexts(value, ['code', 'message']);
}

/** Finds the refusal in a body; `undefined` if it has none. */
export function findRefusal(body: unknown): InboxRefusal | undefined {
  return isObject(body) && isRefusal(body['error']) ? body['error'] : undefined;
}

/** Checks whether it is the data of a server-sent event, with or without a changed request. */
export function isChange(value: unknown): value is InboxChange {
  if (!isObject(value)) return false;
  const { requestId = '' } = value;
  return typeof requestId === 'string';
}
