import type { Agent } from '../../../agent/agent.ts';
import type { AnswerOptions } from '../../../agent/input/run-input.ts';
import type { DeliveredOutcome } from '../../../agent/input/accept-outcome.ts';
import type { ToolCallRecord } from '../../../content/tool-call.ts';
import { HoldpointError } from '../../../errors.ts';
import type { AgentThread } from '../../../thread/agent-thread.ts';
import type { ClientOutput } from './chat-request.ts';

/** What bringing a page's results needs. */
interface Delivery {
  agent: Pick<Agent, 'deliver'>;
  thread: AgentThread;
  clientTools: readonly string[];
  by: AnswerOptions;
}

/** Records the results of calls that the page ran; none, when one of them is not the page's to bring, or a call has two. */
export async function deliverOutputs(
  { agent, thread, clientTools, by }: Delivery,
  outputs: readonly ClientOutput[],
): Promise<void> {
  if (outputs.length === 0) return;
  refuseConflicting(outputs);
  const calls = new Map(thread.calls.map((call) => [call.toolCallId, call]));
  for (const { toolCallId } of outputs) refuseForeign(toolCallId, calls, clientTools);
  for (const output of outputs) {
    await agent.deliver(thread, output.toolCallId, outcomeOf(output), by);
  }
}

/* One of them would be recorded, and nobody said which. */
function refuseConflicting(outputs: readonly ClientOutput[]): void {
  const texts = new Map(outputs.map((output) => [output.toolCallId, JSON.stringify(output)]));
  const twin = outputs.find((output) => texts.get(output.toolCallId) !== JSON.stringify(output));
  if (twin === undefined) return;
  throw new HoldpointError(
    'invalid-input',
    `The outputs have two results of call ${JSON.stringify(twin.toolCallId)}; send one.`,
  );
}

/* Other calls that wait may be jobs, whose results no browser knows. */
function refuseForeign(
  toolCallId: string,
  calls: ReadonlyMap<string, ToolCallRecord>,
  clientTools: readonly string[],
): void {
  const call = calls.get(toolCallId);
  if (call === undefined) {
    throw new HoldpointError(
      'unknown-call',
      `This thread has no call ${JSON.stringify(toolCallId)}.`,
    );
  }
  const isOpen = call.outcome === undefined && call.status !== 'deferred';
  if (clientTools.includes(call.toolName) && !isOpen) return;
  throw new HoldpointError(
    'not-allowed',
    `The result of call ${toolCallId} is not for a page to bring, or not yet.`,
  );
}

function outcomeOf(output: ClientOutput): DeliveredOutcome {
  return 'errorText' in output
    ? { status: 'failed', error: output.errorText }
    : { status: 'succeeded', output: output.output };
}
