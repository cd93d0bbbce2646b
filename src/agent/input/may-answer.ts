import { withAnswers } from '../../content/approval.ts';
import { plainCopy } from '../../content/plain-copy.ts';
import type {
  UserInputRequestContent,
  UserInputResponseContent,
} from '../../content/user-input.ts';
import { HoldpointError } from '../../errors.ts';
import type { ThreadState } from '../../thread/thread-state.ts';
import type { ParsedInput } from './parse-input.ts';

/**
 * Says whether somebody may answer a request: only `true` is yes. Whoever may use a thread can send messages to it; this decides whose
 * word counts.
 *
 * @example
 * mayAnswer: ({ principal, request }) => isOwner(principal) || request.type === 'question-request'
 */
export type MayAnswer = (asked: {
  /** As given with the answer: who sends it, as the app authenticated them. */
  principal: unknown;
  /** Through what it came. */
  channel: string | undefined;
  /** What is asked, as the log has it. */
  request: UserInputRequestContent;
  /** What they answer. */
  response: UserInputResponseContent;
}) => boolean | PromiseLike<boolean>;

/**
 * Asks the app about each answer to an open request. The requests that were looked at are noted in the input: one that opens after
 * this can't be answered with it. Throws `not-allowed` for the first answer that is refused, or what `mayAnswer` throws.
 */
export async function withAllowedAnswers(
  mayAnswer: MayAnswer | undefined,
  { head, threadId }: Readonly<ThreadState>,
  input: ParsedInput,
): Promise<ParsedInput> {
  if (mayAnswer === undefined || input.answers.length === 0) return input;
  const open = new Map(head.openRequests.map(({ request }) => [request.requestId, request]));
  const allowedRequests = new Set<string>();
  for (const response of input.answers) {
    const { requestId } = response;
    const stored = open.get(requestId);
    if (stored === undefined) continue;
    const request =
      stored.type === 'approval-request' ? withAnswers(stored) : structuredClone(stored);
    const { principal, channel } = input.by;
    const asked = { principal: plainCopy(principal), channel, request };
    /* Without types it may give anything. */
    const answer: unknown = await mayAnswer({ ...asked, response: structuredClone(response) });
    if (answer !== true) throw refused(threadId, requestId);
    allowedRequests.add(requestId);
  }
  return { ...input, allowedRequests };
}

function refused(threadId: string, requestId: string): HoldpointError {
  return new HoldpointError(
    'not-allowed',
    `Request ${requestId} of thread ${threadId} can't be answered by this principal: mayAnswer refused it. It stays open.`,
    { requestId },
  );
}
