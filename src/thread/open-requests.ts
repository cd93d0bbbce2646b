import type { CallPlace } from '../content/tool-call.ts';
import { makePlaceKey } from './calls-by-place.ts';
import type { OpenRequest, ThreadHead } from './thread-head.ts';

type WithRequests = Pick<ThreadHead, 'openRequests'>;

/** The open requests of a head, by the keys under which they are looked up. */
interface RequestIndex {
  byId: ReadonlyMap<string, OpenRequest>;
  during: ReadonlyMap<string | undefined, readonly OpenRequest[]>;
}

/* A turn may have thousands of them, each of which is looked up. A head replaces its list, and never changes it. */
const indexes = new WeakMap<readonly OpenRequest[], RequestIndex>();

/** The open request with this id. */
export function findOpenRequest(
  { openRequests }: WithRequests,
  requestId: string,
): OpenRequest | undefined {
  return readIndex(openRequests).byId.get(requestId);
}

/** The open requests that were made during a call, by its tool or its sub-agent. */
export function listAskedDuring(
  { openRequests }: WithRequests,
  place: CallPlace,
): readonly OpenRequest[] {
  if (openRequests.length === 0) return [];
  return readIndex(openRequests).during.get(makePlaceKey(place)) ?? [];
}

function readIndex(openRequests: readonly OpenRequest[]): RequestIndex {
  const known = indexes.get(openRequests);
  if (known !== undefined) return known;
  const index = {
    byId: new Map(openRequests.map((open) => [open.request.requestId, open])),
    during: Map.groupBy(openRequests, ({ beside }) => beside && makePlaceKey(beside)),
  };
  indexes.set(openRequests, index);
  return index;
}
