import type { ToolSet } from 'ai';
import type { UserInputResponseContent } from '../content/user-input.ts';
import type { ProviderResponse } from '../agent.ts';
import { HoldpointError } from '../errors.ts';
import type { AgentThread } from '../thread/agent-thread.ts';
import { listImportedMessages } from '../thread/app-messages.ts';
import type { ApprovalIds } from '../view/approval-ids.ts';
import { callIdsIn, listAnsweredIds, type ReadPrompt } from './read-prompt.ts';

/* A middleware can't see the settings of the call that it is part of: rules left there would be missed silently. */

const elsewhere = 'generateText, streamText or ToolLoopAgent';
const maximumNames = 5;

/** Throws a `TypeError` if nothing declares whether a tool's calls ask: the app may have left its rules in the call of the model. */
export function refuseUnruledTools(tools: ToolSet, toolApproval: unknown): void {
  if (toolApproval !== undefined && toolApproval !== null) return;
  const names = Object.entries(tools)
    .filter(
      ([, { execute, needsApproval }]) => execute !== undefined && needsApproval === undefined,
    )
    .map(([name]) => `'${name}'`);
  if (names.length === 0) return;
  const others = names.length - maximumNames;
  const shown = names.slice(0, maximumNames).join(', ') + (others > 0 ? ` and ${others} more` : '');
  throw new TypeError(
    `holdPoint has no toolApproval, so nobody would be asked before ${shown} ${names.length === 1 ? 'runs' : 'run'}. Move toolApproval here from ` +
      `${elsewhere}, where it can't hold the calls of a model behind holdPoint. To let all calls run, say so: toolApproval: () => 'approved'.`,
  );
}

/** Makes a warning if a prompt has, anywhere, answers to requests that the thread has never had: the AI SDK asks, or decides, by itself. */
export function warnOfForeignAnswers(
  { id, events }: Pick<AgentThread, 'id' | 'events'>,
  ids: ApprovalIds,
  { answeredIds, earlier }: Pick<ReadPrompt, 'answeredIds' | 'earlier'>,
): ProviderResponse['warnings'] {
  if (answeredIds.every((answeredId) => ids.isKnown(answeredId))) return [];
  const imported = new Set(listImportedMessages(events).flatMap(callIdsIn));
  /* An imported history may have answers of before, which are not kept: they follow its calls. */
  const end = earlier.findLastIndex((message) =>
    callIdsIn(message).some((callId) => imported.has(callId)),
  );
  const old = end === -1 ? [] : earlier.slice(0, end + 2).flatMap(listAnsweredIds);
  const foreign = answeredIds.find((each) => !ids.isKnown(each) && !old.includes(each));
  if (foreign === undefined) return [];
  const message =
    `The messages answer ${foreign}, which is no approval request of thread ${id}. If toolApproval is in the call, it decides nothing: the tools ` +
    `run behind the model. Move it from ${elsewhere} to holdPoint.`;
  return [{ type: 'other', message }];
}

/** Throws `not-found` for an answer in a prompt to a request that the thread has never had, such as one of the AI SDK's own. */
export function refuseForeignAnswers(
  { id }: Pick<AgentThread, 'id'>,
  ids: ApprovalIds,
  answers: readonly UserInputResponseContent[],
): void {
  const foreign = answers.find(({ requestId }) => !ids.isKnown(requestId));
  if (foreign === undefined) return;
  throw new HoldpointError(
    'not-found',
    `The prompt answers ${foreign.requestId}, which is no approval request of thread ${id}. If the AI SDK has asked by itself, move toolApproval ` +
      `from ${elsewhere} to holdPoint; and answer the requests of approvalRequestsOf(result).`,
  );
}
