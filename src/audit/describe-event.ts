import { copyPlain } from '../json/json-value.ts';
import type { CallPlace, ToolCallRecord } from '../content/tool-call.ts';
import { listProposedCalls } from '../thread/proposed-calls.ts';
import { toJson } from '../json/tagged-json.ts';
import {
  callPerEvent,
  type PerEvent,
  type ThreadEvent,
  type ThreadEventOf,
} from '../thread/thread-event.ts';

/** The content of a row without its number and time. */
export interface EventText {
  what: string;
  by?: { principal?: unknown; channel?: string | undefined };
  place?: CallPlace | undefined;
  requestId?: string;
  details?: object;
}

/** Finds the call at a place. */
export type FindCall = (place: CallPlace) => ToolCallRecord | undefined;

/** The rows about an event; none for the renewal of a lease. */
export function describeEvent(event: ThreadEvent, findCall: FindCall): EventText[] {
  return [callPerEvent(descriptions, event.type, event, findCall)].flat();
}

const descriptions: PerEvent<FindCall, EventText | EventText[]> = {
  'thread-created': (event) => ({
    what: 'thread created',
    details: pick(event, 'agent', 'parent'),
  }),
  'messages-imported': (event) => ({
    what: 'conversation imported',
    by: event,
    details: { messages: event.messages.length },
  }),
  'caller-changed': (event) => ({
    what: `caller ${event.state}`,
    details: pick(event, 'callerId', 'until'),
  }),
  'agent-changed': (event) => ({ what: 'agent changed', details: pick(event, 'agent') }),
  'message-added': (event) => ({
    what: event.place === undefined ? 'message' : 'message from an answer',
    by: event,
    place: event.place,
    details: { message: toJson(event.message) },
  }),
  'message-retracted': (event) => ({ what: 'message retracted', by: event }),
  'run-started': (event) => ({
    what: 'run started',
    by: event,
    details: pick(event, 'runId', 'resumesStopped'),
  }),
  'run-renewed': () => [],
  'stop-requested': (event) => ({
    what: 'stop requested',
    by: event,
    details: pick(event, 'runId'),
  }),
  'run-ended': (event) => ({
    what: 'run ended',
    by: event,
    details: pick(event, 'error', 'aborted', 'stopped', 'retryAt'),
  }),
  'approvals-released': (event) =>
    event.requestIds.map((requestId) =>
      describeRequestEvent('stopped approval released', { ...event, requestId }, 'person'),
    ),
  'step-finished': describeStep,
  'input-remade': (event) => ({
    what: 'input made again',
    place: event,
    details: pick(event, 'input', 'types'),
  }),
  'call-started': (event, findCall) => {
    const call = findCall(event);
    return {
      what: 'call started',
      place: event,
      details: {
        ...pick(call ?? {}, 'input', 'idempotencyKey', 'agent'),
        ...(call?.edit === undefined ? {} : { proposed: copyPlain(call.edit.original) }),
      },
    };
  },
  'call-deferred': (event) => ({
    what: 'call continues elsewhere',
    place: event,
    details: pick(event, 'expiresAt', 'agent', 'resumeAt'),
  }),
  'call-abandoned': (event) => ({ what: 'attempt given up', by: event, place: event }),
  'call-lost': (event) => ({
    what: 'outcome unknown',
    place: event,
    details: pick(event, 'recoverAt', 'error'),
  }),
  'recovery-failed': (event) => ({
    what: 'outcome still unknown',
    place: event,
    details: pick(event, 'recoverAt'),
  }),
  'late-result': (event) => ({
    what: 'late result',
    place: event,
    details: pick(event, 'attempt', 'outcome'),
  }),
  'call-ended': (event) => {
    const { status, ...outcome } = event.outcome;
    const details = { ...outcome, ...pick(event, 'source') };
    return { what: `call ${status}`, by: event, place: event, details };
  },
  'grant-used': (event) => ({
    what: `${event.decision} by a standing approval`,
    place: event,
    requestId: event.requestId,
    details: pick(event, 'grantId', 'scope', 'threadId'),
  }),
  'request-opened': ({ request, place, beside }) => {
    const { type, requestId, requestedBy, requesters, ...shown } = request;
    return {
      what: type === 'approval-request' ? 'approval requested' : 'question asked',
      place: place ?? beside,
      requestId,
      details: { requestedBy, requesters, ...shown },
    };
  },
  'request-answered': (event) => describeResponse(describeAnswer(event.response), event),
  'request-voted': (event) => describeResponse('approved, others must too', event),
  'vote-withdrawn': (event) =>
    describeRequestEvent('approval withdrawn', event, 'person', 'endsEdit'),
  'request-reassigned': (event) => describeRequestEvent('request reassigned', event, 'from', 'to'),
  'request-closed': (event) =>
    describeRequestEvent(`request ${event.cause}`, event, 'reason', 'person'),
  'request-reminded': (event) => describeRequestEvent('reminder', event),
  'answer-delivered': (event) => describeRequestEvent('answer sent to the tool', event, 'error'),
  'grant-created': ({ grant: { principal, channel, requestId, ...grant } }) => ({
    what: 'standing approval made',
    by: { principal, channel },
    requestId,
    details: grant,
  }),
  'grant-revoked': (event) => ({
    what: 'standing approval revoked',
    by: event,
    details: pick(event, 'grantId'),
  }),
};

/** A row for the reply, and one for each call that it proposes: with the input that the model asked for. */
function describeStep(event: ThreadEventOf<'step-finished'>, findCall: FindCall): EventText[] {
  const { step, finishReason, metadata } = event;
  const model = metadata?.response?.modelId;
  return [
    {
      what: 'model replied',
      details: { step, finishReason, model },
    },
    ...listProposedCalls(event).map((call) => ({
      what: 'call proposed',
      place: call,
      details: { ...pick(call, 'input', 'given'), ...pick(findCall(call) ?? {}, 'idempotencyKey') },
    })),
  ];
}

function describeResponse(
  what: string,
  event: ThreadEventOf<'request-answered' | 'request-voted'>,
): EventText {
  const { type: _type, requestId, ...said } = event.response;
  const details = { ...said, ...pick(event, 'person', 'onBehalfOf', 'edit') };
  return { what, by: event, requestId, details };
}

function describeAnswer(response: ThreadEventOf<'request-answered'>['response']): string {
  if (response.type === 'question-response') return response.status;
  return response.approved ? 'approved' : 'rejected';
}

function describeRequestEvent(
  what: string,
  event: Pick<NonNullable<EventText['by']>, 'principal' | 'channel'> & { requestId: string },
  ...names: string[]
): EventText {
  return { what, by: event, requestId: event.requestId, details: pick(event, ...names) };
}

/** Some fields of an object, as JSON; those that are absent are left out. */
function pick(from: object, ...names: string[]): object {
  const entries = names.map((name): [string, unknown] => [name, Reflect.get(from, name)]);
  return Object.fromEntries(
    entries
      .filter(([, value]) => value !== undefined)
      .map(([name, value]) => [name, copyPlain(value)]),
  );
}
