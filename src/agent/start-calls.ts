import type { ToolCallRecord } from '../content/tool-call.ts';
import type { ThreadEvent } from '../thread/thread-event.ts';
import type { ThreadLog } from '../thread/thread-log.ts';
import { traceCall } from '../thread/tracing.ts';
import { executeCall, notRun } from './execute-call.ts';
import type { Executions } from './executions.ts';
import { firstMessages } from './first-messages.ts';
import type { Lease } from './lease.ts';
import type { ToolDefinition, ToolDefinitions } from './tool-definitions.ts';

/** What calls are started with. */
interface Starting {
  log: ThreadLog;
  tools: ToolDefinitions;
  lease: Lease;
  executions: Executions;
  signal: AbortSignal | undefined;
}

/** Right after an append: the calls that it records as started do start, unless the lease is over. */
export async function startCalls(
  { log, tools, lease, executions, signal }: Starting,
  events: readonly ThreadEvent[],
): Promise<void> {
  const { state } = log;
  const started = startedBy(events, state.head.calls, tools);
  if (started.length === 0) return;
  /* The fence: the store may have taken so long that others hold the calls for lost, and have settled or restarted them. */
  const isTooLate = lease.isOver;
  if (isTooLate) await log.pull();
  const messages = firstMessages(state, state.messages.length - 1);
  for (const { call, definition } of started) {
    const { step, index, attempts: attempt } = call;
    const around = async (work: () => Promise<unknown>): Promise<unknown> =>
      traceCall(state, { call, description: definition.tool.description }, work);
    const options = { threadId: state.threadId, messages, signal, around };
    const running = isTooLate ? notRun() : executeCall(definition, call, options);
    executions.add({ step, index, attempt }, running);
  }
}

/* As the calls stand right after the append: one that has ended since, by a delivery, does not start. */
function startedBy(
  events: readonly ThreadEvent[],
  calls: readonly ToolCallRecord[],
  tools: ToolDefinitions,
): { call: ToolCallRecord; definition: ToolDefinition }[] {
  return events.flatMap((event) => {
    if (event.type !== 'call-started') return [];
    const call = calls[event.index];
    const isStarted = call?.step === event.step && call.status === 'started';
    const definition = isStarted ? tools.get(call.toolName) : undefined;
    return isStarted && definition !== undefined ? [{ call, definition }] : [];
  });
}
