import { HoldpointError } from '../errors.ts';
import type { ParentCall } from '../thread/events.ts';
import type { ThreadState } from '../thread/thread-state.ts';
import type { ChildThread } from './child-agent.ts';
import { performAct } from './acts/acts.ts';
import { parseActor, parseInput } from './input/parse-input.ts';
import { standsEverywhere } from './input/right-to-answer.ts';
import { admitEnding } from './input/admit-input.ts';
import { listUnstarted, releaseApprovals, takeBackApprovals } from './input/recorded-approvals.ts';
import { cancelRequests, checkAnswers } from './thread-changes.ts';
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
    run: async (input, options, requesters, cause, above) => {
      const mayStand = standsEverywhere(context.mayStand, above);
      const running = { input, options, forParent: { requesters, cause } };
      return runThread({ ...context, mayStand }, threads, thread, running);
    },
    update: async () => threads.update(log),
    change: async ({ change: act, by: sender, right }) => {
      await threads.update(log);
      const by = parseActor(sender, context.principalId);
      await performAct({ context, log, act, by, above: { right } });
    },
    approvals: async () => {
      await threads.update(log);
      return listUnstarted(context, log.state);
    },
    release: async (requestIds, by) => {
      await threads.update(log);
      await releaseApprovals(context, log, { requestIds, by });
    },
    takeBack: async (requestIds, cancellation) => {
      await threads.update(log);
      await takeBackApprovals(context, log, requestIds, cancellation);
    },
    cancelRequests: async (cancelled) => {
      await threads.update(log);
      await cancelRequests(context, log, cancelled);
    },
    check: async ({ response, principal, channel, ...above }) => {
      await threads.update(log);
      const by = parseActor({ principal, channel }, context.principalId);
      if (above.isEnding === true) {
        await admitEnding(context, log.state, response.requestId, { by, above });
        return { text: undefined, isRepeated: false, record: async () => {} };
      }
      const input = { ...parseInput(response, by), above };
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
