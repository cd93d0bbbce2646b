import { grantScopes } from '../content/approval-terms.ts';
import type { Grant } from '../content/grant.ts';
import { type PrincipalId, findSoleRequester } from '../policy/same-person.ts';
import type { LoggedDecision } from './recorded-threads.ts';
import { toCanonicalText } from '../policy/digest.ts';

/** A call that people were asked about, or could have been. */
export interface AskedCall {
  threadId: string;
  /** The name of the agent that the thread belonged to. */
  agent: string | undefined;
  toolName: string;
  input: unknown;
  /** Everybody whose message led to the call. */
  requesters: readonly unknown[];
  /** The terms for the people who are asked, as text; `undefined` unless a standing approval could answer. */
  terms?: string | undefined;
  /** The recorded decision. */
  logged: Pick<LoggedDecision, 'type' | 'proposed' | 'answered'>;
}

/** A standing approval that would have saved questions, and the threads that show it. */
export interface StandingApproval {
  /** The tool whose calls it would have let run. */
  toolName: string;
  /** The inputs that it matches: one, those with these top-level fields, or any. */
  match: Grant['match'];
  /** `thread`: given once in each thread; `principal`: once for each requester; `everyone`: once. */
  scope: Grant['scope'];
  /** The number of questions that it would have saved. */
  saved: number;
  /** The number of calls that it would also have run, which people were asked about and never answered. */
  unanswered: number;
  /** The threads in which it would have saved questions, the most first. */
  threads: { threadId: string; saved: number }[];
  /** True if there were too many combinations of fields to try all. */
  capped: boolean;
}

/**
 * The standing approval that would have saved the most questions of the candidate, and among equals the narrowest. It is given with the
 * first approval of a call that it matches, and saves the later ones. One that matches, where it was given, a call that people rejected or
 * edited is not considered.
 */
