import { refuseUnknown } from '../content/check-settings.ts';
import { listRequesters } from '../content/requesters.ts';
import type { AskedAnswer, UserInputRequestContent } from '../content/user-input.ts';
import { HoldpointError } from '../errors.ts';
import { findPrincipalName, isSamePerson } from './same-person.ts';

/** The roles of people, and the role that answers requests without approvers. */
interface MayAnswerByRoleOptions {
  /**
   * The strings for which a person answers, as `as` of `agent.requests`: their roles, and their name if requests may be reassigned to
   * people. It is called for each answer, so that a role counts as long as the person has it.
   */
  roles: (principal: unknown) => readonly string[] | PromiseLike<readonly string[]>;
  /** The role that answers questions, and approval requests without `approvers`. */
  otherwise: string;
  /** The agent's `principalId`, if it has one: it is used to check whether the person who approves is one of those who asked. */
  principalId?: ((principal: unknown) => string) | undefined;
}

const known = {
  roles: true,
  otherwise: true,
  principalId: true,
} satisfies Record<keyof MayAnswerByRoleOptions, true>;

/**
 * Makes a `mayAnswer`: a request is answered by the people who have one of the roles in its `approvers`, everything else by those who have
 * the role `otherwise`. Nobody approves what they asked for themselves, on any request; they may reject it. A request by an unknown person
 * can't be approved: pass `principal` with each message. Throws a `TypeError` for an option that is not valid.
 *
 * @example
 * mayAnswer: mayAnswerByRole({ roles: (principal) => rolesOf(principal), otherwise: 'manager' })
 */
export function mayAnswerByRole(
  options: MayAnswerByRoleOptions,
): (asked: AskedAnswer) => Promise<boolean> {
  const { roles, otherwise, principalId } = options;
  refuseUnknown('mayAnswerByRole', options, known);
  if (typeof roles !== 'function')
    throw new TypeError('mayAnswerByRole needs roles, a function from a principal to its roles.');
  if (typeof otherwise !== 'string' || otherwise === '')
    throw new TypeError(
      'mayAnswerByRole needs otherwise, the role that answers questions and requests without approvers.',
    );
  return async ({ principal, request, response }) => {
    const name = findPrincipalName(principal, principalId);
    if (name === undefined) return false;
    const { approvers = [otherwise], notRequester } =
      request.type === 'approval-request' ? request : {};
    const held: unknown = await roles(principal);
    /* A text would be searched for parts of it. */
    if (!Array.isArray(held))
      throw new TypeError(`roles of mayAnswerByRole must return a list; got ${typeof held}.`);
    if (!approvers.some((role) => held.includes(role))) return false;
    const isApproval = response.type === 'approval-response' && response.approved;
    /* The agent excludes the requesters itself where the rule does, and says so. */
    if (!isApproval || notRequester === true) return true;
    const requesters = listRequesterNames(request, principalId);
    return !requesters.some((each) => isSamePerson({ name }, { name: each }));
  };
}

/** The names of all who asked for a request. Throws if one of them is not known: it could be the person who approves. */
function listRequesterNames(
  request: UserInputRequestContent,
  principalId: MayAnswerByRoleOptions['principalId'],
): string[] {
  return listRequesters(request).map((requester) => {
    const name = findPrincipalName(requester, principalId);
    if (name !== undefined) return name;
    const { requestId } = request;
    throw new HoldpointError(
      'not-allowed',
      `Request ${requestId} can't be approved: it isn't known who asked for it, and mayAnswerByRole excludes them. Pass principal with each message.`,
      { requestId },
    );
  });
}
