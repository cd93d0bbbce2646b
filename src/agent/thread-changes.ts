import type { AgentThread } from '../thread/agent-thread.ts';
import { Proposal } from '../thread/proposal.ts';
import type { ThreadLog } from '../thread/thread-log.ts';
import type { ThreadState } from '../thread/thread-state.ts';
import { type AgentResponse, latestDecisions, makeResponse, nothingRun } from './agent-response.ts';
import { cancelEvents, type FollowUps } from './calls/close-requests.ts';
import type { CheckedAnswers, Decide } from './calls/delegation.ts';
import { followUpsFor } from './calls/follow-ups-for.ts';
import { acceptInput, refuseRetraction } from './input/accept-input.ts';
import { allowAnswers, recordBelow } from './input/answers-below.ts';
import type { ParsedInput } from './input/parse-input.ts';
import type { AnswerOptions, MayAnswer } from './input/run-input.ts';
import type { AgentContext } from './run/agent-context.ts';
import { abandonedEvents } from './run/lost-calls.ts';
import { refuseRunning } from './thread-handles.ts';

/** Checks answers, and throws for the first that is refused. The result records them, and runs nothing. */
export async function checkAnswers(
  context: AgentContext,
  log: ThreadLog,
  input: ParsedInput,
  mayAnswer: MayAnswer | undefined,
): Promise<CheckedAnswers> {
  const allowed = await allowAnswers(context, log, input, mayAnswer);
  const tools = await context.definedTools();
  const accept = (proposal: Proposal, accepted: ParsedInput, followUps?: FollowUps): void => {
    const now = context.now();
    acceptInput(proposal, accepted, { tools, now, whilePending: 'refuse', followUps });
  };
  const proposal = new Proposal(log.state);
  accept(proposal, allowed);
  const record = async (): Promise<void> => {
    const recorded = await recordBelow(context, log, allowed);
    const followUps = await followUpsFor(context, tools, log.state);
    await context.commitCancelled(log, (decided) => accept(decided, recorded, followUps));
  };
  return { text: allowed.passed?.[0]?.text ?? answeredText(proposal, input), record };
}

/** The text of the request that is answered first, as the answers leave it. */
function answeredText({ head }: Proposal, { answers }: ParsedInput): string | undefined {
  return [...head.openRequests, ...head.newlyPast.requests].find(
    ({ request }) => request.requestId === answers[0]?.requestId,
  )?.request.text;
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
