import { HoldpointError } from '../../errors.ts';
import type { ThreadLog } from '../../thread/thread-log.ts';
import type { AgentContext } from './agent-context.ts';
import { callGuarded } from './agent-events.ts';
import type { Finished } from './executions.ts';
import { callOf, resultEvents } from './record-results.ts';
import { withRetries } from './with-retries.ts';

/** Records a result that its run no longer waits for. Never rejects: what can't be recorded is handed over. */
export async function recordLate(
  context: AgentContext,
  log: ThreadLog,
  finished: Finished,
): Promise<void> {
  const record = async (): Promise<unknown> =>
    log.commitFact((proposal) => {
      proposal.add(...resultEvents(context, proposal, [finished]));
    });
  try {
    await withRetries(record, (error) => HoldpointError.isInstance(error));
  } catch (error) {
    handOver(context, log, [finished], error);
  }
}

/** Hands results that the store does not take to the app, whole. */
export function handOver(
  { options }: AgentContext,
  { state }: ThreadLog,
  finished: readonly Finished[],
  error: unknown,
): void {
  for (const { attempt, execution } of finished) {
    const call = callOf(state.head, attempt);
    if (call === undefined || execution.type !== 'ended') continue;
    const unrecorded = { threadId: state.threadId, call, outcome: execution.outcome, error };
    void callGuarded(options.onUnrecorded, unrecorded);
  }
}
