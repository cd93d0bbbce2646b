import { isDeepStrictEqual } from 'node:util';
import type { ApprovalRequest, ThreadEvent } from 'holdpoint';
import { grantFaults } from './audit-grants.ts';
import type { CallHistory } from './call-histories.ts';
import type { Evidence } from './evidence.ts';
import type { ThreadEventOf } from '../../src/thread/thread-event.ts';

/** An approval that counts so far. */
interface Approval {
  person: string | undefined;
  onBehalfOf: string | undefined;
}

/** A request about a call, as the log has it so far. */
interface Asked {
  request: Omit<ApprovalRequest, 'toolCall'>;
  place: string;
  /** The input that people are shown. */
  shown: unknown;
  approvals: Approval[];
  reassigned: ThreadEventOf<'request-reassigned'>[];
  state: 'open' | 'approved' | 'over';
  reminders: number;
  followers: number;
}

interface Reading {
  asked: Map<string, Asked>;
  /** The request whose approval counts for a call, and the input that was approved. By place. */
  approved: Map<string, { by: Asked | 'grant'; input: unknown }>;
  /** What would run, by place. */
  inputs: Map<string, unknown>;
  calls: readonly CallHistory[];
  evidence: Evidence;
  faults: string[];
}

/**
 * What is wrong with approvals: a call that ran with an input that too few of the people who may answer approved as shown, an expiry that
 * was carried out twice or not at all, a reminder that came twice. Read off the log alone.
 */
export function policyFaults(evidence: Evidence, calls: readonly CallHistory[]): string[] {
  const faults: string[] = [];
  const inputs = new Map(calls.map((call) => [call.place, call.asked]));
  const reading = { asked: new Map(), approved: new Map(), inputs, calls, evidence, faults };
  for (const [index, event] of evidence.events.entries()) readEvent(reading, event, index + 1);
  return [...faults, ...grantFaults(evidence, calls)];
}

function readEvent(reading: Reading, event: ThreadEvent, revision: number): void {
  switch (event.type) {
    case 'request-opened':
      openRequest(reading, event, revision);
      break;
    case 'request-voted':
    case 'request-answered':
      answer(reading, event, revision);
      break;
    case 'vote-withdrawn':
      withAsked(reading, event, event.requestId, (asked) => {
        const left = asked.approvals.filter(({ person }) => person !== event.person);
        const { inputs } = reading;
        if (event.endsEdit === true) asked.shown = inputs.get(asked.place);
        asked.approvals = event.endsEdit === true ? [] : left;
      });
      break;
    case 'request-reassigned':
      withAsked(reading, event, event.requestId, (asked) => {
        const { request, faults } = { request: asked.request, faults: reading.faults };
        if (!may(reading, asked, { person: event.from, onBehalfOf: undefined })) {
          faults.push(`${event.from} reassigned ${request.requestId} and may not answer it.`);
        }
        asked.reassigned.push(event);
      });
      break;
    case 'request-reminded':
      withAsked(reading, event, event.requestId, (asked) => {
        asked.reminders += 1;
        if (asked.reminders > 1) reading.faults.push(`${event.requestId} was reminded of twice.`);
        if ((asked.request.remindAt ?? Infinity) > event.at) {
          reading.faults.push(`${event.requestId} was reminded of too early.`);
        }
      });
      break;
    case 'request-closed':
      close(reading, event, revision);
      break;
    case 'grant-used': {
      const place = keyOf(event);
      const input = reading.inputs.get(place);
      if (event.decision === 'approved') reading.approved.set(place, { by: 'grant', input });
      break;
    }
    case 'call-started':
    case 'call-deferred':
      start(reading, event);
      break;
    case 'input-remade':
      reading.inputs.set(keyOf(event), event.input);
      break;
    case 'call-abandoned':
      reading.approved.delete(keyOf(event));
      break;
    default:
      break;
  }
}

