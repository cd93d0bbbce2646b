import type { Agent } from '../../../agent/agent.ts';
import type { AnswerOptions, DeliveredOutcome } from '../../../agent/input.ts';
import type { ToolCallRecord } from '../../../content/tool-call.ts';
import { HoldpointError } from '../../../errors.ts';
import type { AgentThread } from '../../../thread/agent-thread.ts';
import type { ClientOutput } from './chat-request.ts';

/** The thread and the settings for `deliverOutputs`. */
interface Delivery {
  agent: Pick<Agent, 'deliver'>;
  thread: AgentThread;
  clientTools: readonly string[];
  by: AnswerOptions;
}

/**
 * Records the results of calls that the page ran. Throws, and records none, if the page may not send one of them or a call has two:
 * `not-found`, `not-allowed`, `invalid-input`.
 */
export async function deliverOutputs(
  { agent, thread, clientTools, by }: Delivery,
  outputs: readonly ClientOutput[],
): Promise<void> {
  if (outputs.length === 0) return;
  refuseConflicting(outputs);
  const calls = new Map(thread.calls.map((call) => [call.toolCallId, call]));
  for (const { toolCallId } of outputs) checkDeliverable(toolCallId, calls, clientTools);
  for (const output of outputs) {
    await agent.deliver(thread, output.toolCallId, toDeliveredOutcome(output), by);
  }
}

/* Only one of them can be recorded, and it is unknown which is right. */
function refuseConflicting(outputs: readonly ClientOutput[]): void {
  const texts = new Map(outputs.map((output) => [output.toolCallId, JSON.stringify(output)]));
  const conflict = outputs.find(
    (output) => texts.get(output.toolCallId) !== JSON.stringify(output),
  );
  if (conflict === undefined) return;
  throw new HoldpointError(
    'invalid-input',
    `The outputs have two results of call ${JSON.stringify(conflict.toolCallId)}; send one.`,
  );
}

/* Other deferred calls may be jobs, whose results no browser knows. */
function checkDeliverable(
  toolCallId: string,
  calls: ReadonlyMap<string, ToolCallRecord>,
  clientTools: readonly string[],
): void {
  const call = calls.get(toolCallId);
  if (call === undefined) {
    throw new HoldpointError(
      'not-found',
      `This thread has no call ${JSON.stringify(toolCallId)}; send only results of calls that this thread shows.`,
    );
  }
  const isClientTool = clientTools.includes(call.toolName);
  const isOpen = call.outcome === undefined && call.status !== 'deferred';
  if (isClientTool && !isOpen) return;
  const reason = isClientTool
    ? `the call is ${call.status}`
    : `tool ${call.toolName} is not one of the handler's clientTools`;
  throw new HoldpointError(
    'not-allowed',
    `This page can't submit the result of call ${toolCallId}: ${reason}.`,
  );
}

function toDeliveredOutcome(output: ClientOutput): DeliveredOutcome {
  return 'errorText' in output
    ? { status: 'failed', error: output.errorText }
    : { status: 'succeeded', output: output.output };
}
