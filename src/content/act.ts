/** Describes an act. */
interface ActTerms {
  /**
   * The people who may do it. `approver`: the rule and `mayAnswer` let them approve the request. `rejecter`: they may reject everything
   * that it ends. `self`: they gave the answer that is changed or kept. `anybody`: the app lets them into the thread.
   */
  who: 'approver' | 'rejecter' | 'self' | 'anybody';
  /** The requests and calls that it ends; for each, the app is asked who may reject it. */
  ends: string;
  /** The events that record it. */
  events: readonly string[];
  /** The reason that people and the model read; absent where it ends nothing, or the person gives the reason. */
  reason?: string;
}

/** Everything that people do about what waits. An act without its row does not compile. */
export const actTerms = {
  approve: {
    who: 'approver',
    ends: 'its request, once enough people have approved',
    events: ['request-answered', 'request-voted', 'grant-created'],
  },
  reject: { who: 'rejecter', ends: 'its request and its call', events: ['request-answered'] },
  'answer-question': {
    who: 'rejecter',
    ends: 'its question; a dismissal may end the turn, with what is open in it',
    events: ['request-answered'],
    reason: 'Interrupted',
  },
  withdraw: { who: 'self', ends: 'nothing', events: ['vote-withdrawn'] },
  reassign: { who: 'approver', ends: 'nothing', events: ['request-reassigned'] },
  remember: { who: 'self', ends: 'nothing', events: ['grant-created'] },
  send: {
    who: 'rejecter',
    ends: "nothing; with whilePending: 'cancel', what is open, and what a stop holds",
    events: ['message-added', 'request-closed'],
    reason: 'The user sent a message without answering.',
  },
  retract: { who: 'anybody', ends: 'nothing', events: ['message-retracted'] },
  settle: {
    who: 'rejecter',
    ends: 'its call, with what was asked during it',
    events: ['call-ended', 'call-abandoned', 'request-opened'],
    reason: 'The call is being retried.',
  },
  deliver: {
    who: 'rejecter',
    ends: 'its call, with what its sub-agent asked',
    events: ['call-ended'],
  },
  stop: {
    who: 'anybody',
    ends: 'calls that nobody had to approve; what was approved is held',
    events: ['stop-requested', 'run-ended'],
    reason: 'The run was stopped.',
  },
  cancel: {
    who: 'rejecter',
    ends: 'what is open, and what was approved and has not begun',
    events: ['request-closed', 'call-ended'],
    reason: 'The request was cancelled.',
  },
  resume: {
    who: 'rejecter',
    ends: 'nothing; what a stop holds goes on, as far as the person may reject it',
    events: ['approvals-released', 'run-started'],
  },
  revoke: { who: 'anybody', ends: 'a standing approval', events: ['grant-revoked'] },
} as const satisfies Record<string, ActTerms>;

/** The name of something that people do about what waits. */
export type ActType = keyof typeof actTerms;

/** The parameters of the acts that change an approval request and leave it open. */
export interface ChangingActParts {
  withdraw: { requestId: string };
  /** `to` is a name, role or team. */
  reassign: { requestId: string; to: string };
}

/** An act that changes an approval request and leaves it open. */
export type ChangingAct = {
  [TYPE in keyof ChangingActParts]: { type: TYPE } & ChangingActParts[TYPE];
}[keyof ChangingActParts];
