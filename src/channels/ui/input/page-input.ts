import type {
  Agent,
  InputItem,
  AnswerOptions,
  DeliveredOutcome,
  RunOptions,
} from '../../../agent.ts';
import type { ToolCallRecord } from '../../../content/tool-call.ts';
import type { UserInputResponseContent } from '../../../content/user-input.ts';
import { HoldpointError } from '../../../errors.ts';
import type { AgentThread } from '../../../thread/agent-thread.ts';
import { answersByApprovalId, ApprovalIds, isRejection } from '../../../view/approval-ids.ts';
import type { PagePosition } from '../output/thread-chunks.ts';
import { type ChatRequest, parseMessageHead, type ClientOutput } from './chat-request.ts';
import { type ConvertDataPart, type UserMessage, parseUserMessage } from './user-message.ts';

/** The input of a run from a page's request, and what the page already shows. */
interface PageInput {
  items: InputItem[];
  position: PagePosition;
  /** Options of the first run, not of its resumption for the page. */
  act?: Pick<RunOptions, 'replaces' | 'resumeStopped'>;
}

/** The input of a run from a page's request. Of the assistant's messages only the answers at the very end count. */
export async function readPageInput(
  request: ChatRequest & { unrecorded: readonly unknown[] },
  thread: AgentThread,
  convertDataPart: ConvertDataPart | undefined,
): Promise<PageInput> {
  const { message, answersInParts, answeredIds, isFollowed, revision } = request;
  const { isRegenerate, unrecorded, resume } = request;
  const takenBack = listTakenBack(thread, revision);
  const answers = request.answers.filter(
    (answer) => !(isYes(answer) && takenBack.has(answer.requestId)),
  );
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
      const isAnswering = answersInParts.length + answeredIds.length > 0;
      const shown = new ApprovalIds(isAnswering ? thread.events : []);
      const inParts = answersByApprovalId(thread, shown, answersInParts);
      const counted = inParts.answers.filter((answer) => !isFollowed || isRejection(answer));
      const items = [...answers, ...counted];
      const ids = [
        ...request.answers.map(({ requestId }) => requestId),
        ...inParts.requestIds,
        ...answeredIds.map((id) => shown.read(id).requestId),
      ];
      const isHeld = role === 'assistant' || revision !== undefined;
      const act = resume === true ? { act: { resumeStopped: true } } : {};
      return { items, position: { type: 'message', revision, answers: ids, isHeld }, ...act };
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
 * Lists the requests with a vote that was withdrawn since the page saw the thread. A page whose network failed repeats its answer by
 * itself, which must not restore a yes that was withdrawn in the meantime.
 */
function listTakenBack(
  { events }: Pick<AgentThread, 'events'>,
  seen = events.length,
): ReadonlySet<string> {
  const voters = new Map<string, Set<string>>();
  const takenBack = new Set<string>();
  for (const event of events.slice(seen)) {
    if (event.type === 'request-voted') {
      const { requestId } = event.response;
      voters.set(requestId, (voters.get(requestId) ?? new Set()).add(event.person));
    }
    if (event.type === 'vote-withdrawn' && voters.get(event.requestId)?.has(event.person) === true)
      takenBack.add(event.requestId);
  }
  return takenBack;
}

function isYes(answer: UserInputResponseContent): boolean {
  return answer.type === 'approval-response' && answer.approved;
}

/*
 * A recorded message that is sent again, by any person, is not added again: its turn is streamed, and resumed if its reply is wanted after
 * all.
 */
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

/** The thread and the settings for `deliverOutputs`. */
interface Delivery {
  agent: Pick<Agent, 'deliver'>;
  thread: AgentThread;
  clientTools: readonly string[];
  by: AnswerOptions;
}

/**
 * Records the results of calls that the page ran. Throws, and records none, if the page may not send one of them or a call has two:
 * `not-found`, `not-allowed`, `invalid-input`.
 */
export async function deliverOutputs(
  { agent, thread, clientTools, by }: Delivery,
  outputs: readonly ClientOutput[],
): Promise<void> {
  if (outputs.length === 0) return;
  refuseConflicting(outputs);
  const calls = new Map(thread.calls.map((call) => [call.toolCallId, call]));
  for (const { toolCallId } of outputs) checkDeliverable(toolCallId, calls, clientTools);
  for (const output of outputs) {
    await agent.deliver(thread, output.toolCallId, toDeliveredOutcome(output), by);
  }
}

/* Only one of two results can be recorded, and the right one is unknown. */
function refuseConflicting(outputs: readonly ClientOutput[]): void {
  const texts = new Map(outputs.map((output) => [output.toolCallId, JSON.stringify(output)]));
  const conflict = outputs.find(
    (output) => texts.get(output.toolCallId) !== JSON.stringify(output),
  );
  if (conflict === undefined) return;
  throw new HoldpointError(
    'invalid-input',
    `The outputs have two results of call ${JSON.stringify(conflict.toolCallId)}; send one.`,
  );
}

/* Other deferred calls may be jobs, whose results no browser knows. */
function checkDeliverable(
  toolCallId: string,
  calls: ReadonlyMap<string, ToolCallRecord>,
  clientTools: readonly string[],
): void {
  const call = calls.get(toolCallId);
  if (call === undefined) {
    throw new HoldpointError(
      'not-found',
      `This thread has no call ${JSON.stringify(toolCallId)}; send only results of calls that this thread shows.`,
    );
  }
  const isClientTool = clientTools.includes(call.toolName);
  const isOpen = call.outcome === undefined && call.status !== 'deferred';
  if (isClientTool && !isOpen) return;
  const reason = isClientTool
    ? `the call is ${call.status}`
    : `tool ${call.toolName} is not one of the handler's clientTools`;
  throw new HoldpointError(
    'not-allowed',
    `This page can't submit the result of call ${toolCallId}: ${reason}.`,
  );
}

function toDeliveredOutcome(output: ClientOutput): DeliveredOutcome {
  return 'errorText' in output
    ? { status: 'failed', error: output.errorText }
    : { status: 'succeeded', output: output.output };
}
