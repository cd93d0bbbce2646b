import type { RunOptions } from '../../agent/agent-options.ts';
import type { AgentResponse } from '../../agent/agent-response.ts';
import type { AgentStream } from '../../agent/agent-stream.ts';
import { lookUntilIdle } from '../../agent/look-until-idle.ts';
import type { AgentThread } from '../../thread/agent-thread.ts';
import type { AgUiEvent } from './ag-ui-event.ts';
import type { AgUiHandlerOptions } from './ag-ui-handler-options.ts';
import { broughtResults } from './brought-results.ts';
import type { Outbox } from './outbox.ts';
import type { RunAgentInput } from './run-agent-input.ts';
import { runError } from './run-error.ts';
import { runItems } from './run-items.ts';
import { RunTelling } from './run-telling.ts';

/** A run that a client has asked for. */
export interface AskedRun<RUNTIME_CONTEXT> {
  options: AgUiHandlerOptions<RUNTIME_CONTEXT>;
  runOptions: RunOptions<RUNTIME_CONTEXT>;
  input: RunAgentInput;
  thread: AgentThread;
  outbox: Outbox;
  /** Aborted when the client has gone. */
  gone: AbortSignal;
}

/** Does the run, at its own pace, and puts what happens into the outbox. What is refused is told as an error of the run. */
export async function playRun<RUNTIME_CONTEXT>(run: AskedRun<RUNTIME_CONTEXT>): Promise<void> {
  const { options, input, thread, outbox } = run;
  const telling = new RunTelling(input, options.sendReasoning ?? true);
  const catchUp = (): AgUiEvent[] => [telling.snapshot(thread)];
  try {
    await recordResults(run);
    telling.open(thread);
    /* What has expired is over, whatever the input says, and the client is told of it. */
    await options.agent.respond([], thread);
    const brought = runItems(input, thread);
    if ('code' in brought) return outbox.finish([{ type: 'RUN_ERROR', ...brought }]);
    const { items, whilePending } = brought;
    const runOptions = { ...run.runOptions, whilePending };
    const first = { stream: options.agent.stream(items, thread, runOptions), thread };
    const { status, last } = await hearToTheEnd(run, telling, first);
    outbox.finish(telling.end(last, status), () => [telling.snapshot(last)]);
  } catch (error) {
    outbox.finish([runError(error, options.onError)], catchUp);
  }
}

/* A result is a fact by itself: it doesn't depend on what the input says beside it. The client has it. */
async function recordResults<RUNTIME_CONTEXT>({
  options: { agent, clientTools = [] },
  runOptions: by,
  input,
  thread,
}: AskedRun<RUNTIME_CONTEXT>): Promise<void> {
  for (const { toolCallId, outcome } of broughtResults(input.messages, thread, clientTools)) {
    await agent.deliver(thread, toolCallId, outcome, by);
  }
}

interface Heard {
  stream: AgentStream;
  thread: AgentThread;
}

interface HeardEnd {
  status: AgentResponse['status'] | undefined;
  last: AgentThread;
}

/** Where another worker runs the thread, that is followed; where that worker is lost, the run is taken up here. */
async function hearToTheEnd<RUNTIME_CONTEXT>(
  run: AskedRun<RUNTIME_CONTEXT>,
  telling: RunTelling,
  first: Heard,
): Promise<HeardEnd> {
  const { options, runOptions, outbox, gone } = run;
  let status = await hear(first, telling, outbox);
  let last = first.thread;
  while (status === 'running' && !gone.aborted) {
    for await (last of lookUntilIdle(options.agent, last.id, { ...options, signal: gone })) {
      outbox.push(telling.news(last));
    }
    if (gone.aborted) break;
    status = await hear(
      { stream: options.agent.stream([], last, runOptions), thread: last },
      telling,
      outbox,
    );
  }
  return { status, last };
}

/* Read as fast as it comes: a run goes at the pace of who reads it, and no client may hold it. */
async function hear(
  { stream, thread }: Heard,
  telling: RunTelling,
  outbox: Outbox,
): Promise<AgentResponse['status'] | undefined> {
  let status: AgentResponse['status'] | undefined;
  for await (const event of stream) {
    if (event.type === 'error') throw event.error;
    if (!telling.hasBegun) outbox.push(telling.begin(thread));
    if (event.type === 'finish') ({ status } = event.response);
    outbox.push(
      'hash' in event || event.type === 'finish' ? telling.news(thread) : telling.hear(event),
    );
  }
  return status;
}
