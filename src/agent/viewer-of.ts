import { sha256 } from '../content/sha256.ts';
import { canonicalText } from '../policy/digest.ts';

/* A registered symbol, so that it works across two copies of the package. */
const strictIdentity: unique symbol = Symbol.for('holdpoint.strict-identity');

/** An agent that can say who a principal is, strictly. */
interface IdentifyingAgent {
  [strictIdentity](principal: unknown): string | undefined;
}

/** Lets an agent say who a principal is. */
export function withStrictIdentity<AGENT extends object>(
  agent: AGENT,
  identify: IdentifyingAgent[typeof strictIdentity],
): AGENT & IdentifyingAgent {
  return Object.assign(agent, { [strictIdentity]: identify });
}

/**
 * For whom a page shows a thread, without saying who that is: SHA-256, as base64url, over the thread's id and who the principal is, strictly, or
 * else the whole principal. It is no secret and authorizes nothing. `undefined` for a principal that is not JSON.
 */
export async function viewerOf(
  agent: object,
  threadId: string,
  principal: unknown,
): Promise<string | undefined> {
  const person = personText(agent, principal);
  return person && sha256(`holdpoint/viewer/v1\0${JSON.stringify(threadId)}${person}`);
}

/* Two kinds, so that no text of `principalId` passes for the JSON of another principal. An app's own object around an agent can't say who an object is. */
function personText(agent: object, principal: unknown): string | undefined {
  const ownText = typeof principal === 'string' ? principal : undefined;
  const person = isIdentifying(agent) ? agent[strictIdentity](principal) : ownText;
  if (person !== undefined) return `person${JSON.stringify(person)}`;
  try {
    return `principal${canonicalText(principal)}`;
  } catch {
    return undefined;
  }
}

function isIdentifying(agent: object): agent is IdentifyingAgent {
  return strictIdentity in agent;
}
