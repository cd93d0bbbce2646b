import type { UserInputRequest } from './user-input.ts';

/**
 * A request as plain JSON for a browser: it names who voted, reassigned and edited as text (`person`, `from`), without their `principal`, which may
 * hold what is only theirs, such as a token. Pages and AG-UI clients get requests this way; do the same in routes of your own.
 *
 * @example
 * return Response.json(thread.activeRequests.map(hidePrincipals));
 */
export function hidePrincipals(request: UserInputRequest): UserInputRequest {
  if (request.type !== 'approval-request') return { ...request };
  const { votes, reassignments, edit } = request;
  return {
    ...request,
    ...(votes && { votes: votes.map(omitPrincipal) }),
    ...(reassignments && { reassignments: reassignments.map(omitPrincipal) }),
    ...(edit && { edit: omitPrincipal(edit) }),
  };
}

function omitPrincipal<BY extends { principal?: unknown }>({
  principal: _principal,
  ...by
}: BY): Omit<BY, 'principal'> {
  return by;
}
