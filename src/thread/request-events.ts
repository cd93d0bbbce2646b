import type { RequestDecision } from '../content/user-input.ts';
import type { LoudEventType } from './quiet-events.ts';
import type { ThreadEvent, ThreadEventOf, ThreadEventType } from './thread-event.ts';
import type { EndedRequest } from './thread-head.ts';

type RequestEffect = 'asks' | 'changes' | 'ends';

/**
 * The effect of each event on its request, if people are shown it. The counter of approval ids, the items of channels, the rows and the
 * decisions all read it here.
 */
const requestEffects = {
  'request-opened': 'asks',
  'request-voted': 'changes',
  'vote-withdrawn': 'changes',
  'request-reassigned': 'changes',
  'request-answered': 'ends',
  'request-closed': 'ends',
  'message-added': 'none',
  'message-retracted': 'none',
  'step-finished': 'none',
  'grant-used': 'none',
  'input-remade': 'none',
  'call-started': 'none',
  'call-deferred': 'none',
  'call-lost': 'none',
  'call-ended': 'none',
} as const satisfies { readonly [TYPE in LoudEventType]: RequestEffect | 'none' };

/** An event that asks people, that changes a request which stays open, or that ends one. */
export type RequestEvent<EFFECT extends RequestEffect = RequestEffect> = ThreadEventOf<
  {
    [TYPE in LoudEventType]: (typeof requestEffects)[TYPE] extends EFFECT ? TYPE : never;
  }[LoudEventType]
>;

const effectOf: { readonly [TYPE in ThreadEventType]?: RequestEffect | 'none' } = requestEffects;

/** Checks whether an event does this to a request. */
export function isRequestEvent<EFFECT extends RequestEffect>(
  event: ThreadEvent,
  effect: EFFECT,
): event is RequestEvent<EFFECT> {
  return effectOf[event.type] === effect;
}

/** The id of the request that an event asks, changes or ends. */
export function readRequestId(event: RequestEvent): string {
  if ('request' in event) return event.request.requestId;
  return 'response' in event ? event.response.requestId : event.requestId;
}

/** The id of the request that an event is about, if it is about one. */
export function findEventRequestId(event: ThreadEvent): string | undefined {
  if (event.type === 'request-opened' || 'response' in event) return readRequestId(event);
  return 'requestId' in event ? event.requestId : undefined;
}

/** Finds the decision of a request that is no longer open. */
export function findDecisionStatus({
  response,
  cause,
}: Pick<EndedRequest, 'response' | 'cause'>): RequestDecision['status'] {
  /* A closed request may have an answer, which no longer counts. */
  if (response === undefined || cause !== undefined) return cause ?? 'cancelled';
  if (response.type === 'question-response') return response.status;
  return response.approved ? 'approved' : 'rejected';
}
