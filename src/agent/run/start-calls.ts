import type { ToolCallRecord } from '../../content/tool-call.ts';
import type { ThreadEvent } from '../../thread/thread-event.ts';
import type { ThreadLog } from '../../thread/thread-log.ts';
import { traceCall } from '../../thread/tracing.ts';
import {
  executeCall,
  type Execution,
  notRun,
  type PreliminaryResult,
} from '../calls/execute-call.ts';
import type { Attempt, Executions } from './executions.ts';
import { firstMessages } from './first-messages.ts';
import type { Lease } from './lease.ts';
import { startLimit } from './time-limits.ts';
import type { ToolDefinition, ToolDefinitions } from '../calls/tool-definitions.ts';

/** What calls are started with. */
interface Starting {
  log: ThreadLog;
  tools: ToolDefinitions;
  lease: Lease;
  executions: Executions;
  signal: AbortSignal;
  /** How long a tool may take, in milliseconds; and to settle once it was told that its time is over. */
  limitOf: (toolName: string) => number | undefined;
  graceMs: number;
  onPreliminary: ((result: PreliminaryResult) => void) | undefined;
}

/** Right after an append: the calls that it records as started do start, unless the lease is over. */
export async function startCalls(
  starting: Starting,
  events: readonly ThreadEvent[],
): Promise<void> {
  const { log, tools, lease, executions } = starting;
  const { state } = log;
  const started = startedBy(events, state.head.calls, tools);
  if (started.length === 0) return;
  /* The fence: the store may have taken so long that others hold the calls for lost, and have settled or restarted them. */
  const isTooLate = lease.isOver;
  if (isTooLate) await log.pull();
  const messages = firstMessages(state, state.messages.length - 1);
  for (const { call, definition } of started) {
    const { step, index, attempts } = call;
    const attempt = { step, index, attempt: attempts };
    const start = (signal: AbortSignal): Promise<Execution> => {
      const around = async (work: () => Promise<unknown>): Promise<unknown> =>
        traceCall(state, { call, description: definition.tool.description }, work);
      const { onPreliminary } = starting;
      const options = { threadId: state.threadId, messages, signal, onPreliminary, around };
      return executeCall(definition, call, options);
    };
    executions.add(attempt, isTooLate ? notRun() : withinLimit(starting, call, attempt, start));
  }
}

/** Runs a call for as long as its tool may take. One that ignores the end of its time is given up: what it came to is not known. */
async function withinLimit(
  { limitOf, graceMs, executions, signal }: Starting,
  { toolName }: ToolCallRecord,
  attempt: Attempt,
  start: (signal: AbortSignal) => Promise<Execution>,
): Promise<Execution> {
  const milliseconds = limitOf(toolName);
  if (milliseconds === undefined) return start(signal);
  const limit = startLimit(milliseconds, `Tool '${toolName}'`, {
    graceMs,
    onIgnored: () => executions.giveUp(attempt),
  });
  /* From the end of the run on its own grace time counts; and a process does not wait for a limit that is over. */
  signal.addEventListener('abort', limit.end, { once: true });
  try {
    return await start(AbortSignal.any([signal, limit.signal]));
  } finally {
    signal.removeEventListener('abort', limit.end);
    limit.end();
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
