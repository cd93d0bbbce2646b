import { isExpired } from '../../thread/thread-head.ts';
import type { ThreadLog } from '../../thread/thread-log.ts';
import { type FollowUps, makeFollowUps } from '../calls/expire-requests.ts';
import type { RequestMaking } from '../calls/make-request.ts';
import type { ToolDefinitions } from '../calls/tool-definitions.ts';
import { showBelow } from './answers-below.ts';
import type { AnswerContext } from './right-to-answer.ts';

/**
 * Prepares the requests that follow expired ones. A sub-agent may have recorded an answer in time that this thread doesn't show yet; it
 * shows that first. For `withoutTool`, see `makeFollowUps`.
 */
export async function prepareExpiry(
  context: AnswerContext & Omit<RequestMaking, 'threadId' | 'requestedBy'>,
  log: ThreadLog,
  {
    tools,
    withoutTool,
  }: { tools: ToolDefinitions; withoutTool?: Parameters<typeof makeFollowUps>[3]['withoutTool'] },
): Promise<FollowUps> {
  const below = log.state.head.openRequests
    .map(({ request }) => request)
    .filter((request) => request.path !== undefined && isExpired(request, context.now()));
  if (below.length > 0) await showBelow(context, log, { answers: below });
  return makeFollowUps(context, tools, log.state, { withoutTool });
}
