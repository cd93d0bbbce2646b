import {
  type AgentResponse,
  type AgentStream,
  checkPolling,
  followThread,
  type InputSchemas,
  readInputSchemas,
  type RunOptions,
} from '../../agent.ts';
import { checkHold, HeldStream } from '../../view/held-stream.ts';
import { checkHistoryOption } from '../../view/import-from-client.ts';
import { findViewerRights } from '../../view/viewer-rights.ts';
import {
  checkMethods,
  checkMs,
  refuseUnknown,
  requireFunctions,
} from '../../content/check-settings.ts';
import { waitForTimer } from '../../content/waiting.ts';
import { makeErrorResponse, makeRefusalResponse } from '../../http/error-response.ts';
import { checkOrigins, receivePost } from '../../http/receive-request.ts';
import type { AgentThread } from '../../thread/agent-thread.ts';
import { type AgUiHandlerOptions, agUiHandlerSettings } from './ag-ui-handler-options.ts';
import { makeEventStreamResponse, type KeepAlive, EventBacklog } from './event-stream.ts';
import { openWithHistory, listClientResults } from './client-messages.ts';
import { readClientInput } from './client-input.ts';
import { parseRunAgentInput, type RunAgentInput } from './run-agent-input.ts';
import type { AgUiEvent } from './ag-ui-event.ts';
import { toReadableRefusal, makeRunError } from './run-end.ts';
import { RunEvents } from './run-events.ts';

/* In characters. A client that is further behind gets the rest at the end. */
const maximumBacklog = 262_144;

/**
 * The route of AG-UI clients, 1.0 and (from 0.0.46) before: a fetch-style handler for Next, Hono, Bun, Deno, Workers. It takes a
 * `RunAgentInput` and streams the run as server-sent events. The thread on the server is the history: of a client's messages only the
 * user's newest count.
 *
 * A run that asks people ends with an interrupt outcome. `resume` answers all interrupts at once, or `forwardedProps.interactionResponse`
 * answers a question; one with a single pick takes `{ selectedOptionId }` or `{ selected }`. A message while requests are open is refused,
 * unless `forwardedProps.whilePending` is `'cancel'`. A client that sends no `protocolVersion` gets `outcome` in the form before 1.0, and
 * `result: { status, pendingToolCallIds? }` for what that can't express.
 *
 * An input that the thread refuses ends the run with `RUN_ERROR` and changes nothing: `not-found`, `already-answered`,
 * `request-closed`, `invalid-answer`, `NO_RESPONSE_FOR_PENDING` … An invalid HTTP request gets a status with
 * `{ error: { code, message } }`: 400, 403 (also `foreign-origin`, a page of another site), 405, 413, 415, 500.
 *
 * Throws a `TypeError` for an unknown or missing option, and for an invalid time, origin or `history`.
 *
 * @example
 * const handler = createAgUiHandler({
 *   agent,
 *   authorize: async ({ request, threadId }) => {
 *     const user = await userOf(request);
 *     return user !== undefined && mayUse(user, threadId) ? { principal: user.email } : undefined;
 *   },
 * });
 * export { handler as POST };
 */
export function createAgUiHandler<RUNTIME_CONTEXT = Record<string, unknown>>(
  options: AgUiHandlerOptions<RUNTIME_CONTEXT>,
): (request: Request) => Promise<Response> {
  refuseUnknown('createAgUiHandler', options, agUiHandlerSettings);
  requireFunctions('createAgUiHandler', options, ['authorize']);
  checkMethods(options.agent, ['thread'], 'createAgUiHandler needs an agent');
  checkPolling(options);
  checkHold(options);
  checkOrigins(options);
  checkHistoryOption(options.history);
  const keepAlive = checkKeepAlive(options);
  return async (request) => {
    try {
      if (request.method === 'POST') return await postRun(options, request, keepAlive);
      return makeRefusalResponse(405, 'method-not-allowed', 'Use POST.', { allow: 'POST' });
    } catch (error) {
      return makeErrorResponse(error, options.onError);
    }
  };
}

/* The response does not wait for the run, nor the run for the response. */
async function postRun<RUNTIME_CONTEXT>(
  options: AgUiHandlerOptions<RUNTIME_CONTEXT>,
  request: Request,
  keepAlive: KeepAlive,
): Promise<Response> {
  const posted = await receivePost(options, request, {
    threadIdField: 'threadId',
    parse: parseRunAgentInput,
    maximumBodyBytes: 4_194_304,
    channel: 'ag-ui',
  });
  if (posted instanceof Response) return posted;
  const { parsed: input, runOptions, disconnected } = posted;
  const { principal, channel } = runOptions;
  const thread = await openWithHistory(options, input, { principal, channel });
  const backlog = new EventBacklog(maximumBacklog);
  const run = { options, runOptions, input, thread, backlog, disconnected: disconnected.signal };
  /* If reporting a failure fails too, the stream ends without a last event. */
  streamRun(run).catch(() => backlog.leave());
  return makeEventStreamResponse({
    request,
    backlog,
    disconnected,
    headers: options.headers,
    keepAlive,
  });
}

function checkKeepAlive({
  keepAliveMs = 15_000,
  wait = waitForTimer,
}: Partial<KeepAlive>): KeepAlive {
  return { keepAliveMs: checkMs(keepAliveMs, 'keepAliveMs', 0), wait };
}