function openRequest(
  { asked, evidence, faults, inputs, approved }: Reading,
  { request, place, at }: ThreadEventOf<'request-opened'>,
  revision: number,
): void {
  if (request.type !== 'approval-request' || place === undefined) return;
  const key = keyOf(place);
  const isAsked = [...asked.values()].some((each) => each.place === key && each.state === 'open');
  if (isAsked) faults.push(`Call ${key} is asked about twice at once.`);
  approved.delete(key);
  asked.set(request.requestId, {
    request,
    place: key,
    shown: inputs.get(key),
    approvals: [],
    reassigned: [],
    state: 'open',
    reminders: 0,
    followers: 0,
  });
  const followed = request.follows === undefined ? undefined : asked.get(request.follows);
  if (request.follows === undefined) return;
  if (followed === undefined) {
    faults.push(`${request.requestId} follows ${request.follows}, which is no request.`);
    return;
  }
  followed.followers += 1;
  const before = evidence.events[revision - 2];
  const isClosed = before?.type === 'request-closed' && before.requestId === request.follows;
  if (!isClosed || before.cause !== 'expired' || followed.followers > 1) {
    faults.push(`${request.requestId} follows ${request.follows}, which did not just expire.`);
  }
  if ((followed.request.expiresAt ?? Infinity) > at) faults.push(`${request.follows} had time.`);
  if (!isDeepStrictEqual(demandsOf(request), demandsAfter(followed.request))) {
    faults.push(`${request.requestId} does not demand what ${request.follows} did.`);
  }
}

/** What a request demands of the people who approve it. */
function demandsOf(request: Partial<ApprovalRequest>) {
  const { approvers, notRequester, quorum, requireReason } = request;
  return { approvers, notRequester, quorum, requireReason };
}

function demandsAfter(expired: Partial<ApprovalRequest>) {
  const { onExpiry } = expired;
  if (onExpiry?.type !== 'escalate') return demandsOf(expired);
  const { approvers, quorum = expired.quorum ?? 1 } = onExpiry;
  return demandsOf({ ...expired, approvers, quorum: quorum === 1 ? undefined : quorum });
}

function answer(
  reading: Reading,
  event: ThreadEventOf<'request-voted' | 'request-answered'>,
  revision: number,
): void {
  const { response, person, onBehalfOf, edit, at } = event;
  if (response.type !== 'approval-response') return;
  const known = reading.asked.get(response.requestId);
  if (known === undefined) return;
  const { request } = known;
  const { requestId, expiresAt = Infinity, requireReason, quorum = 1 } = request;
  const { faults } = reading;
  if (known.state !== 'open') faults.push(`${requestId} was answered when it was over.`);
  /* An event of a process whose clock is behind has the time of the one before it, and its own is not in the log. */
  const isDated = reading.evidence.events[revision - 2]?.at !== at;
  if (expiresAt <= at && isDated) faults.push(`${requestId} was answered after it had expired.`);
  const approval = { person, onBehalfOf };
  if (!may(reading, known, approval)) {
    faults.push(`${person} answered ${requestId} and may not.`);
  }
  if (!response.approved) {
    known.state = 'over';
    return;
  }
  if (requireReason === true && (response.reason ?? '').trim() === '') {
    faults.push(`${requestId} was approved without a reason.`);
  }
  if (edit !== undefined) {
    if (!mayEdit(request, reading.inputs.get(known.place), edit.input)) {
      faults.push(`${requestId} was edited beyond what may be edited.`);
    }
    known.shown = edit.input;
    known.approvals = [];
  }
  known.approvals.push(approval);
  if (event.type !== 'request-answered') return;
  const count = peopleAmong(known.approvals);
  if (count < quorum) faults.push(`${requestId} was approved by ${count} of ${quorum} people.`);
  known.state = 'approved';
  reading.inputs.set(known.place, known.shown);
  reading.approved.set(known.place, { by: known, input: known.shown });
}

/** How many people there are at least, where a person has one approval, and so has the one for whom they answer. */
function peopleAmong(approvals: readonly Approval[]): number {
  const persons = new Set(approvals.map(({ person }) => person));
  const votes = new Set(approvals.map(({ person, onBehalfOf = person }) => onBehalfOf));
  return approvals.length === 1 ? 1 : Math.min(persons.size, votes.size);
}

