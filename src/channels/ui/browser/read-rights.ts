import { z } from 'zod';
import { type RequestRights, requestRightsSchema } from '../../../content/request-rights.ts';

/**
 * Reads what the viewer may do with each open request, by the request's id. What a newer server says in another form is left out: these are
 * hints, and the page works without them.
 */
export function readRights(data: unknown): ReadonlyMap<string, RequestRights> {
  const listed = z.array(z.unknown()).safeParse(data).data ?? [];
  return new Map(
    listed.flatMap((each) => {
      const rights = requestRightsSchema.safeParse(each).data;
      return rights === undefined ? [] : [[rights.requestId, rights] as const];
    }),
  );
}
