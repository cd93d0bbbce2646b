import { z } from 'zod';

/** The fields of a request that say for whom the agent works. Any JSON, as the app passed it. */
export const requestedFields = {
  /** The `principal` of the latest message. */
  requestedBy: z.unknown().optional(),
  /**
   * Everybody whose unanswered message led to the request, in order, each once. `null` stands for somebody unknown: a
   * message without a principal, or from an imported conversation. Absent if nobody is known.
   */
  requesters: z.array(z.unknown()).min(1).optional(),
};

/** For whom a request was made. */
export interface Requested {
  requestedBy?: unknown;
  requesters?: readonly unknown[] | undefined;
}

/** Everybody for whom a request was made; `null` stands for somebody unknown. */
export function listRequesters({ requesters = [] }: Requested): readonly unknown[] {
  return requesters.length > 0 ? requesters : [null];
}

/** For whom a thread works, as its requests show it: what is not known is left out. */
export function describeRequesters({ requestedBy, requesters = [] }: Requested): {
  requestedBy?: unknown;
  requesters?: unknown[];
} {
  return {
    ...(requestedBy === undefined ? {} : { requestedBy }),
    ...(requesters.every((requester) => requester === null) ? {} : { requesters: [...requesters] }),
  };
}