/** Whether a person may answer: by their own right, or because somebody who may had asked them to. */
function may(
  { evidence }: Reading,
  { request, reassigned }: Asked,
  { person, onBehalfOf }: Approval,
): boolean {
  const { approvers, notRequester, quorum } = request;
  const isRestricted = (approvers ?? notRequester ?? quorum) !== undefined;
  if (person === undefined) return !isRestricted;
  const requester = request.requestedBy;
  if (notRequester === true && (person === requester || onBehalfOf === requester)) return false;
  const mayAnswer = evidence.policy?.mayAnswer ?? (() => true);
  if (onBehalfOf === undefined) {
    if (mayAnswer(person, approvers)) return true;
    return reassigned.some(({ to }) => mayAnswer(person, [to]));
  }
  return reassigned.some(({ from, to }) => from === onBehalfOf && mayAnswer(person, [to]));
}

function mayEdit({ editable }: Partial<ApprovalRequest>, from: unknown, to: unknown): boolean {
  if (isDeepStrictEqual(from, to) || editable === true) return true;
  if (editable === undefined) return false;
  const [before, after] = [fieldsOf(from), fieldsOf(to)];
  return [...new Set([...before.keys(), ...after.keys()])].every(
    (name) => editable.includes(name) || isDeepStrictEqual(before.get(name), after.get(name)),
  );
}

function fieldsOf(input: unknown): Map<string, unknown> {
  return new Map(Object.entries(Object(input)));
}

function close(
  { asked, approved, evidence, faults }: Reading,
  { requestId, cause, at }: ThreadEventOf<'request-closed'>,
  revision: number,
): void {
  const known = asked.get(requestId);
  if (known === undefined) return;
  const { onExpiry, expiresAt = Infinity } = known.request;
  if (cause === 'expired') {
    if (expiresAt > at) faults.push(`${requestId} expired before its time.`);
    const next = evidence.events[revision];
    const isAsked = next?.type === 'request-opened' && isAbout(next, requestId);
    const isEnded = next?.type === 'call-ended';
    const follows = onExpiry !== undefined && onExpiry.type !== 'reject';
    if (known.state === 'open' && !(follows ? isAsked || isEnded : isEnded)) {
      faults.push(`${requestId} expired, and nothing came of it.`);
    }
  }
  known.state = 'over';
  approved.delete(known.place);
}

function isAbout({ request }: ThreadEventOf<'request-opened'>, followed: string): boolean {
  return request.type === 'approval-request' && request.follows === followed;
}

function start(
  { approved, inputs, evidence, calls, faults }: Reading,
  event: ThreadEventOf<'call-started' | 'call-deferred'>,
): void {
  const key = keyOf(event);
  const call = calls.find(({ place }) => place === key);
  if (call === undefined || !evidence.gated.has(call.toolName)) return;
  const approval = approved.get(key);
  if (approval === undefined) {
    /* Idempotent tools' calls start again by themselves. */
    if (evidence.idempotent?.has(call.toolName) === true || event.type === 'call-deferred') return;
    faults.push(`Call ${call.label} started and no approval counts.`);
    return;
  }
  if (!isDeepStrictEqual(approval.input, inputs.get(key))) {
    faults.push(`Call ${call.label} started with an input that was not approved.`);
  }
  const demanded = evidence.policy?.demands(call.toolName);
  if (demanded === undefined || approval.by === 'grant') return;
  const { request } = approval.by;
  const given = demandsOf(request);
  const escalated = demanded.escalatesTo ?? demanded.approvers;
  const isFor = (approvers: readonly string[] | undefined): boolean =>
    isDeepStrictEqual(given.approvers, approvers);
  const isEnough =
    (isFor(demanded.approvers) || isFor(escalated)) &&
    isDeepStrictEqual(
      { ...given, approvers: undefined },
      demandsOf({ ...demanded, approvers: undefined }),
    );
  if (!isEnough) faults.push(`Call ${call.label} was approved on other terms than its rule's.`);
}

function withAsked(
  { asked, faults }: Reading,
  { type, at }: ThreadEvent,
  requestId: string,
  act: (asked: Asked) => void,
): void {
  const known = asked.get(requestId);
  if (known === undefined) return;
  if (known.state !== 'open') faults.push(`${type} of ${requestId}, which was over at ${at}.`);
  act(known);
}

function keyOf({ step, index }: { step: number; index: number }): string {
  return `${step}.${index}`;
}
