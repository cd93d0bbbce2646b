import type { ModelMessage } from 'ai';
import { Immer } from 'immer';
import type { CallPlace, ToolCallRecord } from '../content/tool-call.ts';
import { HoldpointError } from '../errors.ts';
import type { ThreadEvent, ThreadEventOf } from './thread-event.ts';
import {
  type EndedRequest,
  nothingSettled,
  type OpenRequest,
  type ThreadHead,
  type ThreadState,
} from './thread-state.ts';
import { toolResultPart } from './tool-result.ts';

/* Auto-freezing walks everything a thread holds at each event; what leaves the thread is frozen where it leaves. */
const immer: { produce(head: ThreadHead, recipe: (draft: ThreadHead) => void): ThreadHead } =
  new Immer({ autoFreeze: false });

/** The thread after the events, written into `state`. Throws `log-tampered` where an event can't follow the ones before. */
export function applyEvents(state: ThreadState, events: readonly ThreadEvent[]): void {
  const [first] = state.events.length === 0 ? events : [];
  if (
    first !== undefined &&
    !(first.type === 'thread-created' && first.threadId === state.threadId)
  ) {
    throw tampered(first, `thread ${state.threadId} begins with its thread-created`);
  }
  /* A first load has no reader yet, so its head is written in place: ten times faster than through drafts. */
  if (state.events.length === 0) {
    for (const event of events) applyEvent(state.head, event, state.endedRequests);
  } else {
    state.head = previewHead(state, events);
  }
  settle(state);
  for (const event of events) state.events.push(event);
}

/** The head as it would be after the events; nothing is written. */
export function previewHead(state: ThreadState, events: readonly ThreadEvent[]): ThreadHead {
  return immer.produce(state.head, (head) => {
    for (const event of events) applyEvent(head, event, state.endedRequests);
  });
}

function settle(state: ThreadState): void {
  const { messages, calls, requests, toolCallIds } = state.head.settling;
  for (const message of messages) state.messages.push(message);
  for (const call of calls) state.settledCalls.push(call);
  for (const ended of requests) state.endedRequests.set(ended.request.requestId, ended);
  for (const toolCallId of toolCallIds) state.toolCallIds.add(toolCallId);
  state.head = { ...state.head, settling: nothingSettled() };
}

/** One event, written into a head. The one place where a thread changes. */
function applyEvent(
  head: ThreadHead,
  event: ThreadEvent,
  endedRequests: ReadonlyMap<string, EndedRequest>,
): void {
  switch (event.type) {
    case 'thread-created':
      if (head.created) throw tampered(event, 'the thread exists');
      head.created = true;
      break;
    case 'message-added':
      if (head.calls.length > 0) head.queuedMessages.push(event.message);
      else head.settling.messages.push(event.message);
      head.modelIsNext = true;
      break;
    case 'run-started':
    case 'run-renewed':
      head.run = { runId: event.runId, leaseUntil: event.leaseUntil };
      break;
    case 'run-ended':
      head.run = undefined;
      break;
    case 'step-finished':
      finishStep(head, event);
      break;
    case 'request-opened':
      openRequest(head, event);
      break;
    case 'request-answered': {
      const { request, place } = takeRequest(head, event, event.response.requestId);
      head.settling.requests.push({ request, place, response: event.response });
      const approved = event.response.type === 'approval-response' && event.response.approved;
      if (place !== undefined && approved)
        callAt(head, event, place, ['waiting']).status = 'approved';
      break;
    }
    case 'request-closed': {
      const { requestId, cause } = event;
      const answered =
        head.settling.requests.find(({ request }) => request.requestId === requestId) ??
        endedRequests.get(requestId);
      const { request, place } = answered ?? takeRequest(head, event, requestId);
      head.settling.requests.push({ ...answered, request, place, cause });
      if (place !== undefined)
        callAt(head, event, place, ['waiting', 'approved']).status = 'proposed';
      break;
    }
    case 'call-started': {
      const call = callAt(head, event, event, ['proposed', 'approved']);
      call.status = 'started';
      call.startedAt = event.at;
      call.idempotencyKey ??= `${head.run?.runId}.${event.step}.${event.index}`;
      break;
    }
    case 'call-ended': {
      const call = callAt(head, event, event, ['proposed', 'waiting', 'approved', 'started']);
      call.status = event.outcome.status;
      call.outcome = event.outcome;
      head.openCalls -= 1;
      if (head.openCalls === 0) completeStep(head);
      break;
    }
  }
}

function finishStep(head: ThreadHead, event: ThreadEventOf<'step-finished'>): void {
  if (head.calls.length > 0 || event.step !== head.steps) {
    throw tampered(event, `step ${head.steps} is next, and open calls must end before it`);
  }
  head.steps += 1;
  if (event.message === undefined) {
    head.modelIsNext = false;
    return;
  }
  head.settling.messages.push(event.message);
  head.calls = proposedCalls(event.message, event.step);
  head.openCalls = head.calls.length;
  for (const call of head.calls) head.settling.toolCallIds.push(call.toolCallId);
  head.modelIsNext = false;
}

/** The calls of an assistant message that are ours to run: those the provider did not run itself. */
function proposedCalls(message: ModelMessage, step: number): ToolCallRecord[] {
  if (message.role !== 'assistant' || typeof message.content === 'string') return [];
  return message.content
    .filter((part) => part.type === 'tool-call')
    .filter((part) => part.providerExecuted !== true)
    .map(({ toolCallId, toolName, input }, index) => ({
      step,
      index,
      toolCallId,
      toolName,
      input,
      status: 'proposed',
    }));
}

function openRequest(head: ThreadHead, event: ThreadEventOf<'request-opened'>): void {
  const { request, place } = event;
  if (place === undefined) {
    head.openRequests.push({ request, place });
    return;
  }
  const call = callAt(head, event, place, ['proposed']);
  call.status = 'waiting';
  call.requestId = request.requestId;
  const { toolCallId, toolName, input } = call;
  head.openRequests.push({
    request: { ...request, toolCall: { toolCallId, toolName, input } },
    place,
  });
}

function takeRequest(head: ThreadHead, event: ThreadEvent, requestId: string): OpenRequest {
  const index = head.openRequests.findIndex(({ request }) => request.requestId === requestId);
  const [taken] = index === -1 ? [] : head.openRequests.splice(index, 1);
  if (taken === undefined) throw tampered(event, `request ${requestId} is not open`);
  return taken;
}

function callAt(
  head: ThreadHead,
  event: ThreadEvent,
  place: CallPlace,
  statuses: readonly ToolCallRecord['status'][],
): ToolCallRecord {
  const call = head.calls[place.index];
  if (call?.step !== place.step || !statuses.includes(call.status)) {
    const status = call?.step === place.step ? call.status : 'absent';
    throw tampered(event, `call ${place.step}.${place.index} is ${status}`);
  }
  return call;
}

/** Every call has its result: the tool message is written, in the model's order, and the model is next. */
function completeStep(head: ThreadHead): void {
  const { settling } = head;
  settling.messages.push({ role: 'tool', content: head.calls.map(toolResultPart) });
  settling.messages.push(...head.queuedMessages);
  settling.calls.push(...head.calls);
  head.calls = [];
  head.queuedMessages = [];
  head.modelIsNext = true;
}

function tampered(event: ThreadEvent, why: string): HoldpointError {
  return new HoldpointError(
    'log-tampered',
    `The log is damaged: '${event.type}' can't come here, as ${why}.`,
  );
}
