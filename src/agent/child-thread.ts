import { HoldpointError } from '../errors.ts';
import type { ParentCall } from '../thread/events.ts';
import type { ThreadState } from '../thread/thread-state.ts';
import type { ChildThread } from './child-agent.ts';
import { reassignRequest, withdrawVote } from './input/votes.ts';
import { parseInput } from './input/parse-input.ts';
import { standsEverywhere } from './input/call-may-answer.ts';
import { checkAnswers } from './thread-changes.ts';
import type { AgentContext } from './run/agent-context.ts';
import { runThread } from './run-thread.ts';
import type { ThreadHandles } from './thread-handles.ts';

/** Opens the child thread of a delegated call. */
export async function openChildThread(
  context: AgentContext,
  threads: ThreadHandles,
  { threadId, parent }: { threadId: string; parent: ParentCall },
): Promise<ChildThread> {
  const thread = await threads.open(threadId, parent);
  const log = threads.logOf(thread);
  await threads.update(log);
  refuseOtherParent(log.state, parent);
  return {
    thread,
    run: async (input, options, requesters = [], cause = { by: {} }, above) => {
      const mayStand = standsEverywhere(context.mayStand, above);
      const running = { input, options, forParent: { requesters, cause } };
      return runThread({ ...context, mayStand }, threads, thread, running);
    },
    update: async () => threads.update(log),
    respond: async (answer, by, onBehalfOf) => {
      await threads.update(log);
      const input = { ...parseInput(answer, by), onBehalfOf };
      await (await checkAnswers(context, log, input, undefined)).record();
    },
    reassign: async (reassignment) => {
      await threads.update(log);
      await reassignRequest(context, log, reassignment);
    },
    withdraw: async ({ request: { requestId }, by }) => {
      await threads.update(log);
      await withdrawVote(context, log, { requestId, by });
    },
    check: async ({ response, principal, channel, onBehalfOf, revoked, until }) => {
      await threads.update(log);
      const above = { onBehalfOf, revoked, until };
      const input = { ...parseInput(response, { principal, channel }), ...above };
      return checkAnswers(context, log, input, context.mayAnswer);
    },
  };
}

/** Throws `not-allowed` for a thread that was not created for this delegated call. */
function refuseOtherParent({ threadId, head }: Readonly<ThreadState>, parent: ParentCall): void {
  const { created, parent: stored } = head;
  const isSame = stored?.threadId === parent.threadId && stored.toolCallId === parent.toolCallId;
  if (!created || isSame) return;
  throw new HoldpointError(
    'not-allowed',
    `Thread ${threadId} exists and is not the child thread of call ${parent.toolCallId} of thread ${parent.threadId}.`,
  );
}
