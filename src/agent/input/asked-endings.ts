import type { UserInputRequest } from '../../content/user-input.ts';
import type { EndedRequest, OpenRequest } from '../../thread/thread-head.ts';
import { makeUnaskedEndingError } from './answer-refusals.ts';
import { AskAgain } from './ask-again.ts';

/** The requests that somebody may end, and whose recorded approvals they may take back, as was found out when they were asked. */
export interface AskedEndings {
  asked: readonly (OpenRequest | EndedRequest)[];
  /** Whether the agent lets anybody end others that are for nobody in particular: it has no `mayAnswer`. */
  isAnybodys: boolean;
}

/** Throws `AskAgain` for the first of the requests that would be ended and about which nobody was asked. */
export function refuseUnasked(
  { asked, isAnybodys }: AskedEndings,
  ending: readonly (OpenRequest | EndedRequest)[],
): void {
  const known = new Map(asked.map((ended) => [ended.request.requestId, ended]));
  for (const ended of ending) {
    const before = known.get(ended.request.requestId);
    /* It may have been approved since, which takes more than ending what is open. */
    if (before !== undefined && isRecorded(before) === isRecorded(ended)) continue;
    if (!isRecorded(ended) && isAnybodys && isForEverybody(ended.request)) continue;
    throw new AskAgain(makeUnaskedEndingError(ended.request));
  }
}

/** Whether a request names nobody, and no sub-agent decides who may answer it: anybody may reject it, unless the agent has a `mayAnswer`. */
export function isForEverybody(request: UserInputRequest): boolean {
  if (request.path !== undefined) return false;
  if (request.type === 'question-request') return true;
  return request.approvers === undefined && request.notRequester === undefined;
}

/** Whether a request that is to be ended is decided: its approval is recorded, and would be taken back. */
export function isRecorded(ended: OpenRequest | EndedRequest): ended is EndedRequest {
  return 'response' in ended && ended.response !== undefined;
}
