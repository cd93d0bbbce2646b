import type { RunOptions } from '../../agent/run/run-options.ts';
import type { AgentResponse } from '../../agent/agent-response.ts';
import type { AgentStream } from '../../agent/agent-stream.ts';
import { HeldStream } from '../../agent/held-stream.ts';
import { followThread } from '../../agent/follow-thread.ts';
import type { AgentThread } from '../../thread/agent-thread.ts';
import type { AgUiEvent } from './ag-ui-event.ts';
import type { AgUiHandlerOptions } from './ag-ui-handler-options.ts';
import { broughtResults } from './brought-results.ts';
import type { Outbox } from './outbox.ts';
import type { RunAgentInput } from './run-agent-input.ts';
import { runError } from './run-error.ts';
import { runItems } from './run-items.ts';
import { RunTelling } from './run-telling.ts';
import { forPeople } from './waiting-text.ts';

/** A run that a client has asked for. */
export interface AskedRun<RUNTIME_CONTEXT> {
  options: AgUiHandlerOptions<RUNTIME_CONTEXT>;
  runOptions: RunOptions<RUNTIME_CONTEXT>;
  input: RunAgentInput;
  /** As it was last seen: a look at a thread that another worker runs gives a handle of its own. */
  thread: AgentThread;
  outbox: Outbox;
  /** Aborted when the client has gone. */
  gone: AbortSignal;
}

/** Does the run, at its own pace, and puts what happens into the outbox. What is refused is told as an error of the run. */
export async function playRun<RUNTIME_CONTEXT>(run: AskedRun<RUNTIME_CONTEXT>): Promise<void> {
  const { options, input, thread, outbox } = run;
  const telling = new RunTelling(input, options);
  const catchUp = (): AgUiEvent[] => [telling.snapshot(run.thread)];
  try {
    await recordResults(run);
    telling.open(thread);
    /* What has expired is over, whatever the input says, and the client is told of it. */
    await options.agent.respond([], thread);
    const brought = runItems(input, thread);
    if ('code' in brought) return outbox.finish([{ type: 'RUN_ERROR', ...brought }]);
    const { items, whilePending } = brought;
    const runOptions = { ...run.runOptions, whilePending };
    const stream = options.agent.stream(items, thread, runOptions);
    const status = await hearToTheEnd(run, telling, stream);
    outbox.finish(telling.end(run.thread, status), catchUp);
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

/** Where another worker runs the thread, or a call elsewhere may ask yet, that is followed, and the run taken up again after it. */
async function hearToTheEnd<RUNTIME_CONTEXT>(
  run: AskedRun<RUNTIME_CONTEXT>,
  telling: RunTelling,
  first: AgentStream,
): Promise<AgentResponse['status'] | undefined> {
  const { options, runOptions, gone } = run;
  const held = new HeldStream(options.agent, options, gone);
  try {
    let status = await hear(run, telling, first);
    while ((await follow(run, telling, { status, held })) && !gone.aborted) {
      status = await hear(run, telling, options.agent.stream([], run.thread, runOptions));
    }
    return status;
  } finally {
    held.end();
  }
}

/** Whether the run can be taken up again. */
async function follow<RUNTIME_CONTEXT>(
  run: AskedRun<RUNTIME_CONTEXT>,
  telling: RunTelling,
  { status, held }: { status: AgentResponse['status'] | undefined; held: HeldStream },
): Promise<boolean> {
  const { options, outbox, gone } = run;
  if (status === 'running') {
    for await (run.thread of followThread(options.agent, run.thread.id, {
      ...options,
      signal: gone,
    })) {
      outbox.push(telling.news(run.thread));
    }
    return true;
  }
  for await (run.thread of held.follow(run.thread)) outbox.push(telling.news(run.thread));
  return held.hasResult(run.thread);
}

/* Read as fast as it comes: a run goes at the pace of who reads it, and no client may hold it. */
async function hear<RUNTIME_CONTEXT>(
  { thread, outbox }: AskedRun<RUNTIME_CONTEXT>,
  telling: RunTelling,
  stream: AgentStream,
): Promise<AgentResponse['status'] | undefined> {
  let status: AgentResponse['status'] | undefined;
  for await (const event of stream) {
    if (event.type === 'error') throw forPeople(event.error, thread);
    /* The protocol has results, and nothing before them. */
    if (event.type === 'tool-result') continue;
    if (!telling.hasBegun) outbox.push(telling.begin(thread));
    if (event.type === 'finish') ({ status } = event.response);
    outbox.push(
      'at' in event || event.type === 'finish' ? telling.news(thread) : telling.hear(event),
    );
  }
  return status;
}
