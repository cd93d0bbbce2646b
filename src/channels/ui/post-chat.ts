import type { InputItem } from '../../agent/input.ts';
import type { AgentStream, AgentStreamEvent } from '../../agent/agent-stream.ts';
import { HoldpointError } from '../../errors.ts';
import {
  makeErrorResponse,
  makeJsonResponse,
  type RefusedAnswer,
} from '../../http/error-response.ts';
import { type ReceivedPost, receivePost } from '../../http/receive-request.ts';
import { type ChatRequest, parseChatRequest } from './input/chat-request.ts';
import { withPageHistory } from './input/client-history.ts';
import { deliverOutputs } from './input/client-outputs.ts';
import { readPageInput } from './input/page-input.ts';
import { streamAskedAgain } from './asked-again.ts';
import { makeChunkResponse, withFirst } from './output/chunk-stream.ts';
import { withNotices } from './output/page-notices.ts';
import { streamChat } from './output/turn-streams.ts';
import type { UiHandlerOptions } from './ui-handler-options.ts';
import { checkViewer } from './viewer.ts';

/** `POST`: records the message, answers and results that a page sends, and streams the run that follows; or stops the run. */
export async function postChat<RUNTIME_CONTEXT>(
  options: UiHandlerOptions<RUNTIME_CONTEXT>,
  request: Request,
): Promise<Response> {
  const posted = await receivePost(options, request, {
    parse: parseChatRequest,
    maximumBodyBytes: 1_048_576,
    channel: 'ui',
  });
  if (posted instanceof Response) return posted;
  const { threadId, viewer: claimed } = posted.parsed;
  const { principal } = posted.runOptions;
  const viewer = await checkViewer(options.agent, { threadId, principal, claimed });
  if (viewer instanceof Response) return viewer;
  if (posted.parsed.stop === true) return stopRun(options, posted);
  const { withdraw, reassign } = posted.parsed;
  if (withdraw !== undefined || reassign !== undefined) return changeVotes(options, posted);
  return runChat(options, request, posted);
}

/** Withdraws a vote, or lets somebody else answer a request. Runs nothing. */
async function changeVotes<RUNTIME_CONTEXT>(
  { agent }: UiHandlerOptions<RUNTIME_CONTEXT>,
  { parsed, runOptions: { principal, channel } }: ReceivedPost<ChatRequest, RUNTIME_CONTEXT>,
): Promise<Response> {
  const { threadId, withdraw, reassign } = parsed;
  const thread = await agent.thread(threadId);
  const by = { principal, channel };
  if (withdraw !== undefined) await agent.withdraw(thread, withdraw, by);
  if (reassign !== undefined) await agent.reassign(thread, reassign.requestId, reassign.to, by);
  return makeJsonResponse({ revision: thread.revision, status: thread.status });
}

/** Stops the thread's current run, and responds when it has ended. */
async function stopRun<RUNTIME_CONTEXT>(
  { agent }: UiHandlerOptions<RUNTIME_CONTEXT>,
  { parsed, runOptions: { principal, channel } }: ReceivedPost<ChatRequest, RUNTIME_CONTEXT>,
): Promise<Response> {
  const thread = await agent.thread(parsed.threadId);
  await agent.stop(thread, { principal, channel });
  return makeJsonResponse({ revision: thread.revision, status: thread.status });
}

/* A refusal is sent with its status, because the response begins only after the first event of the run. */
async function runChat<RUNTIME_CONTEXT>(
  options: UiHandlerOptions<RUNTIME_CONTEXT>,
  request: Request,
  { parsed: posted, runOptions: by, disconnected }: ReceivedPost<ChatRequest, RUNTIME_CONTEXT>,
): Promise<Response> {
  const { agent, convertDataPart, clientTools = [], headers, onError } = options;
  const { principal, channel } = by;
  const opened = await withPageHistory(options, posted, { principal, channel });
  const { thread, request: parsed, unrecorded } = opened;
  const { outputs = [], whilePending, revision: seen } = parsed;
  const before = thread.revision;
  const runOptions = { ...by, ...(whilePending === undefined ? {} : { whilePending }) };
  const { items, position, act } = await readPageInput(
    { ...parsed, unrecorded },
    thread,
    convertDataPart,
  );
  await deliverOutputs({ agent, thread, clientTools, by }, outputs);
  const started = await startRun(
    items,
    (accepted) => agent.stream(accepted, thread, { ...runOptions, ...act }),
    outputs.length > 0,
  );
  const { refused } = started;
  const page = { thread, position, before };
  if (started.type === 'refused') {
    /* Records the requests that have expired, so that a page that loads now does not show them as open. */
    if (refused.some(({ code }) => code === 'request-closed')) await agent.respond([], thread);
    const { error } = started;
    const chunks = streamAskedAgain({ ...page, options, runOptions: by, parsed, error, refused });
    if (chunks === undefined) return makeErrorResponse(error, onError, refused);
    return makeChunkResponse({ request, chunks, disconnected, headers });
  }
  const { events } = started;
  const run = { ...page, options, runOptions, events, disconnected: disconnected.signal };
  const isSplit =
    position.type !== 'message' && items.length > refused.length + unrecorded.length + 1;
  const context = { ...page, seen, refused, isSplit };
  const chunks = withNotices(streamChat(run), context);
  return makeChunkResponse({ request, chunks, disconnected, headers });
}

/** The result of an input: a run without the answers that were refused, or the error that refuses the whole input. */
type StartedInput =
  | { type: 'started'; events: AsyncIterable<AgentStreamEvent>; refused: RefusedAnswer[] }
  | { type: 'refused'; error: unknown; refused: RefusedAnswer[] };

/**
 * Starts a run with the answers that the agent accepts, and records them with one append: each answer that it refuses is left out, and the
 * others are tried again. `mayRunEmpty`: whether to run if no item is left.
 */
async function startRun(
  items: readonly InputItem[],
  start: (items: readonly InputItem[]) => AgentStream,
  mayRunEmpty: boolean,
): Promise<StartedInput> {
  const refused: RefusedAnswer[] = [];
  for (let left = items; ;) {
    const events = start(left)[Symbol.asyncIterator]();
    const first = await events.next();
    if (first.value?.type !== 'error') {
      return { type: 'started', events: withFirst(first, events), refused };
    }
    const { error } = first.value;
    const rest = left.filter((item) => !isRefusedBy(error, item));
    if (rest.length === left.length || !HoldpointError.isInstance(error)) {
      return { type: 'refused', error, refused };
    }
    const { requestId = '', code, message } = error;
    refused.push({ requestId, code, message });
    if (rest.length === 0 && !mayRunEmpty) return { type: 'refused', error, refused };
    left = rest;
  }
}

function isRefusedBy(error: unknown, item: InputItem): boolean {
  if (!HoldpointError.isInstance(error) || error.requestId === undefined) return false;
  return typeof item === 'object' && 'requestId' in item && item.requestId === error.requestId;
}
