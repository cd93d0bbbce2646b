import type { ApprovalRequest } from '../../content/approval.ts';
import type { CallPlace, ToolCallRecord } from '../../content/tool-call.ts';
import { HoldpointError } from '../../errors.ts';
import { listAskedDuring } from '../open-requests.ts';
import {
  callAt,
  type EndedRequest,
  endsTurn,
  isSamePlace,
  isUnusedApproval,
  type OpenRequest,
  type ThreadHead,
} from '../thread-head.ts';

/** An event, as errors name it. */
export interface AnyEvent {
  readonly type: string;
}

/** A copy of a thread's head to which events are being applied. */
export class HeadDraft {
  /** Its fields, arrays and calls are written in place; its `openRequests` are not: `requests` replaces them. */
  readonly head: ThreadHead;
  readonly endedRequests: Map<string, EndedRequest>;
  #requests: Map<string, OpenRequest> | undefined;
  /** The requests that these events have opened during calls. */
  readonly #asked: OpenRequest[] = [];
  /** The number of calls of the step before the first that has not ended, as far as is known. */
  ended = 0;

  /** Makes a draft. The head stays as it is. */
  constructor(head: ThreadHead, endedRequests: Map<string, EndedRequest>) {
    const { calls, decided, unsentAnswers, queuedMessages, newlyPast } = head;
    this.head = {
      ...head,
      calls: calls.map((call) => ({ ...call })),
      decided: [...decided],
      unsentAnswers: [...unsentAnswers],
      queuedMessages: [...queuedMessages],
      newlyPast: {
        messages: [...newlyPast.messages],
        retracted: newlyPast.retracted,
        calls: [...newlyPast.calls],
        requests: new Map(newlyPast.requests),
        toolCallIds: [...newlyPast.toolCallIds],
      },
    };
    this.endedRequests = endedRequests;
  }

  /** The open requests by id. Most events change none, so they are listed when they are first asked for. */
  get requests(): Map<string, OpenRequest> {
    if (this.#requests !== undefined) return this.#requests;
    this.#requests = new Map();
    for (const open of this.head.openRequests) this.#requests.set(open.request.requestId, open);
    return this.#requests;
  }

  /** Opens a request that is made during a call. */
  openDuringCall(open: OpenRequest & { beside: CallPlace }): void {
    this.requests.set(open.request.requestId, open);
    this.#asked.push(open);
  }

  /** A request that is open, and was made during the call at a place. */
  findAskedDuring(place: CallPlace): OpenRequest | undefined {
    const before = listAskedDuring(this.head, place);
    const since = this.#asked.filter(({ beside }) => isSamePlace(beside, place));
    return [...before, ...since].find(({ request }) => this.requests.has(request.requestId));
  }

  /** Returns the head that the draft has become. The draft must not be written afterwards: it is that head. */
  finish(): ThreadHead {
    if (this.#requests !== undefined) this.head.openRequests = [...this.#requests.values()];
    return this.head;
  }
}

/** The open call at a place. Throws `log-tampered` if there is none, or if it has another status. */
export function openCallAt(
  { head }: HeadDraft,
  event: AnyEvent,
  place: CallPlace,
  statuses: readonly ToolCallRecord['status'][],
): ToolCallRecord {
  const call = callAt(head, place);
  if (call !== undefined && statuses.includes(call.status)) return call;
  const status = call?.status ?? 'absent';
  throw makeTamperedError(event, `call ${place.step}.${place.index} is ${status}`);
}

/** The open approval request with this id. */
export function requireOpenApproval(
  { requests }: HeadDraft,
  event: AnyEvent,
  requestId: string,
): { open: OpenRequest; request: ApprovalRequest } {
  const open = requests.get(requestId);
  if (open?.request.type !== 'approval-request') {
    throw makeTamperedError(event, `approval request ${requestId} is not open`);
  }
  return { open, request: open.request };
}

/** Takes an open request out of the draft: it ends. */
export function takeRequest(
  { requests }: HeadDraft,
  event: AnyEvent,
  requestId: string,
): OpenRequest {
  const open = requests.get(requestId);
  if (open === undefined) throw makeTamperedError(event, `request ${requestId} is not open`);
  requests.delete(requestId);
  return open;
}

/** Ends a request. A custom agent takes its next step once all requests of its latest step have ended, unless a person ended the turn. */
export function endRequest(
  { head, endedRequests }: HeadDraft,
  event: AnyEvent,
  ended: EndedRequest,
): void {
  const { newlyPast } = head;
  const { step, request } = ended;
  const isDecided =
    newlyPast.requests.has(request.requestId) || endedRequests.has(request.requestId);
  newlyPast.requests.set(request.requestId, ended);
  if (step === undefined) return;
  if (step !== head.steps - 1) throw makeTamperedError(event, `step ${step} is over`);
  if (isDecided)
    head.decided = head.decided.filter((other) => other.request.requestId !== request.requestId);
  head.decided.push(ended);
  head.modelIsNext = !head.isStopped && !newlyPast.calls.some(endsTurn);
}

/**
 * Holds approved calls that have not begun until a person releases them: the turn was ended. After a stop, another attempt of an approved
 * call is held too.
 */
export function holdApprovals(head: ThreadHead, { andRestarts }: { andRestarts: boolean }): void {
  for (const call of head.calls) {
    const isBegun = call.status === 'started' || call.status === 'indeterminate';
    const mayStart = call.status === 'approved' || (andRestarts && isBegun);
    if (mayStart && call.requestId !== undefined) call.held = true;
  }
  head.decided = head.decided.map((ended) =>
    isUnusedApproval(ended) ? { ...ended, held: true } : ended,
  );
}

/**
 * Ends what a call asks: its attempt is over, or it asks something else. Drops an answer that was not sent, and throws `log-tampered` if a
 * question is still open.
 */
export function endAsking(draft: HeadDraft, event: AnyEvent, place: CallPlace): void {
  const { head, requests } = draft;
  const asked = requests.size === 0 ? undefined : draft.findAskedDuring(place)?.request;
  if (asked !== undefined) {
    const why = `request ${asked.requestId}, which the call opened, is still open`;
    throw makeTamperedError(event, why);
  }
  if (head.unsentAnswers.length === 0) return;
  head.unsentAnswers = head.unsentAnswers.filter(({ beside }) => !isSamePlace(beside, place));
}

/** The error for an event that can't follow the ones before it. */
export function makeTamperedError(event: AnyEvent, why: string): HoldpointError {
  return new HoldpointError(
    'log-tampered',
    `The log is damaged: event '${event.type}' can't occur here, because ${why}.`,
  );
}
