import { z } from 'zod';
import { type RequestRights, requestRightsSchema } from '../../../content/request-rights.ts';

/**
 * Reads the viewer's rights to each open request, by its id. Rights in a newer server's format are left out: they are hints, and the page
 * works without them.
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
