import type { InputItem } from '../../../agent/input.ts';
import type { RunOptions } from '../../../agent/run.ts';
import type { UserInputResponseContent } from '../../../content/user-input.ts';
import { HoldpointError } from '../../../errors.ts';
import type { AgentThread } from '../../../thread/agent-thread.ts';
import { answersByApprovalId, ApprovalIds, isRejection } from '../../../thread/approval-ids.ts';
import type { PagePosition } from '../output/thread-chunks.ts';
import { type ChatRequest, parseMessageHead } from './chat-request.ts';
import { type ConvertDataPart, type UserMessage, parseUserMessage } from './user-message.ts';

/** The input of a run from a page's request, and what the page already shows. */
export interface PageInput {
  items: InputItem[];
  position: PagePosition;
  /** What the run is told once, and not when it is resumed for the page. */
  act?: Pick<RunOptions, 'replaces' | 'resumeStopped'>;
}

/** The input of a run from a page's request. Of the assistant's messages only the answers at the very end count. */
export async function readPageInput(
  request: ChatRequest & { unrecorded: readonly unknown[] },
  thread: AgentThread,
  convertDataPart: ConvertDataPart | undefined,
): Promise<PageInput> {
  const { message, answersInParts, answeredIds, isFollowed, revision } = request;
  const { isRegenerate, unrecorded } = request;
  const answers = request.answers.filter((answer) => !isTakenBack(answer, thread, revision));
  const role = message === undefined ? 'none' : parseMessageHead(message)?.role;
  if (role === 'user') {
    const content = await parseUserMessage(message, thread, convertDataPart);
    const above = await Promise.all(
      unrecorded.map(async (each) => parseUserMessage(each, thread, convertDataPart)),
    );
    const missed = above.flatMap((each) => (each.type === 'message' ? [each.message] : []));
    return readUserInput([...answers, ...missed], isRegenerate, content);
  }
  if (isRegenerate) return { items: answers, position: { type: 'nothing', isRegenerate } };
  switch (role) {
    case 'assistant':
    case 'none': {
      const inParts = answersByApprovalId(thread, answersInParts);
      const counted = inParts.answers.filter((answer) => !isFollowed || isRejection(answer));
      const items = [...answers, ...counted];
      const shown = answeredIds.length === 0 ? undefined : new ApprovalIds(thread.events);
      const ids = [
        ...request.answers.map(({ requestId }) => requestId),
        ...inParts.requestIds,
        ...answeredIds.flatMap((id) => shown?.read(id).requestId ?? []),
      ];
      const isHeld = role === 'assistant' || revision !== undefined;
      return { items, position: { type: 'message', revision, answers: ids, isHeld } };
    }
    case undefined:
    default:
      throw new HoldpointError(
        'invalid-input',
        `The last message has the role ${JSON.stringify(role)}; send a message of the user, or the assistant's message with answers.`,
      );
  }
}

/**
 * Whether somebody has voted on the answered request and taken that back since the page saw the thread. A page whose network failed sends
 * its answer again by itself, and a yes that was taken back in the meantime must not come back so.
 */
function isTakenBack(
  answer: UserInputResponseContent,
  { events }: Pick<AgentThread, 'events'>,
  seen: number | undefined,
): boolean {
  if (seen === undefined || answer.type !== 'approval-response' || !answer.approved) return false;
  const voters = new Set<string>();
  return events.slice(seen).some((event) => {
    if (event.type === 'request-voted' && event.response.requestId === answer.requestId) {
      voters.add(event.person);
    }
    return (
      event.type === 'vote-withdrawn' &&
      event.requestId === answer.requestId &&
      voters.has(event.person)
    );
  });
}

/* A recorded message that is sent again, by whomever, is not added again: its turn is streamed, and resumed if somebody wants its reply after all. */
function readUserInput(
  answers: readonly InputItem[],
  isRegenerate: boolean,
  content: UserMessage,
): PageInput {
  switch (content.type) {
    case 'message': {
      const { message, replaces } = content;
      const items = [...answers, message];
      const act = replaces === undefined ? {} : { act: { replaces } };
      return { items, position: { type: 'nothing' }, ...act };
    }
    case 'recorded':
      return {
        items: [...answers],
        position: { type: 'nothing', turn: content.revision, isRegenerate },
        ...(isRegenerate && !content.hasReply ? { act: { resumeStopped: true } } : {}),
      };
    case 'answers': {
      const type = isRegenerate ? 'nothing' : 'new-message';
      return { items: [...answers, ...content.answers], position: { type } };
    }
  }
}
