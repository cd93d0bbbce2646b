import { makePlaceKey } from '../thread/calls-by-place.ts';
import { listProposedCalls } from '../thread/proposed-calls.ts';
import type { ThreadEvent, ThreadEventOf } from '../thread/thread-event.ts';
import { isQuiet } from '../thread/quiet-events.ts';

/** What the log did with a call; for the three answers, also who gave it, when and why. */
export interface LoggedDecision {
  /**
   * `approved`, `edited`, `rejected`: a person was asked and answered so; `edited`: approved it with another input than the model's.
   * `granted`: a standing approval let it run. A standing rejection counts as `rejected`. `unanswered`: a person was asked, and nobody
   * answered. `unasked`: no person was asked. `denied`: a rule denied it. `refused`: no rule
   * was applied, because the input was invalid, the step was cut off, or there was no such tool. `question`: the call asked a question.
   */
  type:
    | 'approved'
    | 'edited'
    | 'rejected'
    | 'granted'
    | 'unanswered'
    | 'unasked'
    | 'denied'
    | 'refused'
    | 'question';
  /** When the call was proposed: in milliseconds since 1970, and as the number of the event. */
  proposed: Moment;
  answered?: Moment;
  /** Who answered, as authenticated by the app. */
  principal?: unknown;
  channel?: string | undefined;
  reason?: string | undefined;
  /** The input that ran instead, if a person edited it. */
  editedInput?: unknown;
}

/** The time of an event, in milliseconds since 1970, and its number in the thread. */
interface Moment {
  at: number;
  revision: number;
}

/** A call while its events are read. */
interface CallInLog {
  decision: LoggedDecision;
  /** Whether it was started, or an attempt was given up: later requests are about another attempt. */
  isStarted: boolean;
}

/** What a log did with each of its calls, by the key of their place. */
export function readLoggedDecisions(
  events: readonly ThreadEvent[],
): ReadonlyMap<string, LoggedDecision> {
  const calls = new Map<string, CallInLog>();
  const asked = new Map<string, CallInLog>();
  for (const [index, event] of events.entries()) {
    const moment = { at: event.at, revision: index + 1 };
    if (isQuiet(event)) continue;
    switch (event.type) {
      case 'step-finished':
        for (const [key, call] of callsOfStep(event, moment)) calls.set(key, call);
        break;
      case 'request-opened': {
        const call = event.place && calls.get(makePlaceKey(event.place));
        if (call === undefined || call.isStarted) break;
        const { type, requestId } = event.request;
        call.decision = {
          type: type === 'question-request' ? 'question' : 'unanswered',
          proposed: call.decision.proposed,
        };
        asked.set(requestId, call);
        break;
      }
      case 'request-voted':
        recordEdit(asked.get(event.response.requestId), event);
        break;
      case 'request-answered':
        recordAnswer(asked.get(event.response.requestId), event, moment);
        break;
      case 'grant-used': {
        const call = calls.get(makePlaceKey(event));
        if (call === undefined) break;
        call.decision.type = event.decision === 'approved' ? 'granted' : 'rejected';
        break;
      }
      case 'call-started':
      case 'call-deferred': {
        const call = calls.get(makePlaceKey(event));
        if (call !== undefined) call.isStarted = true;
        break;
      }
      case 'call-ended':
        recordEnd(calls.get(makePlaceKey(event)), event);
        break;
      case 'message-added':
      case 'message-retracted':
      case 'request-closed':
      case 'vote-withdrawn':
      case 'request-reassigned':
      case 'call-lost':
        break;
    }
  }
  return new Map([...calls].map(([key, { decision }]) => [key, decision]));
}

function callsOfStep(
  { message, step }: ThreadEventOf<'step-finished'>,
  proposed: Moment,
): [string, CallInLog][] {
  const calls = message === undefined ? [] : listProposedCalls(message, step);
  return calls.map((call) => [
    makePlaceKey(call),
    { decision: { type: 'unasked', proposed }, isStarted: false },
  ]);
}

function recordAnswer(
  call: CallInLog | undefined,
  event: ThreadEventOf<'request-answered'>,
  answered: Moment,
): void {
  const { response, principal, channel } = event;
  if (call === undefined || response.type !== 'approval-response') return;
  recordEdit(call, event);
  const { decision } = call;
  const isEdited = response.approved && decision.editedInput !== undefined;
  const { approved, reason } = response;
  decision.answered = answered;
  decision.type = isEdited ? 'edited' : approved ? 'approved' : 'rejected';
  /* Of several people who approved an edited input, the one who edited it. */
  if (isEdited) return;
  Object.assign(decision, { principal, channel, reason, editedInput: undefined });
}

function recordEdit(
  call: CallInLog | undefined,
  { edit, principal, channel, response }: ThreadEventOf<'request-answered' | 'request-voted'>,
): void {
  if (call === undefined || edit === undefined) return;
  const editedInput = edit.patches.length === 0 ? undefined : edit.input;
  const { reason } = response.type === 'approval-response' ? response : {};
  Object.assign(call.decision, { editedInput, principal, channel, reason });
}

/* A call that ends before it was started or asked about was decided by a rule, or never got to one. */
function recordEnd(call: CallInLog | undefined, { outcome }: ThreadEventOf<'call-ended'>): void {
  if (call === undefined || call.isStarted) return;
  const { decision } = call;
  /* Ended by a standing rejection. */
  if (decision.type === 'rejected' && decision.answered === undefined) {
    decision.reason = outcome.status === 'denied' ? outcome.reason : undefined;
  }
  if (decision.type !== 'unasked') return;
  switch (outcome.status) {
    case 'failed':
      decision.type = 'refused';
      return;
    case 'denied':
      decision.type = 'denied';
      decision.reason = outcome.reason;
      return;
    case 'succeeded':
    case 'forwarded':
      return;
  }
}
