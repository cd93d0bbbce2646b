import type { ThreadState } from '../../thread/thread-state.ts';
import { type FollowUps, isAskedAgain } from './close-requests.ts';
import type { RequestMaking } from './make-request.ts';
import type { ToolDefinitions } from './tool-definitions.ts';

/** The requests that follow those of the thread that have expired, made before they are recorded. */
export async function followUpsFor(
  context: Pick<RequestMaking, 'now' | 'generateId'>,
  tools: ToolDefinitions,
  state: Readonly<ThreadState>,
): Promise<FollowUps | undefined> {
  if (!state.head.openRequests.some(isAskedAgain)) return undefined;
  const { followUpsOf } = await import('./follow-ups.ts');
  return followUpsOf(context, tools, state);
}
