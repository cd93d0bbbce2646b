import { grantScopes } from '../content/approval-terms.ts';
import type { Grant } from '../content/grant.ts';
import { type PrincipalId, findSoleRequester } from '../policy/same-person.ts';
import { listCandidateMatches, ToolInputs } from './standing-match.ts';
import type { LoggedDecision } from './logged-decision.ts';
import type { ReplayedCall } from './replay-thread.ts';

/** A standing approval that would have saved questions, and the threads that show it. */
export interface StandingApproval {
  toolName: string;
  /** Which inputs it matches: one, those with these top-level fields, or any. */
  match: Grant['match'];
  /** `thread`: given once in each thread; `principal`: once for each requester; `everyone`: once. */
  scope: Grant['scope'];
  /** How many questions it would have saved. */
  saved: number;
  /** How many calls it would also have run that people were asked about and never answered. */
  unanswered: number;
  /** The threads in which it would have saved questions, the most first. */
  threads: { threadId: string; saved: number }[];
  /** Whether there were too many combinations of fields to try all. */
  capped: boolean;
}

/**
 * The standing approval that would have saved the most questions of the candidate, and among equals the narrowest. It is given with the
 * first approval of a call that it matches, and saves the later ones. One that matches, where it was given, a call that people rejected or
 * edited is not considered.
 */
export function findBestStandingApproval(
  calls: readonly ReplayedCall[],
  principalId: PrincipalId,
): StandingApproval | undefined {
  const asked = calls.filter(({ terms }) => terms !== undefined).filter(wasAsked);
  /* A standing approval is void for another agent, and where the rule demands something else. */
  const groups = Map.groupBy(asked, ({ agent = null, toolName, terms }) =>
    JSON.stringify([agent, toolName, terms]),
  );
  let best: StandingApproval | undefined;
  for (const [first, ...others] of groups.values()) {
    if (first === undefined) continue;
    const { toolName } = first;
    const inputs = new ToolInputs([first, ...others]);
    const { matches, capped } = listCandidateMatches(inputs);
    for (const { match, most } of matches) {
      if (best !== undefined && most < best.saved) continue;
      const matching = inputs.matching(match);
      for (const scope of grantScopes) {
        const tried = tryScope(matching, (call) => groupKey(scope, call, principalId));
        if (tried === undefined || tried.saved === 0) continue;
        const found = { toolName, match, scope, ...tried, capped };
        if (best === undefined || isBetter(found, best)) best = found;
      }
    }
  }
  return best;
}

function wasAsked({ logged: { type } }: ReplayedCall): boolean {
  return ['approved', 'edited', 'rejected', 'unanswered'].includes(type);
}

/** Calls with one key share a standing approval; without a key, a call can't have one. */
function groupKey(
  scope: Grant['scope'],
  { threadId, requesters }: ReplayedCall,
  principalId: PrincipalId,
): string | undefined {
  switch (scope) {
    case 'thread':
      return threadId;
    case 'principal':
      return findSoleRequester({ requesters }, principalId);
    case 'everyone':
      return '';
  }
}

type Savings = Pick<StandingApproval, 'saved' | 'unanswered' | 'threads'>;

/** What a standing approval for each group would have saved; `undefined` if it contradicts an answer. */
function tryScope(
  matching: readonly ReplayedCall[],
  keyOf: (call: ReplayedCall) => string | undefined,
): Savings | undefined {
  const threads = new Map<string, number>();
  let unanswered = 0;
  for (const [key, group] of Map.groupBy(matching, keyOf)) {
    const source = findFirstApproval(group);
    if (key === undefined || source === undefined) continue;
    if (group.some(({ logged: { type } }) => type === 'rejected' || type === 'edited')) {
      return undefined;
    }
    for (const call of group.filter((each) => isAfter(each, source))) {
      if (call.logged.type === 'unanswered') unanswered += 1;
      else threads.set(call.threadId, (threads.get(call.threadId) ?? 0) + 1);
    }
  }
  const evidence = [...threads]
    .map(([threadId, saved]) => ({ threadId, saved }))
    .toSorted((one, other) => other.saved - one.saved);
  return {
    saved: evidence.reduce((sum, { saved }) => sum + saved, 0),
    unanswered,
    threads: evidence,
  };
}

function findFirstApproval(group: readonly ReplayedCall[]): ReplayedCall | undefined {
  const approved = group.filter(({ logged }) => logged.type === 'approved');
  return approved.toSorted(
    (one, other) => readAnsweredAt(one.logged) - readAnsweredAt(other.logged),
  )[0];
}

function readAnsweredAt({ answered }: LoggedDecision): number {
  return answered?.at ?? Infinity;
}

/** Whether a call was proposed after another was approved: in a thread by the order of its events, otherwise by the clock. */
function isAfter({ threadId, logged }: ReplayedCall, source: ReplayedCall): boolean {
  const { answered } = source.logged;
  if (answered === undefined) return false;
  return threadId === source.threadId
    ? logged.proposed.revision > answered.revision
    : logged.proposed.at > answered.at;
}

/** More questions saved; then the narrower scope; then the narrower match. */
function isBetter(one: StandingApproval, other: StandingApproval): boolean {
  if (one.saved !== other.saved) return one.saved > other.saved;
  const width = grantScopes.indexOf(one.scope) - grantScopes.indexOf(other.scope);
  return width === 0 ? measureNarrowness(one.match) > measureNarrowness(other.match) : width < 0;
}

function measureNarrowness(match: Grant['match']): number {
  switch (match.type) {
    case 'exact':
      return Infinity;
    case 'fields':
      return Object.keys(match.fields).length;
    case 'any':
      return 0;
  }
}
