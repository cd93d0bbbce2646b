import { isDeepStrictEqual } from 'node:util';
import type { ApprovalRequest, Grant, ThreadEvent } from 'holdpoint';
import type { CallHistory } from './call-histories.ts';
import type { Evidence } from './evidence.ts';
import type { ThreadEventOf } from '../../src/thread/thread-event.ts';

/** A standing approval, and what it was made from. */
interface Made {
  grant: Grant;
  /** The request's terms, and the requester. */
  request: Partial<ApprovalRequest>;
  /** The input that was decided on. */
  input: unknown;
  threadId: string;
}

const scopes = ['thread', 'principal', 'everyone'];

/** What is wrong with standing approvals: one that is wider than what a person gave, or that decided a call that it doesn't cover. */
export function grantFaults(evidence: Evidence, calls: readonly CallHistory[]): string[] {
  const logs = evidence.policy?.logs ?? [evidence.events];
  const made = new Map(logs.flatMap(madeIn).map((each) => [each.grant.grantId, each]));
  const own = madeIn(evidence.events);
  return [
    ...own.flatMap((each) => makingFaults(each, evidence.events)),
    ...evidence.events.flatMap((event, index) =>
      event.type === 'grant-used' ? useFaults(event, index, { made, evidence, calls }) : [],
    ),
    ...[...made.values()].flatMap(({ grant }) => countFaults(grant, logs)),
  ];
}

function threadIdOf(events: readonly ThreadEvent[]): string {
  const [first] = events;
  return first?.type === 'thread-created' ? first.threadId : '';
}

function madeIn(events: readonly ThreadEvent[]): Made[] {
  const inputs = new Map<string, unknown>();
  const requests = new Map<string, Partial<ApprovalRequest>>();
  const asked = new Map<string, unknown>();
  const shown = new Map<string, unknown>();
  const places = new Map<string, string>();
  return events.flatMap((event): Made[] => {
    if (event.type === 'step-finished' && Array.isArray(event.message?.content)) {
      let index = 0;
      for (const part of event.message.content) {
        if (part.type === 'tool-call') inputs.set(`${event.step}.${index++}`, part.input);
      }
    }
    if (event.type === 'input-remade') inputs.set(`${event.step}.${event.index}`, event.input);
    if (event.type === 'request-opened' && event.request.type === 'approval-request') {
      const { request, place } = event;
      requests.set(request.requestId, request);
      if (place !== undefined) {
        places.set(request.requestId, `${place.step}.${place.index}`);
        asked.set(request.requestId, inputs.get(`${place.step}.${place.index}`));
      }
      shown.set(request.requestId, asked.get(request.requestId));
    }
    if ((event.type === 'request-voted' || event.type === 'request-answered') && event.edit) {
      shown.set(event.response.requestId, event.edit.input);
    }
    if (event.type === 'request-answered') {
      /* What was approved is what a later request for the same call shows. */
      const { response } = event;
      const place = places.get(response.requestId);
      if (place !== undefined && response.type === 'approval-response' && response.approved) {
        inputs.set(place, shown.get(response.requestId));
      }
    }
    if (event.type === 'vote-withdrawn' && event.endsEdit === true) {
      shown.set(event.requestId, asked.get(event.requestId));
    }
    if (event.type !== 'grant-created') return [];
    const { grant } = event;
    const { requestId } = grant;
    const request = requests.get(requestId) ?? {};
    return [{ grant, request, input: shown.get(requestId), threadId: threadIdOf(events) }];
  });
}

