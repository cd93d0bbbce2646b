import type { InputItem } from '../../agent/input/run-input.ts';
import type { RunOptions } from '../../agent/run/run-options.ts';
import { parseInput } from '../../agent/input/parse-input.ts';
import { HoldpointError } from '../../errors.ts';
import type { AgentThread } from '../../thread/agent-thread.ts';

/**
 * Throws for an edit that the agent would refuse, before the message that it takes the place of is withdrawn: `invalid-input`, or
 * `requests-open`.
 */
export function refuseReplacement(
  { id, activeRequests }: AgentThread,
  items: readonly InputItem[],
  { principal, channel, whilePending }: Pick<RunOptions, 'principal' | 'channel' | 'whilePending'>,
): void {
  const { answers } = parseInput([...items], { principal, ...(channel && { channel }) });
  const answered = new Set(answers.map(({ requestId }) => requestId));
  const isOpen = activeRequests.some(({ requestId }) => !answered.has(requestId));
  if (isOpen && whilePending !== 'cancel') {
    throw new HoldpointError('requests-open', `Thread ${id} waits for answers; bring them first.`);
  }
}
