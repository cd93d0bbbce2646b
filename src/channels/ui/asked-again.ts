import type { UIMessageChunk } from 'ai';
import type { RunOptions } from '../../agent/run.ts';
import { HoldpointError } from '../../errors.ts';
import { type RefusedAnswer, renderPublicRefusal } from '../../http/error-response.ts';
import { ApprovalIds } from '../../thread/approval-ids.ts';
import { type ChatRequest, parseMessageHead } from './input/chat-request.ts';
import { openCallChunks } from './output/turn-chunks.ts';
import { withNotices } from './output/page-notices.ts';
import { type StreamedPage, ThreadChunks } from './output/thread-chunks.ts';
import type { UiHandlerOptions } from './ui-handler-options.ts';

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
export function streamAskedAgain<RUNTIME_CONTEXT>(
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
