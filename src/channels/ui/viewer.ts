import { digestViewer } from '../../agent/viewer-of.ts';
import { makeRefusalResponse } from '../../http/error-response.ts';

/** A person's request about a thread. */
interface ViewerRequest {
  threadId: string;
  principal: unknown;
  /** For whom the page says that it was loaded; plain pages don't say. */
  claimed: string | undefined;
}

/** For whom the thread is shown, or the response that refuses a page which was loaded for somebody else than the person who sends its request. */
export async function checkViewer(
  agent: object,
  { threadId, principal, claimed }: ViewerRequest,
): Promise<string | undefined | Response> {
  const viewer = await digestViewer(agent, threadId, principal);
  if (claimed === undefined || claimed === viewer) return viewer;
  const message = 'This page was loaded for somebody else. Nothing was recorded; load it again.';
  return makeRefusalResponse(403, 'other-viewer', message);
}
