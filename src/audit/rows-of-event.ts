import { plainCopy } from '../content/plain-copy.ts';
import type { CallPlace, ToolCallRecord } from '../content/tool-call.ts';
import { proposedCalls } from '../thread/proposed-calls.ts';
import { toJson } from '../thread/tagged-json.ts';
import type { ThreadEvent, ThreadEventOf } from '../thread/thread-event.ts';

/** What a row says besides its number and time. */
export interface Happening {
  what: string;
  by?: { principal?: unknown; channel?: string | undefined };
  place?: CallPlace | undefined;
  requestId?: string;
  details?: object;
}

/** Finds the call at a place. */
export type FindCall = (place: CallPlace) => ToolCallRecord | undefined;

/** What an event says; nothing for the renewal of a lease. A new type of event fails to compile here until it has a row. */
export function happenings(event: ThreadEvent, findCall: FindCall): Happening[] {
  switch (event.type) {
    case 'thread-created':
      return [{ what: 'thread created', details: pick(event, 'agent', 'parent') }];
    case 'messages-imported':
      return [
        { what: 'conversation imported', by: event, details: { messages: event.messages.length } },
      ];
    case 'agent-changed':
      return [{ what: 'agent changed', details: pick(event, 'agent') }];
    case 'message-added':
      return [messageAdded(event)];
    case 'message-retracted':
      return [{ what: 'message retracted', by: event }];
    case 'run-started':
      return [{ what: 'run started', by: event, details: pick(event, 'runId', 'resumesStopped') }];
    case 'run-renewed':
      return [];
    case 'stop-requested':
      return [{ what: 'stop requested', by: event, details: pick(event, 'runId') }];
    case 'run-ended':
      return [
        { what: 'run ended', details: pick(event, 'error', 'aborted', 'stopped', 'retryAt') },
      ];
    case 'step-finished':
      return stepFinished(event, findCall);
    case 'call-started':
    case 'call-deferred':
    case 'call-abandoned':
    case 'call-lost':
    case 'recovery-failed':
    case 'late-result':
    case 'call-ended':
    case 'grant-used':
      return [callHappening(event, findCall)];
    case 'request-opened':
    case 'request-answered':
    case 'request-closed':
    case 'request-voted':
    case 'vote-withdrawn':
    case 'request-reassigned':
    case 'request-reminded':
    case 'answer-delivered':
      return [requestHappening(event)];
    case 'grant-created': {
      const { principal, channel, requestId, ...grant } = event.grant;
      const by = { principal, channel };
      return [{ what: 'standing approval made', by, requestId, details: grant }];
    }
    case 'grant-revoked':
      return [{ what: 'standing approval revoked', by: event, details: pick(event, 'grantId') }];
  }
}

function messageAdded(event: ThreadEventOf<'message-added'>): Happening {
  const { message, place } = event;
  const what = place === undefined ? 'message' : 'message from an answer';
  return { what, by: event, place, details: { message: toJson(message) } };
}

/** A row for the reply, and one for each call that it proposes: with the input that the model asked for. */
function stepFinished(event: ThreadEventOf<'step-finished'>, findCall: FindCall): Happening[] {
  const { step, message, finishReason, metadata } = event;
  const calls = message === undefined ? [] : proposedCalls(message, step);
  const model = metadata?.response?.modelId;
  return [
    {
      what: 'model replied',
      details: { step, finishReason, ...(model === undefined ? {} : { model }) },
    },
    ...calls.map(({ index, input }) => ({
      what: 'call proposed',
      place: { step, index },
      details: { input, ...pick(findCall({ step, index }) ?? {}, 'idempotencyKey') },
    })),
  ];
}

type CallEvent = Extract<ThreadEvent, CallPlace>;

function callHappening(event: CallEvent, findCall: FindCall): Happening {
  const place = { step: event.step, index: event.index };
  const call = findCall(place);
  switch (event.type) {
    case 'call-started':
      return {
        what: 'call started',
        place,
        details: {
          ...pick(call ?? {}, 'input', 'idempotencyKey', 'agent'),
          ...(call?.edit === undefined ? {} : { proposed: plainCopy(call.edit.original) }),
        },
      };
    case 'call-deferred':
      return {
        what: 'call continues elsewhere',
        place,
        details: pick(event, 'expiresAt', 'agent', 'resumeAt'),
      };
    case 'call-abandoned':
      return { what: 'attempt given up', place };
    case 'call-lost':
      return { what: 'outcome unknown', place, details: pick(event, 'recoverAt', 'error') };
    case 'recovery-failed':
      return { what: 'outcome still unknown', place, details: pick(event, 'recoverAt') };
    case 'late-result':
      return { what: 'late result', place, details: pick(event, 'attempt', 'outcome') };
    case 'call-ended': {
      const { status, ...outcome } = event.outcome;
      const details = { ...outcome, ...pick(event, 'source') };
      return { what: `call ${status}`, by: event, place, details };
    }
    case 'grant-used':
      return {
        what:
          event.decision === 'approved'
            ? 'approved by a standing approval'
            : 'rejected by a standing approval',
        place,
        requestId: event.requestId,
        details: pick(event, 'grantId', 'scope', 'threadId'),
      };
  }
}

type RequestEvent = Exclude<
  Extract<ThreadEvent, { requestId: string } | { response: object } | { request: object }>,
  CallEvent
>;

function requestHappening(event: RequestEvent): Happening {
  switch (event.type) {
    case 'request-opened': {
      const { type, requestId, requestedBy, requesters, ...shown } = event.request;
      const what = type === 'approval-request' ? 'approval requested' : 'question asked';
      const { place = event.beside } = event;
      return { what, place, requestId, details: { requestedBy, requesters, ...shown } };
    }
    case 'request-answered': {
      const { type: _type, requestId, ...said } = event.response;
      const answered = pick(event, 'person', 'onBehalfOf', 'edit');
      return {
        what: answerOf(event.response),
        by: event,
        requestId,
        details: { ...said, ...answered },
      };
    }
    case 'request-voted': {
      const { type: _type, requestId, ...said } = event.response;
      const voted = pick(event, 'person', 'onBehalfOf', 'edit');
      return {
        what: 'approved, others must too',
        by: event,
        requestId,
        details: { ...said, ...voted },
      };
    }
    case 'vote-withdrawn':
      return aboutRequest('approval withdrawn', event, 'person', 'endsEdit');
    case 'request-reassigned':
      return aboutRequest('request reassigned', event, 'from', 'to');
    case 'request-closed':
      return aboutRequest(`request ${event.cause}`, event, 'reason', 'person');
    case 'request-reminded':
      return aboutRequest('reminder', event);
    case 'answer-delivered':
      return aboutRequest('answer sent to the tool', event, 'error');
  }
}

function aboutRequest(
  what: string,
  event: Pick<NonNullable<Happening['by']>, 'principal' | 'channel'> & { requestId: string },
  ...names: string[]
): Happening {
  return { what, by: event, requestId: event.requestId, details: pick(event, ...names) };
}

function answerOf(response: ThreadEventOf<'request-answered'>['response']): string {
  if (response.type === 'question-response') return response.status;
  return response.approved ? 'approved' : 'rejected';
}

/** Some fields of an object, as JSON; those that are absent are left out. */
function pick(from: object, ...names: string[]): object {
  const entries = names.map((name): [string, unknown] => [name, Reflect.get(from, name)]);
  return Object.fromEntries(
    entries
      .filter(([, value]) => value !== undefined)
      .map(([name, value]) => [name, plainCopy(value)]),
  );
}
