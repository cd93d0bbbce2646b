import type { Proposal } from '../thread/proposal.ts';
import type { ThreadLog } from '../thread/thread-log.ts';
import type { ThreadState } from '../thread/thread-state.ts';
import { cancelEvents } from './calls/close-requests.ts';
import type { Decide } from './calls/delegation.ts';
import { followUpsFor } from './calls/follow-ups-for.ts';
import { acceptInput } from './input/accept-input.ts';
import type { ParsedInput } from './input/parse-input.ts';
import type { AgentContext } from './run/agent-context.ts';
import { refuseRunning } from './thread-handles.ts';

/** Records answers that `mayAnswer` has allowed, and runs nothing. */
export async function recordAnswers(
  context: AgentContext,
  log: ThreadLog,
  input: ParsedInput,
): Promise<void> {
  const tools = await context.definedTools();
  const followUps = await followUpsFor(context, tools, log.state);
  const accept = (proposal: Proposal): void =>
    acceptInput(proposal, input, { tools, now: context.now(), whilePending: 'refuse', followUps });
  await context.commitCancelled(log, accept);
}

/** Cancels the sub-agents of a thread, and then its open requests, deferred calls and unused approvals. */
export async function cancelOpen(
  { commitCancelled, now }: AgentContext,
  log: ThreadLog,
  reason: string,
): Promise<void> {
  await commitCancelled(log, cancelling(reason, now));
}

/** Cancels the sub-agents of a thread, and deletes it. */
export async function deleteThread(
  { commitCancelled, now }: AgentContext,
  log: ThreadLog,
): Promise<void> {
  const check = (state: Readonly<ThreadState>): void => refuseRunning(state, now());
  check(log.state);
  await commitCancelled(log, cancelling('The thread is deleted.', now), async () => {
    await log.delete(check);
    return [];
  });
}

function cancelling(reason: string, now: () => number): Decide {
  return (proposal) => proposal.add(...cancelEvents(proposal.head, reason, now()));
}
