import { HoldpointError } from '../errors.ts';
import { answerRequest, closeRequest, deliverAnswer, openRequest } from './apply-request.ts';
import {
  abandonCall,
  addMessage,
  deferCall,
  endCall,
  endRun,
  failRecovery,
  finishStep,
  holdThread,
  loseCall,
  retractMessage,
  startCall,
} from './apply-step.ts';
import type { EntryContent } from './log-entry.ts';
import type { ThreadEvent } from './thread-event.ts';
import { nothingPast, type ThreadHead, type ThreadState } from './thread-state.ts';
import { tampered, type Writing } from './writing.ts';

/** Begins to write a head; the thread stays as it is. */
export function beginWriting({ head, endedRequests }: ThreadState): Writing {
  return {
    draft: {
      ...head,
      calls: head.calls.map((call) => ({ ...call })),
      unsentAnswers: [...head.unsentAnswers],
      queuedMessages: [...head.queuedMessages],
      newlyPast: nothingPast(),
    },
    requests: new Map(head.openRequests.map((open) => [open.request.requestId, open])),
    endedRequests,
  };
}

/** Writes events. Throws `log-tampered` where one can't follow the ones before. */
export function writeEvents(writing: Writing, events: readonly ThreadEvent[]): void {
  for (const event of events) applyEvent(writing, event);
}

/** The head as it is written so far. What the events have settled is in its `newlyPast`. */
export function headSoFar({ draft, requests }: Writing): ThreadHead {
  return { ...draft, openRequests: [...requests.values()] };
}

/** The thread after an entry, written into `state`. */
export function applyEntry(state: ThreadState, content: EntryContent): void {
  const { threadId } = state;
  const { events } = content;
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
  adopt(state, content, headSoFar(writing));
}

/** Makes the head that was written with the events of an entry the thread's own. */
export function adopt(
  state: ThreadState,
  { events, hash, snapshot }: EntryContent,
  head: ThreadHead,
): void {
  const { messages, retracted, calls, requests, toolCallIds } = head.newlyPast;
  state.messages.length -= retracted;
  for (const message of messages) state.messages.push(message);
  for (const call of calls) state.pastCalls.push(call);
  for (const ended of requests) state.endedRequests.set(ended.request.requestId, ended);
  for (const toolCallId of toolCallIds) state.toolCallIds.add(toolCallId);
  for (const event of events) state.events.push(event);
  state.entries.push({ revision: state.events.length, hash, snapshot });
  nameCalls(head, hash);
  state.head = { ...head, newlyPast: nothingPast() };
}

/*
 * A call's key is read off the log: the hash of the entry that proposed it, which no two threads and no two steps share, and its
 * place. So every copy of the thread gives the call the same key, long before it starts.
 */
function nameCalls({ calls }: ThreadHead, hash: string): void {
  for (const call of calls) call.idempotencyKey ??= `${hash}.${call.step}.${call.index}`;
}

/** One event, written into a head. The one place where a thread changes. */
function applyEvent(writing: Writing, event: ThreadEvent): void {
  const { draft } = writing;
  switch (event.type) {
    case 'thread-created':
      if (draft.created) throw tampered(event, 'the thread exists');
      draft.created = true;
      draft.agent = event.agent;
      break;
    case 'agent-changed':
      draft.agent = event.agent;
      break;
    case 'message-added':
      addMessage(writing, event);
      break;
    case 'message-retracted':
      retractMessage(writing, event);
      break;
    case 'run-started':
    case 'run-renewed':
      holdThread(writing, event);
      break;
    case 'stop-requested':
      if (draft.run?.runId !== event.runId) throw tampered(event, 'no such run is at work');
      draft.run = { ...draft.run, isStopping: true };
      break;
    case 'run-ended':
      endRun(writing, event);
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
    case 'call-started':
      startCall(writing, event);
      break;
    case 'call-deferred':
      deferCall(writing, event);
      break;
    case 'call-abandoned':
      abandonCall(writing, event);
      break;
    case 'call-lost':
      loseCall(writing, event);
      break;
    case 'recovery-failed':
      failRecovery(writing, event);
      break;
    case 'call-ended':
      endCall(writing, event);
      break;
    case 'late-result':
      break;
  }
}
