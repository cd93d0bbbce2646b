import type { ThreadEvent } from '../thread-event.ts';
import {
  applyCallAbandoned,
  applyCallDeferred,
  applyCallEnded,
  applyCallLost,
  applyCallStarted,
  applyRecoveryFailed,
} from './apply-call.ts';
import { applyGrantCreated, applyGrantRevoked, applyGrantUsed } from './apply-grant.ts';
import {
  applyAnswerDelivered,
  applyRequestAnswered,
  applyRequestClosed,
  applyRequestOpened,
} from './apply-request.ts';
import {
  applyMessageAdded,
  applyMessageRetracted,
  applyMessagesImported,
  applyRunEnded,
  applyRunHeld,
  applyStepFinished,
  applyStopRequested,
} from './apply-step.ts';
import { applyReassigned, applyReminded, applyVoted, applyVoteWithdrawn } from './apply-vote.ts';
import { type HeadDraft, tampered } from './head-draft.ts';

/** Applies events to a draft, in order. Throws `log-tampered` for one that can't follow the ones before it. */
export function applyEvents(draft: HeadDraft, events: readonly ThreadEvent[]): void {
  for (const [index, event] of events.entries()) {
    if (event.type === 'messages-imported' && events[index - 1]?.type !== 'thread-created') {
      throw tampered(event, 'it must follow the creation of the thread, in the same entry');
    }
    applyEvent(draft, event);
  }
}

/* The only place where an event changes a thread. */
function applyEvent(draft: HeadDraft, event: ThreadEvent): void {
  const { head } = draft;
  switch (event.type) {
    case 'thread-created':
      if (head.created) throw tampered(event, 'the thread exists already');
      head.created = true;
      head.agent = event.agent;
      head.parent = event.parent;
      break;
    case 'messages-imported':
      applyMessagesImported(draft, event);
      break;
    case 'agent-changed':
      head.agent = event.agent;
      break;
    case 'message-added':
      applyMessageAdded(draft, event);
      break;
    case 'message-retracted':
      applyMessageRetracted(draft, event);
      break;
    case 'run-started':
    case 'run-renewed':
      applyRunHeld(draft, event);
      break;
    case 'stop-requested':
      applyStopRequested(draft, event);
      break;
    case 'run-ended':
      applyRunEnded(draft, event);
      break;
    case 'step-finished':
      applyStepFinished(draft, event);
      break;
    case 'request-opened':
      applyRequestOpened(draft, event);
      break;
    case 'request-answered':
      applyRequestAnswered(draft, event);
      break;
    case 'request-closed':
      applyRequestClosed(draft, event);
      break;
    case 'request-voted':
      applyVoted(draft, event);
      break;
    case 'vote-withdrawn':
      applyVoteWithdrawn(draft, event);
      break;
    case 'request-reassigned':
      applyReassigned(draft, event);
      break;
    case 'request-reminded':
      applyReminded(draft, event);
      break;
    case 'grant-created':
      applyGrantCreated(draft, event);
      break;
    case 'grant-used':
      applyGrantUsed(draft, event);
      break;
    case 'grant-revoked':
      applyGrantRevoked(draft, event);
      break;
    case 'answer-delivered':
      applyAnswerDelivered(draft, event);
      break;
    case 'call-started':
      applyCallStarted(draft, event);
      break;
    case 'call-deferred':
      applyCallDeferred(draft, event);
      break;
    case 'call-abandoned':
      applyCallAbandoned(draft, event);
      break;
    case 'call-lost':
      applyCallLost(draft, event);
      break;
    case 'recovery-failed':
      applyRecoveryFailed(draft, event);
      break;
    case 'call-ended':
      applyCallEnded(draft, event);
      break;
    case 'late-result':
      break;
  }
}
