import type { Proposal } from '../thread/proposal.ts';
import type { ThreadLog } from '../thread/thread-log.ts';
import { acceptInput } from './input/accept-input.ts';
import type { ParsedInput } from './input/parse-input.ts';
import type { AgentContext } from './run/agent-context.ts';

/** Records answers that `mayAnswer` has allowed, and runs nothing. */
export async function recordAnswers(
  context: AgentContext,
  log: ThreadLog,
  input: ParsedInput,
): Promise<void> {
  const tools = await context.definedTools();
  const accept = (proposal: Proposal): void =>
    acceptInput(proposal, input, { tools, now: context.now(), whilePending: 'refuse' });
  await context.commitCancelled(log, accept);
}
