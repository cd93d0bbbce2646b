import type { Grant } from '../content/grant.ts';
import { toCanonicalText } from '../policy/digest.ts';
import type { ReplayedCall } from './replay-thread.ts';

type Match = Grant['match'];

/** A call with the texts of its input that matches compare. */
interface RecordedInput {
  call: ReplayedCall;
  whole: string;
  /** The field of each pair of a top-level field and its value, by the pair's text. */
  pairs: ReadonlyMap<string, string>;
}

/** How many fields a combination may have at first, of how many fields of an input, and how many matches are tried of each kind. */
const limits = { combined: 3, fields: 8, matches: 1_000 };

/** The inputs of the calls of one tool. */
export class ToolInputs {
  readonly all: readonly RecordedInput[];
  readonly #byPair = new Map<string, RecordedInput[]>();

  constructor(calls: readonly ReplayedCall[]) {
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
  matching(match: Match): ReplayedCall[] {
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
  /** How many questions it would save if one approval could save all others. */
  most: number;
}

/** The matches to try for a tool, and whether there are more. */
interface CandidateMatches {
  matches: CandidateMatch[];
  capped: boolean;
}

/**
 * The matches to try for a tool. Each begins with calls that people approved: all, those with one input, or those that share the values of
 * up to three fields. It becomes the narrowest match of these calls: every field in which they are equal.
 */
export function listCandidateMatches(inputs: ToolInputs): CandidateMatches {
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

interface Combinations {
  combinations: string[][];
  capped: boolean;
}

/** The combinations of pairs that approved inputs have and share with others, the smallest first: they save the most. */
function findSharedCombinations(approved: readonly RecordedInput[]): Combinations {
  const counts = new Map<string, number>();
  for (const pair of approved.flatMap(({ pairs }) => [...pairs.keys()])) {
    counts.set(pair, (counts.get(pair) ?? 0) + 1);
  }
  const countOf = (pair: string): number => counts.get(pair) ?? 0;
  /* In one order: the same pairs are one combination, in whatever order inputs have their fields. */
  const byCount = (one: string, other: string): number =>
    countOf(other) - countOf(one) || (one < other ? -1 : 1);
  const shared = approved.map(({ pairs }) =>
    [...pairs.keys()].filter((pair) => countOf(pair) > 1).toSorted(byCount),
  );
  const found = new Map<string, string[]>();
  const end = (capped: boolean): Combinations => ({ combinations: [...found.values()], capped });
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
