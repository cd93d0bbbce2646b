import type { UserInputResponseContent } from '../../content/user-input.ts';
import type { Voter } from '../../content/vote.ts';
import type { ThreadHead } from '../../thread/thread-head.ts';
import { findAskingDelegation } from '../calls/delegation.ts';
import { makeMissingToolError } from '../calls/tool-definitions.ts';
import { isWeighed } from './decide-input.ts';
import { checkBelow } from './answers-below.ts';
import { makeMayAnswerRefusal } from './answer-errors.ts';
import { findVoter } from './find-voter.ts';
import {
  type AnswerContext,
  type Answering,
  findRight,
  makeAskedAnswer,
} from './right-to-answer.ts';
import type { PassedDown } from './admitted-input.ts';

/** The part of a thread that decides who may answer: its calls, one of which may be a sub-agent's. */
export interface AnsweredThread {
  threadId: string;
  head: Pick<ThreadHead, 'calls'>;
}

/** An answer to an open request, before its sender is checked. */
export type GivenAnswer = Pick<Answering, 'open' | 'by' | 'above' | 'mayAnswer'> & {
  response: UserInputResponseContent;
};

/** The person who gives an answer. */
interface AdmittedAnswer {
  /**
   * The person who answers, as they are recorded; absent where it makes no difference who answers, and where a sub-agent weighs the answer.
   */
  voter?: Voter;
  /** The answer as the sub-agent has checked it, for a sub-agent's request. */
  passed?: PassedDown;
}

/**
 * Identifies the person who gives an answer, or who asks if they may. Records nothing. Throws `not-allowed` for a person who may not give
 * it, `missing-tool` without the agent tool of a mirrored request, and the errors of `mayAnswer` and the sub-agent.
 */
export async function admitAnswer(
  context: AnswerContext,
  thread: AnsweredThread,
  { open, response, by, above, mayAnswer }: GivenAnswer,
): Promise<AdmittedAnswer> {
  const { threadId } = thread;
  const { request } = open;
  const asked = makeAskedAnswer(request, response, by);
  if (request.path !== undefined) {
    const asking = findAskingDelegation(context.tools, thread, open);
    if (asking === undefined) throw makeMissingToolError(request, request.path[0]?.toolName ?? '');
    const { delegation, call } = asking;
    const checked = await checkBelow(
      { request, response, by, above, mayAnswer, asked },
      {
        now: context.now,
        check: async (passedOn) => delegation.check(call, passedOn),
      },
    );
    return { passed: { ...asking, ...checked } };
  }
  const within = above.right;
  const right = await findRight(mayAnswer, { request, asked, within }, () =>
    makeMayAnswerRefusal(threadId, request.requestId),
  );
  if (request.type !== 'approval-request' || !isWeighed(request, response)) return {};
  return { voter: findVoter(context, request, { by, right }) };
}
