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

/** A head that is being written, with its open step and requests as plain copies. */
interface Writing extends Pick<ThreadHead, 'calls' | 'settling'> {
  head: ThreadHead;
  requests: Map<string, OpenRequest>;
  endedRequests: ReadonlyMap<string, EndedRequest>;
}

/** The thread after the events, written into `state`. Throws `log-tampered` where an event can't follow the ones before. */
export function applyEvents(state: ThreadState, events: readonly ThreadEvent[]): void {
  const [first] = state.events.length === 0 ? events : [];
  if (
    first !== undefined &&
    !(first.type === 'thread-created' && first.threadId === state.threadId)
  ) {
    throw tampered(first, `thread ${state.threadId} begins with its thread-created`);
  }
  /* A first load has no reader yet: its head is written in place, as a draft of it would cost ten times as much. */
  const isFirst = state.events.length === 0;
  if (isFirst) writeEvents(state.head, state.head, events, state.endedRequests);
  const head = isFirst ? state.head : headAfter(state.head, events, state.endedRequests);
  adopt(state, events, head);
}

/** A head as it would be after the events; nothing is written. What they settle is in its `settling`. */
export function headAfter(
  head: ThreadHead,
  events: readonly ThreadEvent[],
  endedRequests: ReadonlyMap<string, EndedRequest>,
): ThreadHead {
  return immer.produce(head, (draft) => writeEvents(draft, head, events, endedRequests));
}

/** Writes the events into `draft`, a draft of `head` or `head` itself. */
function writeEvents(
  draft: ThreadHead,
  head: ThreadHead,
  events: readonly ThreadEvent[],
  endedRequests: ReadonlyMap<string, EndedRequest>,
): void {
  const { messages, calls, requests, toolCallIds } = head.settling;
  const writing: Writing = {
    head: draft,
    /* Plain copies: a step may have hundreds of calls, and drafts of long lists cost more than all else together. */
    calls: head.calls.map((call) => ({ ...call })),
    requests: new Map(head.openRequests.map((open) => [open.request.requestId, open])),
    settling: {
      messages: [...messages],
      calls: [...calls],
      requests: [...requests],
      toolCallIds: [...toolCallIds],
    },
    endedRequests,
  };
  for (const event of events) applyEvent(writing, event);
  draft.calls = writing.calls;
  draft.openRequests = [...writing.requests.values()];
  draft.settling = writing.settling;
}

/** Makes the head that `headAfter` gave for the events the thread's own. */
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
function applyEvent(writing: Writing, event: ThreadEvent): void {
  const { head } = writing;
  switch (event.type) {
    case 'thread-created':
      if (head.created) throw tampered(event, 'the thread exists');
      head.created = true;
      break;
    case 'message-added':
      addMessage(writing, event.message);
      break;
    case 'run-started':
    case 'run-renewed':
      head.run = { runId: event.runId, leaseUntil: event.leaseUntil };
      break;
    case 'run-ended':
      head.run = undefined;
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
      const call = callAt(writing, event, event, ['proposed', 'approved']);
      call.status = 'started';
      call.startedAt = event.at;
      call.idempotencyKey ??= `${head.run?.runId}.${event.step}.${event.index}`;
      break;
    }
    case 'call-ended': {
      const call = callAt(writing, event, event, ['proposed', 'waiting', 'approved', 'started']);
      call.status = event.outcome.status;
      call.outcome = event.outcome;
      head.openCalls -= 1;
      if (head.openCalls === 0) completeStep(writing);
      break;
    }
  }
}

function addMessage({ head, calls, settling }: Writing, message: ModelMessage): void {
  if (calls.length > 0) head.queuedMessages.push(message);
  else settling.messages.push(message);
  head.modelIsNext = true;
}

function finishStep(writing: Writing, event: ThreadEventOf<'step-finished'>): void {
  const { head, settling } = writing;
  if (writing.calls.length > 0 || event.step !== head.steps) {
    throw tampered(event, `step ${head.steps} is next, and open calls must end before it`);
  }
  head.steps += 1;
  head.modelIsNext = false;
  if (event.message === undefined) return;
  settling.messages.push(event.message);
  writing.calls = proposedCalls(event.message, event.step);
  head.openCalls = writing.calls.length;
  for (const { toolCallId } of writing.calls) settling.toolCallIds.push(toolCallId);
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

function openRequest(writing: Writing, event: ThreadEventOf<'request-opened'>): void {
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

function answerRequest(writing: Writing, event: ThreadEventOf<'request-answered'>): void {
  const { response } = event;
  const { request, place } = takeRequest(writing, event, response.requestId);
  writing.settling.requests.push({ request, place, response });
  const approved = response.type === 'approval-response' && response.approved;
  if (place !== undefined && approved)
    callAt(writing, event, place, ['waiting']).status = 'approved';
}

function closeRequest(writing: Writing, event: ThreadEventOf<'request-closed'>): void {
  const { requestId, cause } = event;
  const answered =
    writing.settling.requests.find(({ request }) => request.requestId === requestId) ??
    writing.endedRequests.get(requestId);
  const { request, place } = answered ?? takeRequest(writing, event, requestId);
  writing.settling.requests.push({ ...answered, request, place, cause });
  if (place === undefined) return;
  callAt(writing, event, place, ['waiting', 'approved']).status = 'proposed';
}

function takeRequest({ requests }: Writing, event: ThreadEvent, requestId: string): OpenRequest {
  const open = requests.get(requestId);
  if (open === undefined) throw tampered(event, `request ${requestId} is not open`);
  requests.delete(requestId);
  return open;
}

function callAt(
  { calls }: Writing,
  event: ThreadEvent,
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

/** Every call has its result: the tool message is written, in the model's order, and the model is next. */
function completeStep(writing: Writing): void {
  const { head, calls, settling } = writing;
  settling.messages.push({ role: 'tool', content: calls.map(toolResultPart) });
  settling.messages.push(...head.queuedMessages);
  settling.calls.push(...calls);
  writing.calls = [];
  head.queuedMessages = [];
  head.modelIsNext = true;
}

function tampered(event: ThreadEvent, why: string): HoldpointError {
  return new HoldpointError(
    'log-tampered',
    `The log is damaged: '${event.type}' can't come here, as ${why}.`,
  );
}