/** A run that a client has requested. */
interface RequestedRun<RUNTIME_CONTEXT> {
  options: AgUiHandlerOptions<RUNTIME_CONTEXT>;
  runOptions: RunOptions<RUNTIME_CONTEXT>;
  input: RunAgentInput;
  /** The latest state that was read: polling a thread that another worker runs returns a new handle each time. */
  thread: AgentThread;
  backlog: EventBacklog;
  /** Aborted when the client has disconnected. */
  disconnected: AbortSignal;
}

/** Runs the thread at its own pace and puts the events into the backlog. A refusal is emitted as an error of the run. */
async function streamRun<RUNTIME_CONTEXT>(run: RequestedRun<RUNTIME_CONTEXT>): Promise<void> {
  const { options, input, thread, backlog } = run;
  const events = new RunEvents(input, options);
  const catchUp = (): AgUiEvent[] => [events.snapshot(run.thread)];
  try {
    await deliverResults(run);
    events.compare(thread);
    /* Expired requests are recorded as closed for any input, so that the client gets them. */
    await options.agent.respond([], thread);
    const parsed = readClientInput(input, thread);
    if ('code' in parsed) return backlog.finish([{ type: 'RUN_ERROR', ...parsed }]);
    const { items, whilePending } = parsed;
    const runOptions = { ...run.runOptions, whilePending, resumeStopped: input.resumeStopped };
    const stream = options.agent.stream(items, thread, runOptions);
    const status = await readToEnd(run, events, stream);
    const wasAsking = run.thread.activeRequests.length > 0;
    const { principal, channel } = run.runOptions;
    const rights = await findViewerRights(options.agent, run.thread, { principal, channel });
    /* This has read the thread again: another person may have answered meanwhile, and then another run continues it. */
    backlog.push(events.update(run.thread));
    const isAnswered = wasAsking && run.thread.activeRequests.length === 0;
    const byId = new Map(rights?.map((each) => [each.requestId, each]));
    const facts = { rights: byId, schemas: await readEditSchemas(run) };
    backlog.finish(events.end(run.thread, isAnswered ? 'running' : status, facts), catchUp);
  } catch (error) {
    backlog.finish([makeRunError(error, options.onError)], catchUp);
  }
}

/* The tools may have to fetch them. */
async function readEditSchemas<RUNTIME_CONTEXT>({
  options: { agent },
  thread: { activeRequests },
}: RequestedRun<RUNTIME_CONTEXT>): Promise<InputSchemas> {
  const isEditable = activeRequests.some(
    (request) => request.type === 'approval-request' && request.editable !== undefined,
  );
  return isEditable ? readInputSchemas(agent) : new Map();
}

/* The results are recorded even if the rest of the input is refused. */
async function deliverResults<RUNTIME_CONTEXT>({
  options: { agent, clientTools = [] },
  runOptions: by,
  input,
  thread,
}: RequestedRun<RUNTIME_CONTEXT>): Promise<void> {
  for (const { toolCallId, outcome } of listClientResults(input.messages, thread, clientTools)) {
    await agent.deliver(thread, toolCallId, outcome, by);
  }
}

/** Reads the run, and the runs that continue it after another worker's run or after calls elsewhere. Returns the last status. */
async function readToEnd<RUNTIME_CONTEXT>(
  run: RequestedRun<RUNTIME_CONTEXT>,
  events: RunEvents,
  first: AgentStream,
): Promise<AgentResponse['status'] | undefined> {
  const { options, runOptions, disconnected } = run;
  const held = new HeldStream(options.agent, options, disconnected);
  try {
    let status = await readStream(run, events, first);
    while ((await follow(run, events, { status, held })) && !disconnected.aborted) {
      status = await readStream(run, events, options.agent.stream([], run.thread, runOptions));
    }
    return status;
  } finally {
    held.end();
  }
}

/** Follows the thread while another worker runs it or calls elsewhere are pending. Returns whether the run can be resumed here. */
async function follow<RUNTIME_CONTEXT>(
  run: RequestedRun<RUNTIME_CONTEXT>,
  events: RunEvents,
  { status, held }: { status: AgentResponse['status'] | undefined; held: HeldStream },
): Promise<boolean> {
  const { options, backlog, disconnected } = run;
  if (status === 'running') {
    for await (run.thread of followThread(options.agent, run.thread.id, {
      ...options,
      signal: disconnected,
    })) {
      backlog.push(events.update(run.thread));
    }
    return true;
  }
  for await (run.thread of held.follow(run.thread)) backlog.push(events.update(run.thread));
  return held.hasResult(run.thread);
}

/* Reads without waiting for the client: a run advances at the pace of its reader, and a slow client must not delay it. */
async function readStream<RUNTIME_CONTEXT>(
  { thread, backlog }: RequestedRun<RUNTIME_CONTEXT>,
  events: RunEvents,
  stream: AgentStream,
): Promise<AgentResponse['status'] | undefined> {
  let status: AgentResponse['status'] | undefined;
  for await (const event of stream) {
    if (event.type === 'error') throw toReadableRefusal(event.error, thread);
    /* AG-UI has no preliminary results. */
    if (event.type === 'tool-result') continue;
    if (!events.hasBegun) backlog.push(events.begin(thread));
    if (event.type === 'finish') ({ status } = event.response);
    /* The thread may be ahead of this reader: what the model streamed comes before the step that it became. */
    if ('at' in event) backlog.push(events.update(thread, event));
    else backlog.push(event.type === 'finish' ? events.update(thread) : events.addDelta(event));
  }
  return status;
}
