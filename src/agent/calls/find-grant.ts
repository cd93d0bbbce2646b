import { readPages } from '../../content/read-pages.ts';
import { isKeptByStore } from '../../content/approval-terms.ts';
import type { ApprovalRequest, ApprovalResponseContent } from '../../content/approval.ts';
import { type Grant, type StandingAnswer, grantSchema } from '../../content/grant.ts';
import { normalizeName } from '../../content/look-alikes.ts';
import type { ToolCallRecord } from '../../content/tool-call.ts';
import { HoldpointError } from '../../errors.ts';
import type { Asked } from '../../policy/user-approval.ts';
import { digestTerms } from '../../policy/digest.ts';
import { coversInput, whyTooWide } from '../../policy/match-grant.ts';
import {
  identifyLoosely,
  type PrincipalId,
  findSoleRequester,
  identifyStrictly,
} from '../../policy/same-person.ts';
import { findLatestTime } from '../../thread/proposal.ts';
import type { ThreadState } from '../../thread/thread-state.ts';
import type { StoredGrant, ThreadStoreGrants } from '../../thread/thread-store.ts';

/** A standing approval for a call, and how many more calls it decides: any number if `usesLeft` is absent. */
export interface GrantUse {
  grant: Grant;
  usesLeft?: number | undefined;
}

/** Finds the standing approval for a call that a rule wants a person to approve; or why one that was found does not decide any more. */
export type FindGrant = (asked: Asked, about: GrantAbout) => FoundGrant | undefined;

type FoundGrant = Promise<GrantUse | { why: string } | undefined>;

/** The call for which a standing approval is needed. */
interface GrantAbout {
  /** The tool's definition. */
  definition: { name: string; digest: string };
  call: Pick<ToolCallRecord, 'input' | 'inputTypes'>;
  /** Makes the request as a person would be asked now. */
  request: () => Promise<ApprovalRequest>;
}

/** The answers behind a standing approval, and a request to which they would have to be given now. */
interface StandingAnswers {
  request: ApprovalRequest;
  answers: readonly StandingAnswer[];
  response: Omit<ApprovalResponseContent, 'reason'>;
}

/** Checks whether everybody who gave these answers may still give them. */
export type MayStand = (standing: StandingAnswers) => Promise<boolean>;

/** The agent's part of finding a grant. */
export interface GrantSources {
  name: string | undefined;
  now: () => number;
  /** The store's grants that are wider than a thread. */
  grants: ThreadStoreGrants | undefined;
  principalId: PrincipalId;
  /** Asked about the answers behind a standing approval that is to decide; absent if anybody may answer, here and in the threads above. */
  mayStand?: MayStand | undefined;
}

/** Throws an error again, unless it says that a standing approval ended before its use was recorded. */
export function ignoreGrantEnded(error: unknown): void {
  if (!HoldpointError.isInstance(error) || error.code !== 'grant-ended') throw error;
}

/** The call for which a grant is needed, and what its rule demands. */
interface GrantCall extends GrantAbout {
  asked: Asked;
}

/**
 * The standing approval for a call: it covers the input, was made for the same definition of the tool and the same terms of the rule, and
 * is not wider than the rule allows now. A rejection comes before an approval, otherwise the oldest comes first. It decides only while
 * everybody whose answer made it may still give that answer, as the votes of a request do.
 */
export function findGrant(
  sources: GrantSources,
  state: Readonly<ThreadState>,
  call: GrantCall,
): ReturnType<FindGrant> {
  const { remember } = call.asked.terms ?? {};
  /* For most calls this costs nothing. */
  if (remember === undefined) return undefined;
  if (state.head.grants.length === 0 && !isKeptByStore(remember.scope)) return undefined;
  return findUsableGrant(sources, state, call);
}

async function findUsableGrant(
  sources: GrantSources,
  state: Readonly<ThreadState>,
  { asked, definition, call, request }: GrantCall,
): FoundGrant {
  const { terms = {} } = asked;
  /* Times in the log never go back: a grant that has ended there has ended, even if this process's clock is behind. */
  const at = Math.max(sources.now(), findLatestTime(state));
  const digest = await digestTerms(terms);
  const { requesters } = state.head;
  const person = findSoleRequester({ requesters }, sources.principalId);
  const stored = await listStoredGrants(sources, { asked, definition, person });
  const found = [...state.head.grants, ...stored];
  const usable = found.filter(
    ({ grant }) =>
      grant.toolName === definition.name &&
      grant.definition === definition.digest &&
      grant.terms === digest &&
      (grant.expiresAt ?? Infinity) > at &&
      whyTooWide(measureGrantWidth(grant), terms.remember) === undefined &&
      coversInput(grant, call) &&
      (terms.notRequester !== true || isForOthers(sources, grant, requesters)),
  );
  const rejections = usable.filter(({ grant }) => grant.decision === 'rejected');
  let why: { why: string } | undefined;
  for (const use of rejections.length > 0 ? rejections : usable) {
    if (await mayStillStand(sources, use.grant, { quorum: terms.quorum, request })) return use;
    const { decision } = use.grant;
    const made = decision === 'approved' ? 'approval' : 'rejection';
    why = { why: `A standing ${made} covers this call, and whoever gave it may no longer answer.` };
  }
  return why;
}

