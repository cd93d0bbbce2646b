import type { ThreadState } from '../../thread/thread-state.ts';
import { type FollowUps, isAskedAgain } from './close-requests.ts';
import type { RequestMaking } from './make-request.ts';
import type { ToolDefinitions } from './tool-definitions.ts';

/** The requests that follow those of the thread that have expired, made before they are recorded. */
export function followUpsFor(
  context: Omit<RequestMaking, 'threadId' | 'requestedBy'>,
  tools: ToolDefinitions,
  state: Readonly<ThreadState>,
): Promise<FollowUps | undefined> | undefined {
  return state.head.openRequests.some(isAskedAgain) ? madeFor(context, tools, state) : undefined;
}

async function madeFor(...input: Parameters<typeof followUpsFor>): Promise<FollowUps | undefined> {
  const { followUpsOf } = await import('./follow-ups.ts');
  return followUpsOf(...input);
}
