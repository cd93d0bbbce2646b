import { HoldpointError } from '../../errors.ts';
import { errorResponse } from '../../http/error-response.ts';
import { type Posted, takePost } from '../../http/take-post.ts';
import { type ChatRequest, parseChatRequest } from './chat-request.ts';
import { deliverOutputs } from './client-outputs.ts';
import { pageInput } from './page-input.ts';
import { stopRun } from './stop-run.ts';
import { streamedResponse } from './streamed-response.ts';
import { tellChat } from './tell-chat.ts';
import { putBack } from './tell-run.ts';
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

/* The first event is awaited before the response begins: what is refused is refused with a status. */
async function takeChat<RUNTIME_CONTEXT>(
  options: UiHandlerOptions<RUNTIME_CONTEXT>,
  request: Request,
  { asked, runOptions: by, gone }: Posted<ChatRequest, RUNTIME_CONTEXT>,
): Promise<Response> {
  const { agent, convertDataPart, clientTools = [], headers, onError } = options;
  const { threadId, outputs = [], whilePending } = asked;
  const thread = await agent.thread(threadId);
  const before = thread.revision;
  const { items, stand, replaces } = await pageInput(asked, thread, convertDataPart);
  await deliverOutputs({ agent, thread, clientTools, by }, outputs);
  if (replaces !== undefined) await agent.retract(thread, replaces.messageId, by);
  const runOptions = { ...by, ...(whilePending === undefined ? {} : { whilePending }) };
  const events = agent.stream(items, thread, runOptions)[Symbol.asyncIterator]();
  const first = await events.next();
  if (first.value?.type === 'error') {
    const { error } = first.value;
    /* What has expired is over, and recorded so: a page that loads anew must not show it as open. */
    if (HoldpointError.isInstance(error) && error.code === 'request-closed') {
      await agent.respond([], thread);
    }
    return errorResponse(error, onError);
  }
  const run = { options, runOptions, thread, events: putBack(first, events), stand, before };
  return streamedResponse({
    request,
    chunks: tellChat({ ...run, gone: gone.signal }),
    gone,
    headers,
  });
}
