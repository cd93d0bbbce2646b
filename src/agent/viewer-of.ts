import { hashText } from '../content/crypto.ts';
import { toCanonicalText } from '../policy/digest.ts';
import { readKnownPeople } from './sign-in.ts';

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
