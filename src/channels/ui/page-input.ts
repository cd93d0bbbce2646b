import type { InputItem } from '../../agent/input/run-input.ts';
import { HoldpointError } from '../../errors.ts';
import type { AgentThread } from '../../thread/agent-thread.ts';
import { approvalAnswers } from './approval-parts.ts';
import { type ChatRequest, headOf, parseAnswers } from './chat-request.ts';
import type { RecordedMessage } from './said-before.ts';
import type { PageStand } from './thread-telling.ts';
import { type ConvertDataPart, type UserInput, userInput } from './user-input.ts';

/** What a page brings to a run, and what it has before it. */
export interface PageInput {
  items: InputItem[];
  stand: PageStand;
  /** The messages without a reply that this takes the place of; the last one first. */
  replaces?: RecordedMessage[];
}

/** What a page posted, for a run. Of messages that the model or a tool said, only the answers in them count. */
export async function pageInput(
  { message, assistantMessage, answers, revision, isAgain }: ChatRequest,
  thread: AgentThread,
  convertDataPart: ConvertDataPart | undefined,
): Promise<PageInput> {
  const role = message === undefined ? 'none' : headOf(message)?.role;
  if (role === 'user') {
    const unsent = parseAnswers(approvalAnswers(assistantMessage));
    const input = await userInput(message, thread, convertDataPart);
    return fromUser([...answers, ...unsent], isAgain, input);
  }
  if (isAgain) return { items: answers, stand: { type: 'nothing', isAgain } };
  switch (role) {
    case 'assistant':
    case 'none': {
      const items = [...answers, ...parseAnswers(approvalAnswers(message))];
      const ids = items.map(({ requestId }) => requestId);
      const isHeld = role === 'assistant' || revision !== undefined;
      return { items, stand: { type: 'message', revision, answers: ids, isHeld } };
    }
    default:
      throw new HoldpointError(
        'invalid-input',
        'The last message of a request is the one of a user, or of the assistant with answers in it.',
      );
  }
}

/* Of a message that is sent again, as its answer has not come, the turn is told; it is not said twice. */
function fromUser(answers: readonly InputItem[], isAgain: boolean, input: UserInput): PageInput {
  switch (input.type) {
    case 'message': {
      const { message, replaces } = input;
      const items = [...answers, message];
      return { items, stand: { type: 'nothing' }, ...(replaces && { replaces }) };
    }
    case 'said-before':
      if (isAgain && input.stopped !== undefined) {
        const items = [...answers, input.message];
        return { items, stand: { type: 'nothing' }, replaces: [input.stopped] };
      }
      return { items: [...answers], stand: { type: 'nothing', turn: input.revision, isAgain } };
    case 'answers': {
      const type = isAgain ? 'nothing' : 'new-message';
      return { items: [...answers, ...input.answers], stand: { type } };
    }
  }
}
