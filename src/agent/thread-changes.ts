import type { AgentThread } from '../thread/agent-thread.ts';
import type { Proposal } from '../thread/proposal.ts';
import type { ThreadLog } from '../thread/thread-log.ts';
import type { ThreadState } from '../thread/thread-state.ts';
import { type AgentResponse, latestDecisions, makeResponse, nothingRun } from './agent-response.ts';
import { cancelEvents } from './calls/close-requests.ts';
import type { Decide } from './calls/delegation.ts';
import { followUpsFor } from './calls/follow-ups-for.ts';
import { acceptInput, refuseRetraction } from './input/accept-input.ts';
import type { ParsedInput } from './input/parse-input.ts';
import type { AnswerOptions } from './input/run-input.ts';
import type { AgentContext } from './run/agent-context.ts';
import { abandonedEvents } from './run/lost-calls.ts';
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

/** The response to a cancellation. */
export function cancelledResponse(
  thread: AgentThread,
  state: Readonly<ThreadState>,
): AgentResponse {
  const { messages } = state;
  const covered = { messages, messagesBefore: messages.length, decisions: latestDecisions(state) };
  return makeResponse(thread, covered, nothingRun('cancelled'));
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

/** Retracts the app's last message. */
export async function retractMessage(
  context: AgentContext,
  log: ThreadLog,
  { messageId, by }: { messageId: string | undefined; by: AnswerOptions },
): Promise<void> {
  await log.commit((proposal) => {
    const at = context.now();
    refuseRunning(proposal.state, at);
    refuseRetraction(proposal.state, messageId);
    proposal.add(...abandonedEvents(context, proposal.state));
    proposal.add({ type: 'message-retracted', at, ...by });
  });
}

/** Makes this agent the owner of a thread. */
export async function adoptThread(context: AgentContext, log: ThreadLog): Promise<void> {
  const { name, now } = context;
  /* Not `commit`, which refuses a thread of another owner. */
  await log.commitFact((proposal) => {
    const { head } = proposal;
    if (!head.created || head.agent === name) return;
    refuseRunning(proposal.state, now());
    /* A stalled run of the old owner must not continue. */
    proposal.add(...abandonedEvents(context, proposal.state));
    const owner = name === undefined ? {} : { agent: name };
    proposal.add({ type: 'agent-changed', at: now(), ...owner });
  });
}
