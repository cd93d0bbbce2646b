import type { UserInputRequest, UserInputResponseContent } from './user-input.ts';

/** A person who ended a request without an answer. */
export interface ClosedBy {
  /** The person, as authenticated by the app. */
  principal?: unknown;
  /** The channel that they used. */
  channel?: string | undefined;
  /** Who they are, as text. */
  person?: string | undefined;
}

/** How a request was decided: see `status`. */
export interface RequestDecision {
  /**
   * `approved`, `rejected`: the answer to an approval request. `answered`, `dismissed`: the answer to a question. For the others
   * no answer counts: the request `expired`, was `cancelled`, or was `invalidated` because what it showed has changed.
   */
  status:
    | 'approved'
    | 'rejected'
    | 'answered'
    | 'dismissed'
    | 'expired'
    | 'cancelled'
    | 'invalidated';
  /** The request, as plain data. */
  request: UserInputRequest;
  /** The answer, if somebody gave one: with the reason, or the answers to a question. */
  response?: UserInputResponseContent | undefined;
  /** Who answered, as authenticated by the app. */
  principal?: unknown;
  /** The channel that the answer came through. */
  channel?: string | undefined;
  /** Who cancelled the request, or an approval that had not been used, where a person did and is known. */
  closedBy?: ClosedBy | undefined;
}
