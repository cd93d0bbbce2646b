import { type PrincipalId, readIdField } from '../policy/same-person.ts';
import { hashText } from '../content/crypto.ts';
import { toCanonicalText } from '../policy/digest.ts';

/** What the app's `authorize` says of a request for a thread. */
interface SignIn {
  principal: unknown;
  /** The thread that the request is about, if it is about one. */
  threadId?: string | undefined;
}

/** What an agent knows of people, for the channels. */
export interface KnownPeople {
  /** Whether a principal names somebody. If not, `authorize` has a mistake, such as `isMember && user.email`, and is reported. */
  isSomebody(signIn: SignIn): boolean;
  /** Who a principal is, strictly. */
  identify(principal: unknown): string | undefined;
  /** The agent's option of this name. */
  readonly principalId: PrincipalId;
  /** Whether two principals are the same person, strictly. */
  isSame(one: unknown, other: unknown): boolean;
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

/**
 * For whom a page shows a thread, without saying who that is: SHA-256, as base64url, over the thread's id and who the principal is, strictly, or
 * else the whole principal. It is no secret and authorizes nothing. `undefined` for a principal that is not JSON.
 */
export async function digestViewer(
  agent: object,
  threadId: string,
  principal: unknown,
): Promise<string | undefined> {
  const person = canonicalizePerson(agent, principal);
  return person && hashText(`holdpoint/viewer/v1\0${JSON.stringify(threadId)}${person}`);
}

/* Two kinds, so that no text of `principalId` passes for the JSON of another principal. An app's own object around an agent can't say who an object is. */
function canonicalizePerson(agent: object, principal: unknown): string | undefined {
  const ownText = typeof principal === 'string' ? principal : undefined;
  const known = readKnownPeople(agent);
  const person = known === undefined ? ownText : known.identify(principal);
  if (person !== undefined) return `person${JSON.stringify(person)}`;
  try {
    return `principal${toCanonicalText(principal)}`;
  } catch {
    return undefined;
  }
}
