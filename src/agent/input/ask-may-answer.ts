import { withAnswers } from '../../content/approval.ts';
import { copyPlain } from '../../content/json-value.ts';
import type { AskedAnswer, UserInputRequest, UserInputResponseContent } from '../../content/user-input.ts';
import { HoldpointError } from '../../errors.ts';
import type { AnswerOptions, MayAnswer } from './run-input.ts';

/** Makes what `mayAnswer` is asked about a request, with other approvers than the request's own, or about another person, if given. */
export type AskedBy = (instead?: {
  approvers?: readonly string[];
  by?: AnswerOptions;
}) => AskedAnswer;

/**
 * On whose behalf somebody may answer: `undefined` on their own, otherwise the person who had asked them to answer instead. Of an edited
 * request, `edited` makes what is asked besides: they must be allowed to answer both. Throws what `refuse` makes for somebody who may not.
 */
export async function findAllowedPerson(
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
export function makeAskedAnswer(
  stored: UserInputRequest,
  response: UserInputResponseContent,
  sender: AnswerOptions,
): AskedBy {
  return ({ approvers, by: { principal, channel } = sender } = {}) => {
    const request =
      stored.type === 'approval-request'
        ? withAnswers({ ...stored, ...(approvers && { approvers: [...approvers] }) })
        : structuredClone(stored);
    const by = { principal: copyPlain(principal), channel };
    return { ...by, request, response: structuredClone(response) };
  };
}

/** The error for somebody who may not answer a request, or not with this edit. */
export function makeMayAnswerRefusal(
  threadId: string,
  requestId: string,
  withEdit = '',
): HoldpointError {
  return new HoldpointError(
    'not-allowed',
    `Request ${requestId} of thread ${threadId} can't be answered${withEdit} by this principal: mayAnswer refused it. The request stays open.`,
    { requestId },
  );
}
