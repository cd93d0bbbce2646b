import type { ModelMessage } from 'ai';
import type { ToolCallRecord } from '../content/tool-call.ts';
import { HoldpointError } from '../errors.ts';
import {
  answerRequest,
  closeRequest,
  deliverAnswer,
  endBeside,
  openRequest,
} from './apply-request.ts';
import { proposedCalls } from './proposed-calls.ts';
import type { NewThreadEvent, NewThreadEventOf, ThreadEvent } from './thread-event.ts';
import { endsTurn, nothingSettled, type ThreadHead, type ThreadState } from './thread-state.ts';
import { toolParts } from './tool-result.ts';
import { callAt, tampered, type Writing } from './writing.ts';

/** Begins to write a head; the thread stays as it is. */
export function beginWriting({ head, endedRequests }: ThreadState): Writing {
  return {
    draft: {
      ...head,
      calls: head.calls.map((call) => ({ ...call })),
      owedAnswers: [...head.owedAnswers],
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
    case 'answer-delivered':
      deliverAnswer(writing, event);
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
    case 'call-deferred': {
      const call = ownCallAt(writing, event, ['proposed', 'approved', 'started']);
      call.status = 'deferred';
      if (event.expiresAt !== undefined) call.expiresAt = event.expiresAt;
      break;
    }
    case 'call-abandoned':
      callAt(writing, event, event, ['started']).status = 'proposed';
      endBeside(writing, event, event);
      break;
    case 'call-ended': {
      const call = callAt(writing, event, event, unended);
      refuseForeignEnd(event, call);
      endBeside(writing, event, event);
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
