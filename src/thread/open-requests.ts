import type { CallPlace } from '../content/tool-call.ts';
import { makePlaceKey } from './calls-by-place.ts';
import type { OpenRequest, ThreadHead } from './thread-head.ts';

/* A turn may have thousands of them, each of which is looked up. A head replaces its list, and never changes it. */
const indexes = new WeakMap<readonly OpenRequest[], ReturnType<typeof makeIndex>>();

/** The open request with this id. */
export function findOpenRequest(
  { openRequests }: Pick<ThreadHead, 'openRequests'>,
  requestId: string,
): OpenRequest | undefined {
  return readIndex(openRequests).byId.get(requestId);
}

/** The open requests that were made during a call, by its tool or its sub-agent. */
export function listAskedDuring(
  { openRequests }: Pick<ThreadHead, 'openRequests'>,
  place: CallPlace,
): readonly OpenRequest[] {
  if (openRequests.length === 0) return [];
  return readIndex(openRequests).during.get(makePlaceKey(place)) ?? [];
}

function readIndex(openRequests: readonly OpenRequest[]) {
  const index = indexes.get(openRequests) ?? makeIndex(openRequests);
  indexes.set(openRequests, index);
  return index;
}

function makeIndex(openRequests: readonly OpenRequest[]) {
  return {
    byId: new Map(openRequests.map((open) => [open.request.requestId, open])),
    during: Map.groupBy(openRequests, ({ beside }) => beside && makePlaceKey(beside)),
  };
}
