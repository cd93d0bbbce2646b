import { readIdField } from '../policy/same-person.ts';
import { hashText } from '../content/crypto.ts';
import { toCanonicalText } from '../policy/digest.ts';
import { findDoor, type SignIn } from './agent-door.ts';

/** Checks whether a person is signed in: not if the principal is `undefined` or `null`, or names nobody. */
export function isSignedIn(agent: object, signIn: SignIn): boolean {
  const { principal } = signIn;
  if (principal === undefined || principal === null) return false;
  const known = findDoor(agent)?.people;
  if (known !== undefined) return known.isSomebody(signIn);
  return typeof principal === 'string'
    ? principal.trim() !== ''
    : readIdField(principal) !== undefined;
}

/**
 * Computes a digest of the person for whom a page shows a thread, without revealing them: SHA-256, as base64url, over the thread's id and
 * the strict identity of the principal, or else the whole principal. It is no secret and authorizes nothing. `undefined` for a principal
 * that is not JSON.
 */
export async function digestViewer(
  agent: object,
  threadId: string,
  principal: unknown,
): Promise<string | undefined> {
  const person = canonicalizePerson(agent, principal);
  return person && hashText(`holdpoint/viewer/v1\0${JSON.stringify(threadId)}${person}`);
}

/*
 * Two kinds, so that no text of `principalId` passes for the JSON of another principal. An app's own object around an agent can't identify
 * an object.
 */
function canonicalizePerson(agent: object, principal: unknown): string | undefined {
  const ownText = typeof principal === 'string' ? principal : undefined;
  const known = findDoor(agent)?.people;
  const person = known === undefined ? ownText : known.identify(principal);
  if (person !== undefined) return `person${JSON.stringify(person)}`;
  try {
    return `principal${toCanonicalText(principal)}`;
  } catch {
    return undefined;
  }
}
