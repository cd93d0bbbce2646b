import type { UserInputResponseContent } from '../../content/user-input.ts';
import type { ThreadState } from '../../thread/thread-state.ts';
import { delegationAsking } from '../calls/delegation.ts';
import { missingTool } from '../calls/tool-definitions.ts';
import type { AnswerContext } from './answer-context.ts';
import { allowedFor, askedAnswer, refused } from './ask-may-answer.ts';
import { isWeighed } from './check-answers.ts';
import { checkBelow } from './check-below.ts';
import type { ParsedInput, PassedDown, Weigh } from './parse-input.ts';
import type { MayAnswer } from './run-input.ts';
import { weighAnswer } from './weigh-answer.ts';

/**
 * Asks `mayAnswer` about each answer to an open request; for a mirrored request, the sub-agent checks the answer too. Prepares the answers
 * that count only together with others, or that say more than yes or no. Notes the requests in the input: an answer to one that opens
 * later is refused. Throws `not-allowed` for the first refused answer, or what `mayAnswer` or the sub-agent throws.
 */
export async function withAllowedAnswers(
  context: AnswerContext,
  state: Readonly<ThreadState>,
  input: ParsedInput,
  mayAnswer: MayAnswer | undefined,
): Promise<ParsedInput> {
  const { head, threadId } = state;
  const open = new Map(head.openRequests.map((each) => [each.request.requestId, each]));
  const isAsked = (answer: UserInputResponseContent): boolean => {
    const request = open.get(answer.requestId)?.request;
    return request?.path !== undefined || isWeighed(request, answer);
  };
  if (input.answers.length === 0) return input;
  if (mayAnswer === undefined && !input.answers.some(isAsked)) return input;
  const allowedRequests = new Set<string>();
  const weighed = new Map<string, Weigh>();
  const passed: PassedDown[] = [];
  for (const response of input.answers) {
    const { requestId } = response;
    const stored = open.get(requestId);
    if (stored === undefined) continue;
    const { request } = stored;
    const asking = delegationAsking(context.tools, { threadId, head }, stored);
    const asked = askedAnswer(request, response, input.by);
    const onBehalfOf = await allowedFor(mayAnswer, { request, asked }, () =>
      refused(threadId, requestId),
    );
    allowedRequests.add(requestId);
    const answering = { response, by: input.by, above: input, mayAnswer };
    if (request.path !== undefined) {
      if (asking === undefined) throw missingTool(request, request.path[0]?.toolName ?? '');
      const { delegation, call } = asking;
      const checked = await checkBelow(
        { ...answering, request, asked, onBehalfOf },
        {
          now: context.now,
          check: async (passedOn) => delegation.check(call, passedOn),
        },
      );
      passed.push({ ...asking, ...checked });
      /* The sub-agent counts it, and this thread repeats what it recorded. */
      weighed.set(requestId, () => []);
      continue;
    }
    if (!isWeighed(request, response) || response.type !== 'approval-response') continue;
    const weighing = { ...answering, open: stored, response, onBehalfOf };
    weighed.set(requestId, await weighAnswer(context, state, weighing));
  }
  return {
    ...input,
    allowedRequests,
    ...(weighed.size === 0 ? {} : { weighed }),
    ...(passed.length === 0 ? {} : { passed }),
  };
}
