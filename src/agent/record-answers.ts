import type { Proposal } from '../thread/proposal.ts';
import type { ThreadLog } from '../thread/thread-log.ts';
import { cancelDelegated } from './calls/cancel-delegated.ts';
import { acceptInput } from './input/accept-input.ts';
import type { ParsedInput } from './input/parse-input.ts';
import type { AgentContext } from './run/agent-context.ts';

/** Records answers that may be given, and runs nothing. */
export async function recordAnswers(
  context: AgentContext,
  log: ThreadLog,
  input: ParsedInput,
): Promise<void> {
  const tools = await context.definedTools();
  const accept = (proposal: Proposal): void =>
    acceptInput(proposal, input, { tools, now: context.now(), whilePending: 'refuse' });
  await cancelDelegated(log, context.tools, accept);
  await log.commit(accept);
}
