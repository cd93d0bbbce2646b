import type { InputItem } from '../../../agent/input/run-input.ts';
import { HoldpointError } from '../../../errors.ts';
import type { AgentThread } from '../../../thread/agent-thread.ts';
import { approvalAnswers } from './answers-in-message.ts';
import { type ChatRequest, headOf, parseAnswers } from './chat-request.ts';
import type { RecordedMessage } from './recorded-message.ts';
import type { PagePosition } from '../output/thread-chunks.ts';
import { type ConvertDataPart, type UserInput, userInput } from './user-message.ts';

/** What a page brings to a run, and what it has before it. */
export interface PageInput {
  items: InputItem[];
  position: PagePosition;
  /** The messages without a reply that this takes the place of; the last one first. */
  replaces?: RecordedMessage[];
}

/** What a page posted, for a run. Of messages that the model or a tool said, only the answers in them count. */
export async function pageInput(
  { message, assistantMessage, answers, revision, isRegenerate }: ChatRequest,
  thread: AgentThread,
  convertDataPart: ConvertDataPart | undefined,
): Promise<PageInput> {
  const role = message === undefined ? 'none' : headOf(message)?.role;
  if (role === 'user') {
    const unsent = parseAnswers(approvalAnswers(assistantMessage));
    const input = await userInput(message, thread, convertDataPart);
    return fromUser([...answers, ...unsent], isRegenerate, input);
  }
  if (isRegenerate) return { items: answers, position: { type: 'nothing', isRegenerate } };
  switch (role) {
    case 'assistant':
    case 'none': {
      const items = [...answers, ...parseAnswers(approvalAnswers(message))];
      const ids = items.map(({ requestId }) => requestId);
      const isHeld = role === 'assistant' || revision !== undefined;
      return { items, position: { type: 'message', revision, answers: ids, isHeld } };
    }
    default:
      throw new HoldpointError(
        'invalid-input',
        'The last message of a request is the one of a user, or of the assistant with answers in it.',
      );
  }
}

/* Of a message that is sent again, as its answer has not come, the turn is told; it is not said twice. */
function fromUser(
  answers: readonly InputItem[],
  isRegenerate: boolean,
  input: UserInput,
): PageInput {
  switch (input.type) {
    case 'message': {
      const { message, replaces } = input;
      const items = [...answers, message];
      return { items, position: { type: 'nothing' }, ...(replaces && { replaces }) };
    }
    case 'said-before':
      if (isRegenerate && input.stopped !== undefined) {
        const items = [...answers, input.message];
        return { items, position: { type: 'nothing' }, replaces: [input.stopped] };
      }
      return {
        items: [...answers],
        position: { type: 'nothing', turn: input.revision, isRegenerate },
      };
    case 'answers': {
      const type = isRegenerate ? 'nothing' : 'new-message';
      return { items: [...answers, ...input.answers], position: { type } };
    }
  }
}
