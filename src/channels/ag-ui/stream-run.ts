import type { RunOptions } from '../../agent/run/run-options.ts';
import type { AgentResponse } from '../../agent/agent-response.ts';
import type { AgentStream } from '../../agent/agent-stream.ts';
import { HeldStream } from '../../agent/held-stream.ts';
import { followThread } from '../../agent/follow-thread.ts';
import type { AgentThread } from '../../thread/agent-thread.ts';
import type { AgUiEvent } from './output/ag-ui-event.ts';
import type { AgUiHandlerOptions } from './ag-ui-handler-options.ts';
import { clientResults } from './input/client-results.ts';
import type { EventBacklog } from './event-backlog.ts';
import type { RunAgentInput } from './input/run-agent-input.ts';
import { runError } from './output/run-error.ts';
import { clientInput } from './input/client-input.ts';
import { RunEvents } from './output/run-events.ts';
import { readableRefusal } from './output/waiting-text.ts';

/** A run that a client has asked for. */
export interface RequestedRun<RUNTIME_CONTEXT> {
  options: AgUiHandlerOptions<RUNTIME_CONTEXT>;
  runOptions: RunOptions<RUNTIME_CONTEXT>;
  input: RunAgentInput;
  /** As it was last seen: a look at a thread that another worker runs gives a handle of its own. */
  thread: AgentThread;
  backlog: EventBacklog;
  /** Aborted when the client has gone. */
  gone: AbortSignal;
}

/** Does the run, at its own pace, and puts what happens into the outbox. What is refused is told as an error of the run. */
export async function streamRun<RUNTIME_CONTEXT>(
  run: RequestedRun<RUNTIME_CONTEXT>,
): Promise<void> {
  const { options, input, thread, backlog } = run;
  const events = new RunEvents(input, options);
  const catchUp = (): AgUiEvent[] => [events.snapshot(run.thread)];
  try {
    await deliverResults(run);
    events.open(thread);
    /* What has expired is over, whatever the input says, and the client is told of it. */
    await options.agent.respond([], thread);
    const brought = clientInput(input, thread);
    if ('code' in brought) return backlog.finish([{ type: 'RUN_ERROR', ...brought }]);
    const { items, whilePending } = brought;
    const runOptions = { ...run.runOptions, whilePending };
    const stream = options.agent.stream(items, thread, runOptions);
    const status = await readToEnd(run, events, stream);
    backlog.finish(events.end(run.thread, status), catchUp);
  } catch (error) {
    backlog.finish([runError(error, options.onError)], catchUp);
  }
}

/* A result is a fact by itself: it doesn't depend on what the input says beside it. The client has it. */
async function deliverResults<RUNTIME_CONTEXT>({
  options: { agent, clientTools = [] },
  runOptions: by,
  input,
  thread,
}: RequestedRun<RUNTIME_CONTEXT>): Promise<void> {
  for (const { toolCallId, outcome } of clientResults(input.messages, thread, clientTools)) {
    await agent.deliver(thread, toolCallId, outcome, by);
  }
}

/** Where another worker runs the thread, or a call elsewhere may ask yet, that is followed, and the run taken up again after it. */
async function readToEnd<RUNTIME_CONTEXT>(
  run: RequestedRun<RUNTIME_CONTEXT>,
  events: RunEvents,
  first: AgentStream,
): Promise<AgentResponse['status'] | undefined> {
  const { options, runOptions, gone } = run;
  const held = new HeldStream(options.agent, options, gone);
  try {
    let status = await hear(run, events, first);
    while ((await follow(run, events, { status, held })) && !gone.aborted) {
      status = await hear(run, events, options.agent.stream([], run.thread, runOptions));
    }
    return status;
  } finally {
    held.end();
  }
}

/** Whether the run can be taken up again. */
async function follow<RUNTIME_CONTEXT>(
  run: RequestedRun<RUNTIME_CONTEXT>,
  events: RunEvents,
  { status, held }: { status: AgentResponse['status'] | undefined; held: HeldStream },
): Promise<boolean> {
  const { options, backlog, gone } = run;
  if (status === 'running') {
    for await (run.thread of followThread(options.agent, run.thread.id, {
      ...options,
      signal: gone,
    })) {
      backlog.push(events.news(run.thread));
    }
    return true;
  }
  for await (run.thread of held.follow(run.thread)) backlog.push(events.news(run.thread));
  return held.hasResult(run.thread);
}

/* Read as fast as it comes: a run goes at the pace of who reads it, and no client may hold it. */
async function hear<RUNTIME_CONTEXT>(
  { thread, backlog }: RequestedRun<RUNTIME_CONTEXT>,
  events: RunEvents,
  stream: AgentStream,
): Promise<AgentResponse['status'] | undefined> {
  let status: AgentResponse['status'] | undefined;
  for await (const event of stream) {
    if (event.type === 'error') throw readableRefusal(event.error, thread);
    /* The protocol has results, and nothing before them. */
    if (event.type === 'tool-result') continue;
    if (!events.hasBegun) backlog.push(events.begin(thread));
    if (event.type === 'finish') ({ status } = event.response);
    backlog.push(
      'at' in event || event.type === 'finish' ? events.news(thread) : events.hear(event),
    );
  }
  return status;
}
