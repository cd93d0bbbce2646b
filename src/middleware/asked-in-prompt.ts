import { HoldpointError } from '../errors.ts';
import type { AgentThread } from '../thread/agent-thread.ts';
import { ApprovalIds } from '../thread/approval-ids.ts';
import type { ReadPrompt } from './read-prompt.ts';

/** Whether the prompt's last turn asks about a call more often than it answers the call's request. */
export function isAskingIn(
  { shownCalls, shownAnswers }: Pick<ReadPrompt, 'shownCalls' | 'shownAnswers'>,
  { events }: Pick<AgentThread, 'events'>,
  toolCallId: string,
  requestId: string,
): boolean {
  const asked = shownCalls.filter((id) => id === toolCallId).length;
  if (asked === 0) return false;
  const ids = new ApprovalIds(events);
  return asked > shownAnswers.filter((id) => ids.read(id).requestId === requestId).length;
}

/** Whether `error` refuses a message because requests are open, and the prompt shows one of them as answered. */
export function isStillAsked(
  error: unknown,
  { events, activeRequests }: Pick<AgentThread, 'events' | 'activeRequests'>,
  { answeredIds }: Pick<ReadPrompt, 'answeredIds'>,
): boolean {
  if (!HoldpointError.isInstance(error) || error.code !== 'requests-open') return false;
  const ids = new ApprovalIds(events);
  const answered = new Set(answeredIds.map((id) => ids.read(id).requestId));
  return activeRequests.some(({ requestId }) => answered.has(requestId));
}