function makingFaults(
  { grant, request, input, threadId }: Made,
  events: readonly ThreadEvent[],
): string[] {
  const { grantId, scope, match, expiresAt = Infinity, uses = Infinity, createdAt } = grant;
  const at = events.findIndex(
    (event) => event.type === 'grant-created' && event.grant.grantId === grantId,
  );
  const before = events[at - 1];
  const isAnswered =
    before?.type === 'request-answered' &&
    before.response.type === 'approval-response' &&
    before.response.requestId === grant.requestId &&
    before.response.approved === (grant.decision === 'approved');
  const allowed = request.remember;
  const limit = allowed?.expiresAfterMs ?? Infinity;
  return [
    ...(isAnswered ? [] : [`Grant ${grantId} was made without its answer.`]),
    ...(grant.threadId === threadId ? [] : [`Grant ${grantId} names another thread.`]),
    ...(allowed !== undefined && scopes.indexOf(scope) <= scopes.indexOf(allowed.scope)
      ? []
      : [`Grant ${grantId} has a wider scope than its rule allows.`]),
    ...(expiresAt <= createdAt + limit ? [] : [`Grant ${grantId} lasts too long.`]),
    ...(uses <= (allowed?.uses ?? Infinity) ? [] : [`Grant ${grantId} has too many uses.`]),
    ...(isNarrow(match, allowed?.match) ? [] : [`Grant ${grantId} covers more than is allowed.`]),
    ...(covers(grant, input) ? [] : [`Grant ${grantId} does not cover what was decided.`]),
  ];
}

function isNarrow(
  match: Grant['match'],
  allowed: 'exact' | 'any' | readonly string[] | undefined,
): boolean {
  if (match.type === 'exact' || allowed === 'any') return true;
  if (match.type === 'any' || allowed === 'exact' || allowed === undefined) return false;
  return allowed.every((name) => Object.hasOwn(match.fields, name));
}

function covers({ match }: Grant, input: unknown): boolean {
  if (match.type === 'any') return true;
  if (match.type === 'exact') return isDeepStrictEqual(match.input, input);
  const fields = new Map<string, unknown>(Object.entries(Object(input)));
  return Object.entries(match.fields).every(([name, value]) =>
    isDeepStrictEqual(fields.get(name), value),
  );
}

function useFaults(
  event: ThreadEventOf<'grant-used'>,
  index: number,
  {
    made,
    evidence,
    calls,
  }: { made: ReadonlyMap<string, Made>; evidence: Evidence; calls: readonly CallHistory[] },
): string[] {
  const { grantId, at, decision, step, index: nth } = event;
  const { events } = evidence;
  const found = made.get(grantId);
  const call = calls.find(({ place }) => place === `${step}.${nth}`);
  if (found === undefined || call === undefined) return [`Grant ${grantId} was never made.`];
  const { grant, request } = found;
  const threadId = threadIdOf(events);
  const next = events[index + 1];
  const isDone =
    (next?.type === 'call-started' ||
      next?.type === 'call-deferred' ||
      next?.type === 'call-ended') &&
    next.step === step &&
    next.index === nth;
  const isRevoked = events.some(
    (other, when) => other.type === 'grant-revoked' && other.grantId === grantId && when < index,
  );
  const revokedAt = evidence.policy?.revoked.get(grantId)?.get(threadId) ?? Infinity;
  const message = events.findLast(
    (other, when) => other.type === 'message-added' && other.place === undefined && when < index,
  );
  const requester = message?.type === 'message-added' ? message.principal : undefined;
  const checks: [boolean, string][] = [
    [isDone, 'was used for nothing'],
    [grant.decision === decision, 'decided otherwise than it was made to'],
    [grant.toolName === call.toolName, "decided another tool's call"],
    [covers(grant, call.asked), 'decided a call that it does not cover'],
    [(grant.expiresAt ?? Infinity) > at, 'decided a call after it had expired'],
    [!isRevoked && index + 1 <= revokedAt, 'decided a call after it had been revoked'],
    [grant.scope !== 'thread' || grant.threadId === threadId, 'decided a call of another thread'],
    [
      grant.scope !== 'principal' || isDeepStrictEqual(requester, request.requestedBy),
      'decided a call for another person',
    ],
  ];
  return checks.filter(([holds]) => !holds).map(([, what]) => `Grant ${grantId} ${what}.`);
}

function countFaults(
  { grantId, uses = Infinity }: Grant,
  logs: readonly (readonly ThreadEvent[])[],
): string[] {
  const used = logs
    .flat()
    .filter((event) => event.type === 'grant-used' && event.grantId === grantId);
  return used.length > uses ? [`Grant ${grantId} was used ${used.length} times of ${uses}.`] : [];
}
