import { readIdField } from '../policy/same-person.ts';

/** What the app's `authorize` says of a request for a thread. */
interface SignIn {
  principal: unknown;
  threadId: string;
}

/** What an agent knows of people, for the channels. */
export interface KnownPeople {
  /** Whether a principal names somebody. If not, `authorize` has a mistake, such as `isMember && user.email`, and is reported. */
  isSomebody(signIn: SignIn): boolean;
  /** Who a principal is, strictly. */
  identify(principal: unknown): string | undefined;
}

/** The key of what an agent knows of people. A registered symbol, so that it works across two copies of the package. */
export const knownPeople: unique symbol = Symbol.for('holdpoint.known-people');

/** What an agent knows of people; `undefined` for an app's own object around an agent. */
export function readKnownPeople(agent: object): KnownPeople | undefined {
  return isKnowing(agent) ? agent[knownPeople] : undefined;
}

/** Whether somebody is signed in: nobody is, if the principal is `undefined` or `null`, or names nobody. */
export function isSignedIn(agent: object, signIn: SignIn): boolean {
  const { principal } = signIn;
  if (principal === undefined || principal === null) return false;
  const known = readKnownPeople(agent);
  if (known !== undefined) return known.isSomebody(signIn);
  return typeof principal === 'string'
    ? principal.trim() !== ''
    : readIdField(principal) !== undefined;
}

function isKnowing(agent: object): agent is { [knownPeople]: KnownPeople } {
  return knownPeople in agent;
}
