import { type Grant, grantSchema } from '../../content/grant.ts';
import { identifyStrictly, type PrincipalId } from '../../policy/principal-id.ts';
import type { StoredGrant, ThreadStoreGrants } from '../../thread/thread-store.ts';

/** Where an agent's standing approvals are, and how it names people. */
interface Names {
  grants: ThreadStoreGrants;
  agent: string;
  principalId: PrincipalId;
}

/** The names under which the store has a person's standing approvals, by the name that they have today. */
type FormerNames = ReadonlyMap<string, ReadonlySet<string>>;

const pageSize = 100;
/* Read once for each store, `principalId` and agent: a process has the same `principalId` as long as it runs. */
const known = new WeakMap<ThreadStoreGrants, WeakMap<object, Map<string, Promise<FormerNames>>>>();
const byDefault = {};

/**
 * The other names under which the store may have a person's standing approvals: the app's `principalId` has changed since they were made.
 */
export async function findFormerNames(names: Names, person: string): Promise<readonly string[]> {
  const { grants, agent, principalId = byDefault } = names;
  const ofStore = known.get(grants) ?? new WeakMap<object, Map<string, Promise<FormerNames>>>();
  known.set(grants, ofStore);
  const ofAgents = ofStore.get(principalId) ?? new Map<string, Promise<FormerNames>>();
  ofStore.set(principalId, ofAgents);
  const reading = ofAgents.get(agent) ?? readFormerNames(names);
  ofAgents.set(agent, reading);
  try {
    return [...((await reading).get(person) ?? [])];
  } catch (error) {
    ofAgents.delete(agent);
    throw error;
  }
}

async function readFormerNames({ grants, agent, principalId }: Names): Promise<FormerNames> {
  const former = new Map<string, Set<string>>();
  let after: string | undefined;
  do {
    const page: StoredGrant[] = await grants.list({
      agent,
      limit: pageSize,
      ...(after === undefined ? {} : { after }),
    });
    for (const { text, person } of page) {
      const grant = parseStoredGrant(text);
      const today = grant && findGrantPerson(grant, principalId);
      if (person === null || today === undefined || today === person) continue;
      former.set(today, (former.get(today) ?? new Set()).add(person));
    }
    after = page.length < pageSize ? undefined : page.at(-1)?.grantId;
  } while (after !== undefined);
  return former;
}

/** The person of a standing approval of the scope `principal`, by today's `principalId`; of an older one, as it is recorded. */
export function findGrantPerson(
  { person, requestedBy }: Grant,
  principalId: PrincipalId,
): string | undefined {
  return requestedBy === undefined ? person : identifyStrictly(requestedBy, principalId);
}

/** The grant in a stored text; `undefined` for what can't be read. */
export function parseStoredGrant(text: string): Grant | undefined {
  try {
    return grantSchema.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}
