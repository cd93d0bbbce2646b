import { errorResponse } from '../../http/error-response.ts';
import { type Posted, takePost } from '../../http/take-post.ts';
import { type ChatRequest, parseChatRequest } from './chat-request.ts';
import { deliverOutputs } from './client-outputs.ts';
import { offerAnswers } from './offer-answers.ts';
import { pageInput } from './page-input.ts';
import { withSigns } from './page-signs.ts';
import { refuseReplacement } from './refuse-replacement.ts';
import { stopRun } from './stop-run.ts';
import { streamedResponse } from './streamed-response.ts';
import { tellChat } from './tell-chat.ts';
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
  const { items, stand, replaces = [] } = await pageInput(asked, thread, convertDataPart);
  if (replaces.length > 0) refuseReplacement(thread, items, runOptions);
  await deliverOutputs({ agent, thread, clientTools, by }, outputs);
  for (const { messageId } of replaces) await agent.retract(thread, messageId, by);
  const offered = await offerAnswers(
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
  const run = { options, runOptions, thread, events, stand, before, gone: gone.signal };
  const isSplit = stand.type !== 'message' && items.length > refused.length + 1;
  const signs = { thread, stand, before, seen, refused, isSplit };
  const chunks = withSigns(tellChat(run), signs);
  return streamedResponse({ request, chunks, gone, headers });
}
