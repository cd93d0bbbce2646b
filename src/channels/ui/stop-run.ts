import { jsonResponse } from '../../http/error-response.ts';
import type { Posted } from '../../http/take-post.ts';
import type { ChatRequest } from './input/chat-request.ts';
import type { UiHandlerOptions } from './ui-handler-options.ts';

/** Ends the run that is at work on the thread, and answers when it has ended. */
export async function stopRun<RUNTIME_CONTEXT>(
  { agent }: UiHandlerOptions<RUNTIME_CONTEXT>,
  { asked, runOptions: { principal, channel } }: Posted<ChatRequest, RUNTIME_CONTEXT>,
): Promise<Response> {
  const thread = await agent.thread(asked.threadId);
  await agent.stop(thread, { principal, channel });
  return jsonResponse({ revision: thread.revision, status: thread.status });
}
