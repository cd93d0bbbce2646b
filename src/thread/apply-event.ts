import type { ModelMessage } from 'ai';
import type { CallPlace, ToolCallRecord } from '../content/tool-call.ts';
import { HoldpointError } from '../errors.ts';
import { proposedCalls } from './proposed-calls.ts';
import type { NewThreadEvent, NewThreadEventOf, ThreadEvent } from './thread-event.ts';
import {
  type EndedRequest,
  endsTurn,
  nothingSettled,
  type OpenRequest,
  type ThreadHead,
  type ThreadState,
} from './thread-state.ts';
import { toolParts } from './tool-result.ts';

/** A head that is being written: a copy of its own, of which only the fields and the calls are written, and an index beside it. */
export interface Writing {
  readonly draft: ThreadHead;
  readonly requests: Map<string, OpenRequest>;
  readonly endedRequests: ReadonlyMap<string, EndedRequest>;
}

/** Begins to write a head; the thread stays as it is. */
export function beginWriting({ head, endedRequests }: ThreadState): Writing {
  return {
    draft: {
      ...head,
      calls: head.calls.map((call) => ({ ...call })),
      queuedMessages: [...head.queuedMessages],
      settling: nothingSettled(),
    },
    requests: new Map(head.openRequests.map((open) => [open.request.requestId, open])),
    endedRequests,
  };
}

/** Writes events. Throws `log-tampered` where one can't follow the ones before. */
export function writeEvents(writing: Writing, events: readonly NewThreadEvent[]): void {
  for (const event of events) applyEvent(writing, event);
}

/** The head as it is written so far. What the events have settled is in its `settling`. */
export function headSoFar({ draft, requests }: Writing): ThreadHead {
  return { ...draft, openRequests: [...requests.values()] };
}

/** The thread after the events, written into `state`. */
export function applyEvents(state: ThreadState, events: readonly ThreadEvent[]): void {
  const { threadId } = state;
  const [first] = events;
  if (first === undefined) return;
  if (
    state.events.length === 0 &&
    !(first.type === 'thread-created' && first.threadId === threadId)
  ) {
    throw new HoldpointError(
      'log-tampered',
      `The log of thread ${threadId} does not begin with its creation.`,
    );
  }
  const writing = beginWriting(state);
  writeEvents(writing, events);
  adopt(state, events, headSoFar(writing));
}

/** Makes the head that was written with the events the thread's own. */
export function adopt(state: ThreadState, events: readonly ThreadEvent[], head: ThreadHead): void {
  const { messages, calls, requests, toolCallIds } = head.settling;
  for (const message of messages) state.messages.push(message);
  for (const call of calls) state.settledCalls.push(call);
  for (const ended of requests) state.endedRequests.set(ended.request.requestId, ended);
  for (const toolCallId of toolCallIds) state.toolCallIds.add(toolCallId);
  for (const event of events) state.events.push(event);
  state.head = { ...head, settling: nothingSettled() };
}

/** One event, written into a head. The one place where a thread changes. */
function applyEvent(writing: Writing, event: NewThreadEvent): void {
  const { draft } = writing;
  switch (event.type) {
    case 'thread-created':
      if (draft.created) throw tampered(event, 'the thread exists');
      draft.created = true;
      break;
    case 'message-added':
      addMessage(writing, event.message);
      break;
    case 'run-started':
    case 'run-renewed':
      draft.run = { runId: event.runId, leaseUntil: event.leaseUntil };
      break;
    case 'run-ended':
      draft.run = undefined;
      break;
    case 'step-finished':
      finishStep(writing, event);
      break;
    case 'request-opened':
      openRequest(writing, event);
      break;
    case 'request-answered':
      answerRequest(writing, event);
      break;
    case 'request-closed':
      closeRequest(writing, event);
      break;
    case 'call-started': {
      const call = ownCallAt(writing, event, ['proposed', 'approved', 'started']);
      if (call.status === 'started' && call.runId === draft.run?.runId) {
        throw tampered(event, 'this run has started the call already');
      }
      call.status = 'started';
      call.runId = draft.run?.runId;
      call.startedAt = event.at;
      call.attempts += 1;
      call.idempotencyKey ??= `${draft.run?.runId}.${event.step}.${event.index}`;
      break;
    }
    case 'call-deferred':
      ownCallAt(writing, event, ['proposed', 'approved', 'started']).status = 'deferred';
      break;
    case 'call-abandoned':
      callAt(writing, event, event, ['started']).status = 'proposed';
      break;
    case 'call-ended': {
      const call = callAt(writing, event, event, unended);
      refuseForeignEnd(event, call);
      call.status = event.outcome.status;
      call.outcome = event.outcome;
      if (draft.calls.every(({ outcome }) => outcome !== undefined)) completeStep(writing);
      break;
    }
  }
}