/* If the answer is unknown, or asking throws, the grant decides nothing: a person is asked. */
async function mayStillStand(
  { mayStand }: GrantSources,
  grant: Grant,
  { quorum = 1, request }: { quorum: number | undefined } & Pick<GrantCall, 'request'>,
): Promise<boolean> {
  if (mayStand === undefined) return true;
  const { decision, principal, channel, reason, scope, match, createdAt, expiresAt, uses } = grant;
  const own = {
    ...(channel === undefined ? {} : { channel }),
    ...(reason === undefined ? {} : { reason }),
  };
  const isKnown = principal !== undefined && (quorum === 1 || decision === 'rejected');
  const answers = grant.answers ?? (isKnown ? [{ principal, ...own }] : []);
  if (answers.length === 0) return false;
  const remember = {
    scope,
    match: match.type === 'fields' ? Object.keys(match.fields) : match.type,
    ...(expiresAt === undefined ? {} : { expiresAfterMs: expiresAt - createdAt }),
    ...(uses === undefined ? {} : { uses }),
  };
  try {
    const asked = await request();
    const { requestId } = asked;
    const approved = decision === 'approved';
    const response = { type: 'approval-response', requestId, approved, remember } as const;
    return await mayStand({ request: asked, answers, response });
  } catch {
    return false;
  }
}

/** Checks whether a grant under a rule with `notRequester` was made by people other than the requesters. */
function isForOthers(
  { principalId }: GrantSources,
  { decision, answeredBy, answerers = [] }: Grant,
  requesters: readonly unknown[],
): boolean {
  if (decision === 'rejected') return true;
  if (answeredBy === undefined) return false;
  const people = new Set([
    ...answeredBy.map(normalizeName),
    ...answerers.map((each) => identifyLoosely(each, principalId)),
  ]);
  return requesters.every((each) => {
    const requester = identifyLoosely(each, principalId);
    return requester !== undefined && !people.has(requester);
  });
}

/** Measures the width of a grant. Its time and uses were within the limits when it was made, under the same terms. */
function measureGrantWidth({ scope, match }: Grant): Parameters<typeof whyTooWide>[0] {
  const kind = match.type === 'fields' ? Object.keys(match.fields) : match.type;
  return { scope, match: kind, expiresAfterMs: 0, uses: 0 };
}

/** The grants of the store for the agent and the tool, for everyone or for the person who asked. */
async function listStoredGrants(
  { name, now, grants, principalId }: GrantSources,
  {
    asked: { terms },
    definition,
    person,
  }: Pick<GrantCall, 'asked' | 'definition'> & { person: string | undefined },
): Promise<GrantUse[]> {
  const { remember } = terms ?? {};
  if (grants === undefined || name === undefined) return [];
  if (remember !== undefined && !isKeptByStore(remember.scope)) return [];
  const former =
    person === undefined ? [] : await findFormerNames({ grants, agent: name, principalId }, person);
  const query = { agent: name, toolName: definition.name, at: now() };
  const found = await Promise.all(
    [person ?? null, ...former].map(async (each) => grants.find({ ...query, person: each })),
  );
  const stored = new Map(found.flat().map((each) => [each.grantId, each]));
  return [...stored.values()].flatMap((each) => parseUsableGrant(each, { person, principalId }));
}

/* A grant that can't be read, or is for another person, decides nothing: a person is asked. */
function parseUsableGrant(
  { text, usesLeft }: StoredGrant,
  { person, principalId }: { person: string | undefined; principalId: PrincipalId },
): GrantUse[] {
  const grant = parseStoredGrant(text);
  if (grant === undefined) return [];
  switch (grant.scope) {
    case 'everyone':
      return [{ grant, usesLeft }];
    case 'principal': {
      const isTheirs =
        person !== undefined && identifyStrictly(grant.requestedBy, principalId) === person;
      return isTheirs ? [{ grant, usesLeft }] : [];
    }
    case 'thread':
      return [];
  }
}

/** The store of an agent's standing approvals, its name there, and its names of people. */
interface Names {
  grants: ThreadStoreGrants;
  agent: string;
  principalId: PrincipalId;
}

/** The names under which the store has a person's standing approvals, by the name that they have today. */
type FormerNames = ReadonlyMap<string, ReadonlySet<string>>;

const pageSize = 100;
/* Read once for each store, `principalId` and agent: a process has the same `principalId` as long as it runs. */
const formerNamesByStore = new WeakMap<
  ThreadStoreGrants,
  WeakMap<object, Map<string, Promise<FormerNames>>>
>();
const byDefault = {};

/**
 * The other names under which the store may have a person's standing approvals: the app's `principalId` has changed since they were made.
 */
async function findFormerNames(names: Names, person: string): Promise<readonly string[]> {
  const { grants, agent, principalId = byDefault } = names;
  const ofStore =
    formerNamesByStore.get(grants) ?? new WeakMap<object, Map<string, Promise<FormerNames>>>();
  formerNamesByStore.set(grants, ofStore);
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
  const readPage = async (after?: StoredGrant) =>
    grants.list({ agent, limit: pageSize, after: after?.grantId });
  for await (const page of readPages(readPage, pageSize)) {
    for (const { text, person } of page) {
      const grant = parseStoredGrant(text);
      const today = grant && identifyStrictly(grant.requestedBy, principalId);
      if (person === null || today === undefined || today === person) continue;
      former.set(today, (former.get(today) ?? new Set()).add(person));
    }
  }
  return former;
}

/** Parses the grant in a stored text; `undefined` if it can't be read. */
function parseStoredGrant(text: string): Grant | undefined {
  try {
    return grantSchema.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}
