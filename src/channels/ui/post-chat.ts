import { errorResponse } from '../../http/error-response.ts';
import { type Posted, takePost } from '../../http/take-post.ts';
import { type ChatRequest, parseChatRequest } from './input/chat-request.ts';
import { deliverOutputs } from './input/client-outputs.ts';
import { acceptAnswers } from './input/accept-answers.ts';
import { pageInput } from './input/page-input.ts';
import { withNotices } from './output/page-notices.ts';
import { refuseReplacement } from './refuse-replacement.ts';
import { stopRun } from './stop-run.ts';
import { chunkResponse } from './output/chunk-response.ts';
import { chatChunks } from './output/stream-chat.ts';
import type { UiHandlerOptions } from './ui-handler-options.ts';

/** Takes what a page brings, and tells it what comes of that. */
export async function postChat<RUNTIME_CONTEXT>(
  options: UiHandlerOptions<RUNTIME_CONTEXT>,
  request: Request,
): Promise<Response> {
  const posted = await takePost(options, request, {
    parse: parseChatRequest,
    maximumBodyBytes: 1_048_576,
    channel: 'ui',
  });
  if (posted instanceof Response) return posted;
  if (posted.asked.stop === true) return stopRun(options, posted);
  return takeChat(options, request, posted);
}

/* What is refused is refused with a status: the response begins after the first event. */
async function takeChat<RUNTIME_CONTEXT>(
  options: UiHandlerOptions<RUNTIME_CONTEXT>,
  request: Request,
  { asked, runOptions: by, gone }: Posted<ChatRequest, RUNTIME_CONTEXT>,
): Promise<Response> {
  const { agent, convertDataPart, clientTools = [], headers, onError } = options;
  const { threadId, outputs = [], whilePending, revision: seen } = asked;
  const thread = await agent.thread(threadId);
  const before = thread.revision;
  const runOptions = { ...by, ...(whilePending === undefined ? {} : { whilePending }) };
  const { items, position, replaces = [] } = await pageInput(asked, thread, convertDataPart);
  if (replaces.length > 0) refuseReplacement(thread, items, runOptions);
  await deliverOutputs({ agent, thread, clientTools, by }, outputs);
  for (const { messageId } of replaces) await agent.retract(thread, messageId, by);
  const offered = await acceptAnswers(
    items,
    (left) => agent.stream(left, thread, runOptions),
    outputs.length > 0,
  );
  const { refused } = offered;
  if (offered.type === 'refused') {
    /* What has expired is over, and recorded so: a page that loads anew must not show it as open. */
    if (refused.some(({ code }) => code === 'request-closed')) await agent.respond([], thread);
    return errorResponse(offered.error, onError, refused);
  }
  const { events } = offered;
  const run = { options, runOptions, thread, events, position, before, gone: gone.signal };
  const isSplit = position.type !== 'message' && items.length > refused.length + 1;
  const notices = { thread, position, before, seen, refused, isSplit };
  const chunks = withNotices(chatChunks(run), notices);
  return chunkResponse({ request, chunks, gone, headers });
}