const unended = ['proposed', 'waiting', 'approved', 'started', 'deferred'] as const;

function addMessage(writing: Writing, message: ModelMessage): void {
  const { draft } = writing;
  const { calls, queuedMessages, settling } = draft;
  if (calls.length > 0) queuedMessages.push(message);
  else settling.messages.push(message);
  draft.modelIsNext = true;
}

function finishStep(writing: Writing, event: NewThreadEventOf<'step-finished'>): void {
  const { draft } = writing;
  const { settling } = draft;
  if (draft.calls.length > 0 || event.step !== draft.steps) {
    throw tampered(event, `step ${draft.steps} is next, and open calls must end before it`);
  }
  draft.steps += 1;
  draft.modelIsNext = false;
  if (event.message === undefined) return;
  settling.messages.push(event.message);
  draft.calls = proposedCalls(event.message, event.step);
  for (const { toolCallId } of draft.calls) settling.toolCallIds.push(toolCallId);
}

function openRequest(writing: Writing, event: NewThreadEventOf<'request-opened'>): void {
  const { request, place } = event;
  if (place === undefined) {
    writing.requests.set(request.requestId, { request, place });
    return;
  }
  const call = callAt(writing, event, place, ['proposed']);
  call.status = 'waiting';
  call.requestId = request.requestId;
  const { toolCallId, toolName, input } = call;
  const shown = { ...request, toolCall: { toolCallId, toolName, input } };
  writing.requests.set(request.requestId, { request: shown, place });
}

function answerRequest(writing: Writing, event: NewThreadEventOf<'request-answered'>): void {
  const { response } = event;
  const { request, place } = takeRequest(writing, event, response.requestId);
  writing.draft.settling.requests.push({ request, place, response });
  const approved = response.type === 'approval-response' && response.approved;
  if (place !== undefined && approved)
    callAt(writing, event, place, ['waiting']).status = 'approved';
}

function closeRequest(writing: Writing, event: NewThreadEventOf<'request-closed'>): void {
  const { requestId, cause } = event;
  const answered =
    writing.draft.settling.requests.find(({ request }) => request.requestId === requestId) ??
    writing.endedRequests.get(requestId);
  const { request, place } = answered ?? takeRequest(writing, event, requestId);
  writing.draft.settling.requests.push({ ...answered, request, place, cause });
  if (place === undefined) return;
  callAt(writing, event, place, ['waiting', 'approved']).status = 'proposed';
}

function takeRequest({ requests }: Writing, event: NewThreadEvent, requestId: string): OpenRequest {
  const open = requests.get(requestId);
  if (open === undefined) throw tampered(event, `request ${requestId} is not open`);
  requests.delete(requestId);
  return open;
}

function callAt(
  { draft: { calls } }: Writing,
  event: NewThreadEvent,
  place: CallPlace,
  statuses: readonly ToolCallRecord['status'][],
): ToolCallRecord {
  const call = calls[place.index];
  if (call?.step !== place.step || !statuses.includes(call.status)) {
    const status = call?.step === place.step ? call.status : 'absent';
    throw tampered(event, `call ${place.step}.${place.index} is ${status}`);
  }
  return call;
}

/** A call that begins: one that is ours to run. What the provider runs is never begun here, whatever a log says. */
function ownCallAt(
  writing: Writing,
  event: NewThreadEventOf<'call-started' | 'call-deferred'>,
  statuses: readonly ToolCallRecord['status'][],
): ToolCallRecord {
  const call = callAt(writing, event, event, statuses);
  if (call.providerApprovalId === undefined) return call;
  throw tampered(event, `the provider runs call ${call.step}.${call.index}`);
}

/** A provider's call ends here when the provider is answered: with yes after a person's word alone, and never with a result. */
function refuseForeignEnd(event: NewThreadEventOf<'call-ended'>, call: ToolCallRecord): void {
  const { status } = event.outcome;
  const isForeign =
    call.providerApprovalId === undefined
      ? status === 'forwarded'
      : status === 'succeeded' || (status === 'forwarded' && call.status !== 'approved');
  if (!isForeign) return;
  throw tampered(event, `call ${call.step}.${call.index} can't be ${status}`);
}

/** Every call has its result: the tool message is written, in the model's order, and the model is next, unless one ended the turn. */
function completeStep({ draft }: Writing): void {
  const { calls, queuedMessages, settling } = draft;
  settling.messages.push({ role: 'tool', content: calls.flatMap(toolParts) });
  settling.messages.push(...queuedMessages);
  settling.calls.push(...calls);
  draft.calls = [];
  draft.queuedMessages = [];
  draft.modelIsNext = !calls.some(endsTurn);
}

function tampered(event: NewThreadEvent, why: string): HoldpointError {
  return new HoldpointError(
    'log-tampered',
    `The log is damaged: '${event.type}' can't come here, as ${why}.`,
  );
}
