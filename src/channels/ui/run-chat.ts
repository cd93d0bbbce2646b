import type { UIMessageChunk } from 'ai';
import type { AgentStream, AgentStreamEvent, InputItem, RunOptions } from '../../agent.ts';
import { HoldpointError, type RefusedAnswer } from '../../errors.ts';
import { makeErrorResponse, renderPublicRefusal } from '../../http/error-response.ts';
import type { ReceivedPost } from '../../http/receive-request.ts';
import { ApprovalIds } from '../../view/approval-ids.ts';
import { turnAt } from '../../view/turns.ts';
import { type ChatRequest, parseMessageHead } from './input/chat-request.ts';
import { withPageHistory } from './input/client-history.ts';
import { deliverOutputs, readPageInput } from './input/page-input.ts';
import { makeApprovalRequestChunk } from './output/call-chunks.ts';
import { makeChunkResponse, withFirst } from './output/chunk-stream.ts';
import { type StreamedPage, ThreadChunks } from './output/thread-chunks.ts';
import { openCallChunks } from './output/turn-chunks.ts';
import { streamChat } from './output/turn-streams.ts';
import type { UiHandlerOptions } from './ui-handler-options.ts';

/**
 * Records the message, answers and results from a page, and streams the run that follows. A refusal is sent with its status, because the
 * response begins only after the first event of the run. See ADR 12.
 */
export async function runChat<RUNTIME_CONTEXT>(
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
    const { refusedAnswers } = HoldpointError.isInstance(error) ? error : { refusedAnswers: [] };
    const ids = new Set(refusedAnswers.map(({ requestId }) => requestId));
    const rest = left.filter((item) => !isAnswerTo(ids, item));
    if (rest.length === left.length) return { type: 'refused', error, refused };
    refused.push(...refusedAnswers);
    if (rest.length === 0 && !mayRunEmpty) return { type: 'refused', error, refused };
    left = rest;
  }
}

function isAnswerTo(requestIds: ReadonlySet<string>, item: InputItem): boolean {
  return typeof item === 'object' && 'requestId' in item && requestIds.has(item.requestId);
}

/** An input that was refused, and the page that sent it. */
interface RefusedInput<RUNTIME_CONTEXT> extends StreamedPage {
  options: UiHandlerOptions<RUNTIME_CONTEXT>;
  runOptions: RunOptions<RUNTIME_CONTEXT>;
  parsed: ChatRequest;
  error: unknown;
  refused: readonly RefusedAnswer[];
}

/**
 * The stream for a page that shows a request as answered which is still open: the request again, and the refusal as its error. Without it a
 * page of the AI SDK alone could not answer the request any more. `undefined` if the page shows no such request.
 */
function streamAskedAgain<RUNTIME_CONTEXT>(
  input: RefusedInput<RUNTIME_CONTEXT>,
): AsyncGenerator<UIMessageChunk, void> | undefined {
  const { thread, parsed, position, before, error, refused } = input;
  const { events, activeRequests } = thread;
  const ids = new ApprovalIds(events);
  const open = new Set(activeRequests.map(({ requestId }) => requestId));
  const isOpen = (id: string): boolean => open.has(ids.read(id).requestId);
  if (position.type === 'message') {
    const isOpenForOthers = refused.some(
      ({ requestId, code }) => open.has(requestId) && code !== 'answer-mismatch',
    );
    if (!isOpenForOthers || parsed.answersInParts.length === 0) return undefined;
    const context = { thread, position, before, seen: parsed.revision, refused, isSplit: false };
    return withNotices(streamInMessage(input), context);
  }
  const isUnsaid = HoldpointError.isInstance(error) && error.code === 'requests-open';
  return isUnsaid && parsed.answeredIds.some(isOpen) ? streamInNewMessage(input) : undefined;
}

function* streamInMessage<RUNTIME_CONTEXT>(
  input: RefusedInput<RUNTIME_CONTEXT>,
): Generator<UIMessageChunk, void> {
  const chunks = new ThreadChunks(input.options, input);
  yield* chunks.begin();
  yield* chunks.refuse(input.error);
}

/* The page's own answers are recorded, and the message that came with them is not. */
async function* streamInNewMessage<RUNTIME_CONTEXT>({
  options,
  runOptions,
  thread,
  parsed: { message, answers },
  error,
}: RefusedInput<RUNTIME_CONTEXT>): AsyncGenerator<UIMessageChunk, void> {
  const { id: threadId } = thread;
  const messageId = `${threadId}:${parseMessageHead(message)?.id ?? ''}:unsaid`;
  yield { type: 'start', messageId };
  if (answers.length > 0) {
    const { revision } = thread;
    await options.agent.stream(answers, thread, runOptions).response;
    yield { type: 'data-stale', transient: true, data: { revision } };
  }
  yield* openCallChunks(thread, options);
  const { revision, status } = thread;
  yield { type: 'message-metadata', messageMetadata: { threadId, revision, status } };
  yield { type: 'error', errorText: renderPublicRefusal(error, options.onError) };
}

/** The values that decide which notices a page gets. */
interface NoticeContext extends StreamedPage {
  /** The revision that the page shows, according to its request. */
  seen: number | undefined;
  refused: readonly RefusedAnswer[];
  /** True if the page sent answers and a message, which begins another turn than theirs. */
  isSplit: boolean;
}

/**
 * Inserts the notices for a page right after the start of its stream: `data-refused-answers` and `data-stale`. They are transient parts:
 * `onData` gets them, and no message keeps them.
 */
async function* withNotices(
  chunks: AsyncIterable<UIMessageChunk> | Iterable<UIMessageChunk>,
  context: NoticeContext,
): AsyncGenerator<UIMessageChunk, void> {
  const { thread, refused } = context;
  for await (const chunk of chunks) {
    /* The notice is sent once. */
    if (chunk.type === 'data-stale' && isStale(context)) continue;
    yield chunk;
    if (chunk.type !== 'start') continue;
    yield* reopenRequests(context);
    if (refused.length > 0) yield { type: 'data-refused-answers', transient: true, data: refused };
    if (isStale(context)) {
      yield { type: 'data-stale', transient: true, data: { revision: thread.revision } };
    }
  }
}

/* Without these the page would keep showing an answer that was refused, or an approval that waits for others. */
function* reopenRequests({
  thread,
  position,
  before,
  refused,
}: NoticeContext): Generator<UIMessageChunk, void> {
  if (position.type !== 'message') return;
  const { events, calls, activeRequests } = thread;
  const seen = position.revision ?? before;
  const turn = turnAt(events, seen);
  const sent = [...refused.map(({ requestId }) => requestId), ...position.answers];
  if (sent.length === 0) return;
  const ids = new ApprovalIds(events);
  const open = new Map(activeRequests.map((request) => [request.requestId, request]));
  const asked = new Set(calls.map((call) => call.requestId));
  const shown = new Set(
    events
      .slice(turn - 1, seen)
      .flatMap((event) => (event.type === 'request-opened' ? event.request.requestId : [])),
  );
  for (const requestId of new Set(sent)) {
    const request = open.get(requestId);
    if (request !== undefined && asked.has(requestId) && shown.has(requestId)) {
      yield makeApprovalRequestChunk(request, ids);
    }
  }
}

/* The thread has events that neither the page's messages nor this stream shows. */
function isStale({ thread: { events }, position, before, seen, isSplit }: NoticeContext): boolean {
  if (isSplit) return true;
  if (seen === undefined) return false;
  return position.type === 'message'
    ? turnAt(events, before) > turnAt(events, seen)
    : seen < before;
}
