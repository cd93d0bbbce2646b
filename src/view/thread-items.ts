import type { JSONValue, ModelMessage, ToolResultPart } from 'ai';
import { z } from 'zod';
import type { CallPlace, ToolCallRecord } from '../content/tool-call.ts';
import type { RequestDecision, UserInputRequest } from '../content/user-input.ts';
import { isQuiet } from '../thread/quiet-events.ts';
import {
  findDecisionStatus,
  isRequestEvent,
  readRequestId,
  type RequestEvent,
} from '../thread/request-events.ts';
import type { ThreadEvent, ThreadEventOf } from '../thread/thread-event.ts';

/** A step in the log. */
export type FinishedStepEvent = ThreadEventOf<'step-finished'>;

/** A change of a request that is still open: a person has voted, withdrawn a vote, or asked another person to answer. */
export type RequestProgress = RequestEvent<'changes'>;

/** The end of a request. */
export type RequestEnd = RequestEvent<'ends'>;

/** The end of a request, and the person who answered or cancelled it, as others may be shown them. */
export interface ShownDecision {
  status: RequestDecision['status'];
  person?: string;
  /** The person who had asked them to answer instead. */
  onBehalfOf?: string;
}

/** The end of a call that has a result. `value` is the JSON of an error that the provider reported as JSON. */
export type EndWithResult =
  | { status: 'succeeded'; output: JSONValue }
  | { status: 'failed'; error: string; value?: JSONValue }
  | { status: 'denied'; reason?: string | undefined };

/** The end of a call, here or at the provider. One that was forwarded to the provider has its result in the next step. */
export type CallEnd = EndWithResult | { status: 'forwarded' };

/** An item that channels show for an event. A call is its latest record. */
export type ViewItem =
  | { type: 'step'; event: FinishedStepEvent }
  /** A message of the app, or one that the answer to a request of `step` added for the model. */
  | { type: 'message'; message: ModelMessage; step: number | undefined }
  | { type: 'retraction' }
  /** A request about `call`, or one that was made during `beside`, or by no call. */
  | {
      type: 'request';
      request: UserInputRequest;
      call: ToolCallRecord | undefined;
      beside: ToolCallRecord | undefined;
    }
  | { type: 'request-progress'; requestId: string; event: RequestProgress }
  | { type: 'request-end'; requestId: string; event: RequestEnd }
  | { type: 'call-started' | 'call-deferred'; call: ToolCallRecord }
  | { type: 'input-remade'; call: ToolCallRecord; input: unknown }
  | { type: 'call-ended'; call: ToolCallRecord; end: CallEnd };

/** Finds the calls of a thread, as `CallsByPlace` does. */
interface CallFinder {
  at: (place: CallPlace) => ToolCallRecord | undefined;
}

/** Reads the item that channels show of an event; `undefined` for one that they don't show. `calls` are those of the thread. */
export function readItem(event: ThreadEvent, calls: CallFinder): ViewItem | undefined {
  if (isQuiet(event)) return undefined;
  if (isRequestEvent(event, 'changes'))
    return { type: 'request-progress', requestId: readRequestId(event), event };
  if (isRequestEvent(event, 'ends'))
    return { type: 'request-end', requestId: readRequestId(event), event };
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
    case 'call-started':
    case 'call-deferred': {
      const call = calls.at(event);
      return call && { type: event.type, call };
    }
    case 'call-ended': {
      const call = calls.at(event);
      return call && { type: event.type, call, end: event.outcome };
    }
    case 'input-remade': {
      const call = calls.at(event);
      return call && { type: event.type, call, input: event.input };
    }
    case 'grant-used':
    case 'call-lost':
      return undefined;
  }
}

/** The decision that the end of a request records. */
export function readDecision(event: RequestEnd): ShownDecision {
  const status = findDecisionStatus(event);
  const { person, onBehalfOf } = { onBehalfOf: undefined, ...event };
  return {
    status,
    ...(isName(person) ? { person } : {}),
    ...(isName(onBehalfOf) ? { onBehalfOf } : {}),
  };
}

/* A person without a name is recorded as the JSON of their principal, which may hold private data. */
function isName(person: string | undefined): person is string {
  return person !== undefined && !/^[{[]/.test(person);
}

/** Maps request ids to the decisions of a thread that were made by known people. */
export function mapDecisions(events: readonly ThreadEvent[]): Map<string, ShownDecision> {
  const decisions = new Map<string, ShownDecision>();
  for (const event of events) {
    if (!isRequestEvent(event, 'ends')) continue;
    const decision = readDecision(event);
    const requestId = readRequestId(event);
    if (decision.person === undefined) decisions.delete(requestId);
    else decisions.set(requestId, decision);
  }
  return decisions;
}

/** Reads the end of a call whose result is part of a message: the provider ran it, or it was imported. */
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
