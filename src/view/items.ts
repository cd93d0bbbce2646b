import type { JSONValue, ModelMessage, ToolResultPart } from 'ai';
import { z } from 'zod';
import type { CallPlace, ToolCallRecord } from '../content/tool-call.ts';
import type { RequestDecision, UserInputRequest } from '../content/user-input.ts';
import { isQuiet } from '../thread/quiet-events.ts';
import type { ThreadEvent, ThreadEventOf } from '../thread/thread-event.ts';
import { findDecisionStatus } from '../thread/thread-head.ts';

/** A step in the log. */
export type FinishedStepEvent = ThreadEventOf<'step-finished'>;

/** A change of a request that is still open: somebody has voted, withdrawn a vote, or asked somebody else to answer. */
export type RequestProgress = ThreadEventOf<
  'request-voted' | 'vote-withdrawn' | 'request-reassigned'
>;

/** The end of a request. */
export type RequestEnd = ThreadEventOf<'request-answered' | 'request-closed'>;

/** How a request ended, and who answered or cancelled it, as others may be shown them. */
export interface ShownDecision {
  status: RequestDecision['status'];
  person?: string;
  /** The person who had asked them to answer instead. */
  onBehalfOf?: string;
}

/** How a call ended that has a result. `value` is the JSON of an error that the provider reported as JSON. */
export type EndWithResult =
  | { status: 'succeeded'; output: JSONValue }
  | { status: 'failed'; error: string; value?: JSONValue }
  | { status: 'denied'; reason?: string | undefined };

/** How a call ended, here or at the provider. One that was forwarded to the provider has its result in the next step. */
export type CallEnd = EndWithResult | { status: 'forwarded' };

/** What channels show of an event. A call is the latest record of it. */
export type ViewItem =
  | { type: 'step'; event: FinishedStepEvent }
  /** A message of the app, or one that the answer to a request of `step` added for the model. */
  | { type: 'message'; message: ModelMessage; step: number | undefined }
  | { type: 'retraction' }
  /** A request about `call`, or one that was made during `beside`, or by nobody's call. */
  | {
      type: 'request';
      request: UserInputRequest;
      call: ToolCallRecord | undefined;
      beside: ToolCallRecord | undefined;
    }
  | { type: 'request-progress'; requestId: string; event: RequestProgress }
  | { type: 'request-end'; requestId: string; event: RequestEnd }
  | { type: 'call-started' | 'call-deferred'; call: ToolCallRecord }
  | { type: 'call-ended'; call: ToolCallRecord; end: CallEnd };

/** Finds the calls of a thread, as `CallsByPlace` does. */
interface CallFinder {
  at: (place: CallPlace) => ToolCallRecord | undefined;
}

/** What channels show of an event; `undefined` for one that they don't show. `calls` are those of the thread. */
export function readItem(event: ThreadEvent, calls: CallFinder): ViewItem | undefined {
  if (isQuiet(event)) return undefined;
  switch (event.type) {
    case 'step-finished':
      return { type: 'step', event };
    case 'message-added':
      return { type: 'message', message: event.message, step: event.place?.step };
    case 'message-retracted':
      return { type: 'retraction' };
    case 'request-opened': {
      const { request, place, beside } = event;
      const call = place && calls.at(place);
      if (place !== undefined && call === undefined) return undefined;
      return { type: 'request', request, call, beside: beside && calls.at(beside) };
    }
    case 'request-voted':
      return { type: 'request-progress', requestId: event.response.requestId, event };
    case 'vote-withdrawn':
    case 'request-reassigned':
      return { type: 'request-progress', requestId: event.requestId, event };
    case 'request-answered':
      return { type: 'request-end', requestId: event.response.requestId, event };
    case 'request-closed':
      return { type: 'request-end', requestId: event.requestId, event };
    case 'call-started':
    case 'call-deferred': {
      const call = calls.at(event);
      return call && { type: event.type, call };
    }
    case 'call-ended': {
      const call = calls.at(event);
      return call && { type: event.type, call, end: event.outcome };
    }
    case 'grant-used':
    case 'call-lost':
      return undefined;
  }
}

/** The decision that the end of a request records. */
export function readDecision(event: RequestEnd): ShownDecision {
  const status = findDecisionStatus(
    event.type === 'request-closed' ? { cause: event.cause } : { response: event.response },
  );
  const { person, onBehalfOf } = { onBehalfOf: undefined, ...event };
  return {
    status,
    ...(isName(person) ? { person } : {}),
    ...(isName(onBehalfOf) ? { onBehalfOf } : {}),
  };
}

/* Somebody whom nothing names is recorded as the JSON of their principal, which may hold what is only theirs. */
function isName(person: string | undefined): person is string {
  return person !== undefined && !/^[{[]/.test(person);
}

/** The decisions of a thread by request id: of requests that somebody known has decided. */
export function mapDecisions(events: readonly ThreadEvent[]): Map<string, ShownDecision> {
  const decisions = new Map<string, ShownDecision>();
  for (const event of events) {
    if (event.type !== 'request-answered' && event.type !== 'request-closed') continue;
    const decision = readDecision(event);
    const requestId = event.type === 'request-closed' ? event.requestId : event.response.requestId;
    if (decision.person === undefined) decisions.delete(requestId);
    else decisions.set(requestId, decision);
  }
  return decisions;
}

/** How a call ended whose result is part of a message: the provider ran it, or it was imported. */
export function readResult({ output }: Pick<ToolResultPart, 'output'>): EndWithResult {
  switch (output.type) {
    case 'execution-denied':
      return { status: 'denied', reason: output.reason };
    case 'error-text':
      return { status: 'failed', error: output.value };
    case 'error-json':
      return { status: 'failed', error: JSON.stringify(output.value), value: output.value };
    case 'text':
    case 'json':
      return { status: 'succeeded', output: output.value };
    case 'content':
      return {
        status: 'succeeded',
        output: z.json().parse(JSON.parse(JSON.stringify(output.value))),
      };
  }
}
