import type { ToolCallRecord, WorkingAgent } from '../content/tool-call.ts';
import type { AgentThread } from '../thread/agent-thread.ts';
import { isSamePlace } from '../thread/thread-head.ts';

/** The lost calls for which a call of an agent waits: itself, or those of the agent that works on it. */
export function lostCallsOf(
  call: ToolCallRecord,
  agent: string,
  thread: AgentThread,
): NonNullable<WorkingAgent['lostCalls']> {
  const { status, recoverAt, agent: below, toolCallId, toolName } = call;
  if (status === 'deferred') return below?.lostCalls ?? [];
  /* The others are recovered by themselves. */
  const isPeoples = status === 'indeterminate' && recoverAt === undefined;
  if (!isPeoples || !isRecordedAsLost(thread, call)) return [];
  return [{ agent, threadId: thread.id, toolCallId, toolName }];
}

/** Whether the log says that a call is lost. Before that, a call whose run has lost its lease is shown as indeterminate, without `recoverAt`. */
function isRecordedAsLost({ events }: AgentThread, call: ToolCallRecord): boolean {
  const last = events.findLast(
    (event) =>
      (event.type === 'call-started' || event.type === 'call-lost') && isSamePlace(event, call),
  );
  return last?.type === 'call-lost';
}
