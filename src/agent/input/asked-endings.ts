import type { UserInputRequest } from '../../content/user-input.ts';
import type { EndedRequest, OpenRequest } from '../../thread/thread-head.ts';
import { makeUnaskedEndingError } from './answer-errors.ts';
import { AskAgain } from './ask-again.ts';

/** The requests that a person may end, and whose recorded approvals they may take back, according to the app. */
export interface AskedEndings {
  asked: readonly (OpenRequest | EndedRequest)[];
  /** True if anybody may end the other requests without approvers, as the agent has no `mayAnswer`. */
  isAnybodys: boolean;
}

/** Throws `AskAgain` for the first request that would be ended without a check of permission. */
export function refuseUnasked(
  { asked, isAnybodys }: AskedEndings,
  ending: readonly (OpenRequest | EndedRequest)[],
): void {
  const known = new Map(asked.map((ended) => [ended.request.requestId, ended]));
  for (const ended of ending) {
    const before = known.get(ended.request.requestId);
    /* It may have been approved since, and taking back an approval needs more than the right to end an open request. */
    if (before !== undefined && isRecorded(before) === isRecorded(ended)) continue;
    if (!isRecorded(ended) && isAnybodys && isForEverybody(ended.request)) continue;
    throw new AskAgain(makeUnaskedEndingError(ended.request));
  }
}

/**
 * Checks whether a request has no approvers, and no sub-agent decides who may answer it: anybody may reject it, unless the agent has a
 * `mayAnswer`.
 */
export function isForEverybody(request: UserInputRequest): boolean {
  if (request.path !== undefined) return false;
  if (request.type === 'question-request') return true;
  return request.approvers === undefined && request.notRequester === undefined;
}

/** Checks whether a request that is to be ended is decided: its approval is recorded, and would be taken back. */
export function isRecorded(ended: OpenRequest | EndedRequest): ended is EndedRequest {
  return 'response' in ended && ended.response !== undefined;
}