export function findBestStandingApproval(
  calls: readonly AskedCall[],
  principalId: PrincipalId,
): StandingApproval | undefined {
  const asked = calls.filter(({ terms }) => terms !== undefined).filter(wasAsked);
  /* A standing approval is void for another agent, and if the rule has other terms. */
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

function wasAsked({ logged: { type } }: AskedCall): boolean {
  return ['approved', 'edited', 'rejected', 'unanswered'].includes(type);
}

/** Calls with one key share a standing approval; without a key, a call can't have one. */
function groupKey(
  scope: Grant['scope'],
  { threadId, requesters }: AskedCall,
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

/** Tries a standing approval for each group, and counts what it would have saved; `undefined` if it contradicts an answer. */
function tryScope(
  matching: readonly AskedCall[],
  keyOf: (call: AskedCall) => string | undefined,
): Pick<StandingApproval, 'saved' | 'unanswered' | 'threads'> | undefined {
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

function findFirstApproval(group: readonly AskedCall[]): AskedCall | undefined {
  const approved = group.filter(({ logged }) => logged.type === 'approved');
  return approved.toSorted(
    (one, other) => readAnsweredAt(one.logged) - readAnsweredAt(other.logged),
  )[0];
}

function readAnsweredAt({ answered }: LoggedDecision): number {
  return answered?.at ?? Infinity;
}

/** Checks whether a call was proposed after another was approved: in a thread by the order of its events, otherwise by the clock. */
function isAfter({ threadId, logged }: AskedCall, source: AskedCall): boolean {
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

type Match = Grant['match'];

/** A call with the texts of its input that matches compare. */
interface RecordedInput {
  call: AskedCall;
  whole: string;
  /** The field of each pair of a top-level field and its value, by the pair's text. */
  pairs: ReadonlyMap<string, string>;
}

/** The numbers of fields in a first combination, of fields of an input to combine, and of matches that are tried of each kind. */
const limits = { combined: 3, fields: 8, matches: 1_000 };

/** The inputs of the calls of one tool. */
class ToolInputs {
  readonly all: readonly RecordedInput[];
  readonly #byPair = new Map<string, RecordedInput[]>();

  constructor(calls: readonly AskedCall[]) {
    this.all = calls.map((call) => {
      const { input } = call;
      return { call, whole: toCanonicalText(input), pairs: mapPairs(input) };
    });
    for (const input of this.all) {
      for (const pair of input.pairs.keys()) {
        const others = this.#byPair.get(pair);
        if (others === undefined) this.#byPair.set(pair, [input]);
        else others.push(input);
      }
    }
  }

  /** The inputs that have all of these pairs. */
  having(pairs: readonly string[]): readonly RecordedInput[] {
    const lists = pairs.map((pair) => this.#byPair.get(pair) ?? []);
    const [rarest = this.all] = lists.toSorted((one, other) => one.length - other.length);
    return rarest.filter((input) => pairs.every((pair) => input.pairs.has(pair)));
  }

  /** The calls that a match covers. */
  matching(match: Match): AskedCall[] {
    return this.#matching(match).map(({ call }) => call);
  }

  #matching(match: Match): readonly RecordedInput[] {
    switch (match.type) {
      case 'any':
        return this.all;
      case 'exact': {
        const text = toCanonicalText(match.input);
        return this.all.filter(({ whole }) => whole === text);
      }
      case 'fields':
        return this.having([...mapPairs(match.fields).keys()]);
    }
  }
}

function mapPairs(input: unknown): ReadonlyMap<string, string> {
  return new Map(
    listInputFields(input).map(([field, value]) => [toCanonicalText([field, value]), field]),
  );
}

/** The top-level fields of an input; none of an input that is not an object. */
function listInputFields(input: unknown): [string, unknown][] {
  const isObject = typeof input === 'object' && input !== null && !Array.isArray(input);
  return isObject ? Object.entries(input) : [];
}

/** A match to try. */
interface CandidateMatch {
  match: Match;
  /** The number of questions that it would save if one approval could save all others. */
  most: number;
}

/**
 * The matches to try for a tool, and whether there are more. Each begins with calls that people approved: all, those with one input, or those that share the values of
 * up to three fields. It becomes the narrowest match of these calls: every field in which they are equal.
 */
function listCandidateMatches(inputs: ToolInputs): {
  matches: CandidateMatch[];
  capped: boolean;
} {
  const approved = inputs.all.filter(isApproved);
  const { combinations, capped } = findSharedCombinations(approved);
  const equal = [...Map.groupBy(approved, ({ whole }) => whole).values()]
    .filter((set) => set.length > 1)
    .toSorted((one, other) => other.length - one.length);
  const matches = [
    ...makeCandidateMatch(approved),
    ...equal.slice(0, limits.matches).flatMap(makeCandidateMatch),
    ...combinations.flatMap((pairs) => makeCandidateMatch(inputs.having(pairs).filter(isApproved))),
  ];
  const distinct = new Map(matches.map((each) => [toCanonicalText(each.match), each]));
  return { matches: [...distinct.values()], capped: capped || equal.length > limits.matches };
}

function isApproved({ call }: RecordedInput): boolean {
  return call.logged.type === 'approved';
}

/** The combinations of pairs that approved inputs have and share with others, the smallest first: they save the most. */
function findSharedCombinations(approved: readonly RecordedInput[]): {
  combinations: string[][];
  capped: boolean;
} {
  const counts = new Map<string, number>();
  for (const pair of approved.flatMap(({ pairs }) => [...pairs.keys()])) {
    counts.set(pair, (counts.get(pair) ?? 0) + 1);
  }
  const countOf = (pair: string): number => counts.get(pair) ?? 0;
  /* In one order: the same pairs are one combination, in any order of an input's fields. */
  const byCount = (one: string, other: string): number =>
    countOf(other) - countOf(one) || (one < other ? -1 : 1);
  const shared = approved.map(({ pairs }) =>
    [...pairs.keys()].filter((pair) => countOf(pair) > 1).toSorted(byCount),
  );
  const found = new Map<string, string[]>();
  const end = (capped: boolean) => ({ combinations: [...found.values()], capped });
  for (let size = 1; size <= limits.combined; size += 1) {
    for (const each of shared) {
      if (found.size >= limits.matches) return end(true);
      for (const pairs of listSubsets(each.slice(0, limits.fields), size)) {
        found.set(JSON.stringify(pairs), pairs);
      }
    }
  }
  return end(shared.some((pairs) => pairs.length > limits.combined));
}

/** The subsets of so many pairs. */
function listSubsets(pairs: readonly string[], size: number): string[][] {
  if (size === 0) return [[]];
  return pairs.flatMap((pair, index) =>
    listSubsets(pairs.slice(index + 1), size - 1).map((rest) => [pair, ...rest]),
  );
}

/* One call needs no standing approval. */
function makeCandidateMatch(set: readonly RecordedInput[]): CandidateMatch[] {
  return set.length > 1 ? [{ match: findNarrowestMatch(set), most: set.length - 1 }] : [];
}

/** The narrowest match of approved inputs: all of their equal fields. */
function findNarrowestMatch([first, ...others]: readonly RecordedInput[]): Match {
  if (first === undefined) return { type: 'any' };
  const { call, whole, pairs } = first;
  if (others.every((other) => other.whole === whole)) return { type: 'exact', input: call.input };
  const common = [...pairs].filter(([pair]) => others.every((other) => other.pairs.has(pair)));
  const names = new Set(common.map(([, field]) => field));
  if (names.size === 0) return { type: 'any' };
  const fields = listInputFields(call.input).filter(([field]) => names.has(field));
  return { type: 'fields', fields: Object.fromEntries(fields) };
}
