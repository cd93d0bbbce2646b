import { withAnswers } from '../../content/approval.ts';
import { plainCopy } from '../../content/plain-copy.ts';
import type {
  AskedAnswer,
  UserInputRequest,
  UserInputResponseContent,
} from '../../content/user-input.ts';
import { HoldpointError } from '../../errors.ts';
import type { ThreadState } from '../../thread/thread-state.ts';
import { delegationAsking } from '../calls/delegation.ts';
import { missingTool } from '../calls/tool-definitions.ts';
import type { AnswerContext } from './answer-context.ts';
import { isWeighed } from './check-answers.ts';
import type { ParsedInput, PassedDown, Weigh } from './parse-input.ts';
import type { AnswerOptions, MayAnswer } from './run-input.ts';

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
      const { checkBelow } = await import('./check-below.ts');
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
    const { weighAnswer } = await import('./weigh-answer.ts');
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

/** Makes what `mayAnswer` is asked about a request, with other approvers than the request's own, or about another person, if given. */
export type AskedBy = (instead?: {
  approvers?: readonly string[];
  by?: AnswerOptions;
}) => AskedAnswer;

/**
 * On whose behalf somebody may answer: `undefined` on their own, otherwise the person who had asked them to answer instead. Of an edited
 * request, `edited` makes what is asked besides: they must be allowed to answer both. Throws what `refuse` makes for somebody who may not.
 */
export async function allowedFor(
  mayAnswer: MayAnswer | undefined,
  { request, asked, edited }: { request: UserInputRequest; asked: AskedBy; edited?: AskedBy },
  refuse: () => HoldpointError,
): Promise<string | undefined> {
  const isAllowed = async (instead?: Parameters<AskedBy>[0]): Promise<boolean> => {
    for (const each of edited === undefined ? [asked] : [asked, edited]) {
      /* Without types it may return anything. */
      const answer: unknown = mayAnswer === undefined || (await mayAnswer(each(instead)));
      if (answer !== true) return false;
    }
    return true;
  };
  if (await isAllowed()) return undefined;
  const { reassignments = [] } = request.type === 'approval-request' ? request : {};
  for (const { from, to } of reassignments) {
    if (!(await isAllowed({ approvers: [to] }))) continue;
    /* The first of a person's reassignments is their own. They must still be allowed to answer. */
    const { principal, channel } = reassignments.find((other) => other.from === from) ?? {};
    if (await isAllowed({ by: { principal, channel } })) return from;
  }
  throw refuse();
}

/** Makes what `mayAnswer` is asked about an answer. */
export function askedAnswer(
  stored: UserInputRequest,
  response: UserInputResponseContent,
  sender: AnswerOptions,
): AskedBy {
  return ({ approvers, by: { principal, channel } = sender } = {}) => {
    const request =
      stored.type === 'approval-request'
        ? withAnswers({ ...stored, ...(approvers && { approvers: [...approvers] }) })
        : structuredClone(stored);
    const by = { principal: plainCopy(principal), channel };
    return { ...by, request, response: structuredClone(response) };
  };
}

/** The error for somebody who may not answer a request, or not with this edit. */
export function refused(threadId: string, requestId: string, withEdit = ''): HoldpointError {
  return new HoldpointError(
    'not-allowed',
    `Request ${requestId} of thread ${threadId} can't be answered${withEdit} by this principal: mayAnswer refused it. The request stays open.`,
    { requestId },
  );
}
