import { z } from 'zod';

/** The fields of a request that say for whom the agent works. Any JSON, as the app passed it. */
export const requestedFields = {
  /** The `principal` of the latest message. */
  requestedBy: z.unknown().optional(),
  /**
   * Everybody whose unanswered message led to the request, in order, each once. `null` stands for an unknown person: a message without a
   * principal, or from an imported conversation. Absent if nobody is known.
   */
  requesters: z.array(z.unknown()).min(1).optional(),
};

/** The people for whom a request was made. */
export interface Requested {
  requestedBy?: unknown;
  requesters?: readonly unknown[] | undefined;
}

/** Lists everybody for whom a request was made; `null` stands for an unknown person. */
export function listRequesters({ requesters = [] }: Requested): readonly unknown[] {
  return requesters.length > 0 ? requesters : [null];
}

/** Describes for whom a thread works, as its requests show it: unknown parts are left out. */
export function describeRequesters({ requestedBy, requesters = [] }: Requested): {
  requestedBy?: unknown;
  requesters?: unknown[];
} {
  return {
    ...(requestedBy === undefined ? {} : { requestedBy }),
    ...(requesters.every((requester) => requester === null) ? {} : { requesters: [...requesters] }),
  };
}
