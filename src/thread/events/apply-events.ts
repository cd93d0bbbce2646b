import type { ThreadEvent, ThreadEventOf, ThreadEventType } from '../thread-event.ts';
import { applyRequestAnswered, applyAnswerDelivered } from './answers.ts';
import {
  applyCallStarted,
  applyCallDeferred,
  applyCallLost,
  applyRecoveryFailed,
  applyCallAbandoned,
  applyCallEnded,
} from './calls.ts';
import { applyGrantCreated, applyGrantUsed, applyGrantRevoked } from './grants.ts';
import { applyMessagesImported, applyMessageAdded, applyMessageRetracted } from './messages.ts';
import { applyRequestOpened, applyReminded, applyRequestClosed } from './requests.ts';
import { applyRunHeld, applyStopRequested, applyRunEnded } from './runs.ts';
import { applyStepFinished } from './steps.ts';
import { applyThreadCreated, applyAgentChanged } from './thread.ts';
import { applyVoted, applyVoteWithdrawn, applyReassigned } from './votes.ts';
import { type HeadDraft, tampered } from './head-draft.ts';

/* How each event changes the head. Bundles that never apply events drop this table, as long as nothing here runs when it is loaded. */
const effects: {
  readonly [TYPE in ThreadEventType]: (draft: HeadDraft, event: ThreadEventOf<TYPE>) => void;
} = {
  'thread-created': applyThreadCreated,
  'agent-changed': applyAgentChanged,
  'messages-imported': applyMessagesImported,
  'message-added': applyMessageAdded,
  'message-retracted': applyMessageRetracted,
  'run-started': applyRunHeld,
  'run-renewed': applyRunHeld,
  'stop-requested': applyStopRequested,
  'run-ended': applyRunEnded,
  'step-finished': applyStepFinished,
  'request-opened': applyRequestOpened,
  'request-reminded': applyReminded,
  'request-closed': applyRequestClosed,
  'request-answered': applyRequestAnswered,
  'answer-delivered': applyAnswerDelivered,
  'request-voted': applyVoted,
  'vote-withdrawn': applyVoteWithdrawn,
  'request-reassigned': applyReassigned,
  'grant-created': applyGrantCreated,
  'grant-used': applyGrantUsed,
  'grant-revoked': applyGrantRevoked,
  'call-started': applyCallStarted,
  'call-deferred': applyCallDeferred,
  'call-lost': applyCallLost,
  'recovery-failed': applyRecoveryFailed,
  'call-abandoned': applyCallAbandoned,
  'call-ended': applyCallEnded,
  'late-result': () => undefined,
};

/** Applies events to a draft, in order. Throws `log-tampered` for one that can't follow the ones before it. */
export function applyEvents(draft: HeadDraft, events: readonly ThreadEvent[]): void {
  for (const [index, event] of events.entries()) {
    if (event.type === 'messages-imported' && events[index - 1]?.type !== 'thread-created') {
      throw tampered(event, 'it must follow the creation of the thread, in the same entry');
    }
    applyEvent(event.type, event, draft);
  }
}

/* The only place where an event changes a thread. */
function applyEvent<TYPE extends ThreadEventType>(
  type: TYPE,
  event: ThreadEventOf<TYPE>,
  draft: HeadDraft,
): void {
  effects[type](draft, event);
}
