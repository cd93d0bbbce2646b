import type { HoldpointErrorCode } from '../errors.ts';

/* The reasons why an answer is refused, and all texts about them: for the person, on every channel, and in errors. */

/** The reasons why a person may not answer a request now. */
export const answerRefusals = [
  /** The request excludes the people who asked for it (`notRequester`), and this is one of them. */
  'requester',
  /** The request excludes the people who asked for it, and not all of them are known. */
  'unknown-requesters',
  /** `mayAnswer` refuses this person, or threw; or the request names approvers, and the agent has no `mayAnswer` to identify them. */
  'not-approver',
  /** Nobody is signed in, or `principalId` gives no text for the principal, and the request depends on who answers. */
  'unidentified',
  /** The person has approved it already, and it waits for others. They may still reject it. */
  'already-voted',
  /** It has expired, is decided or cancelled, or is not in its thread. */
  'closed',
  /** It is a sub-agent's own request: it is answered in the outermost agent's thread. */
  'child-thread',
  /** This agent lacks the tool that takes the answer. */
  'missing-tool',
  /** The row is not about a request but a lost call or a stuck thread, or its text was erased or is damaged. */
  'no-request',
] as const;

/** The reason why a person may not answer a request now. */
export type AnswerRefusal = (typeof answerRefusals)[number];

const tooLate = 'It is too late to answer this.';

/** The reasons why a person may not answer a request, in words for them. */
export const refusalWords: Record<AnswerRefusal, string> = {
  requester: 'You asked for this, so somebody else has to decide it.',
  'unknown-requesters': 'It is not known who asked for this, so nobody can approve it.',
  'not-approver': 'This waits for somebody else: you are not one of those who may answer it.',
  unidentified: 'Sign in to answer this.',
  'already-voted': 'You have approved this.',
  closed: tooLate,
  'child-thread': 'This is answered in the conversation that it belongs to.',
  'missing-tool': 'This can’t be answered here: the server lacks what takes the answer.',
  'no-request': 'There is nothing to answer.',
};

/** The words for a person whose answer was refused when they gave it, by the code of the error. */
export const refusedAnswerWords = {
  'already-answered': 'This was answered before. The first answer counts.',
  'request-closed': tooLate,
  'not-found': 'This is no longer asked.',
  'answer-mismatch': 'This has changed since you saw it. Check it again, then answer.',
  'invalid-answer': 'This answer does not fit the question.',
  'not-allowed': 'You are not allowed to do this.',
} as const satisfies Partial<Record<HoldpointErrorCode, string>>;

/** The refusals that error codes stand for. Codes about an answer's form are left out: an answer that is only checked has no form. */
export const refusalOf: Partial<Record<HoldpointErrorCode, AnswerRefusal>> = {
  'not-allowed': 'not-approver',
  'request-closed': 'closed',
  'already-answered': 'closed',
  'not-found': 'closed',
  'thread-deleted': 'closed',
  'missing-tool': 'missing-tool',
};

/** The reasons why a voter is refused, for the message of the error. */
export const voterFaults = {
  unknownApprovers: {
    refusal: 'not-approver',
    why: 'it names approvers, and this agent has no mayAnswer to say who they are',
  },
  noPrincipal: {
    refusal: 'unidentified',
    why: "it depends on who answers: pass the answer's principal",
  },
  unnamed: {
    refusal: 'unidentified',
    why: 'it depends on who answers, and principalId gave no text',
  },
  unknownRequesters: {
    refusal: 'unknown-requesters',
    why: 'its rule excludes the people who asked for it (notRequester), and not all of them are known',
  },
  isRequester: {
    refusal: 'requester',
    why: 'its rule excludes the people who asked for it (notRequester), and this is one of them',
  },
  hasApproved: { refusal: 'already-voted', why: 'this person has already approved it' },
} as const satisfies Record<string, { refusal: AnswerRefusal; why: string }>;
