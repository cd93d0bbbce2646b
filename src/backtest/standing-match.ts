import type { Grant } from '../content/grant.ts';
import { canonicalText } from '../policy/digest.ts';
import type { ReplayedCall } from './replay-thread.ts';

type Match = Grant['match'];

/** The canonical texts of an input and of its top-level fields. */
interface InputTexts {
  whole: string;
  fields: ReadonlyMap<string, string>;
}

/* A field and its value, as in the texts of an input. */
type Pair = readonly [field: string, text: string];

/** How many fields a combination may have at first, of how many fields of an input, and how many combinations are tried per tool. */
const limits = { combined: 3, fields: 8, combinations: 1_000 };

/** The calls of one tool, with the texts that matches compare. */
export class ToolCalls {
  readonly #calls: ReadonlyMap<ReplayedCall, InputTexts>;

  constructor(calls: readonly ReplayedCall[]) {
    this.#calls = new Map(calls.map((call) => [call, textsOf(call.input)]));
  }

  /** The texts of the inputs that people approved as they were. */
  get approved(): { input: unknown; texts: InputTexts }[] {
    return [...this.#calls]
      .filter(([{ logged }]) => logged.type === 'approved')
      .map(([{ input }, texts]) => ({ input, texts }));
  }

  matching(match: Match): ReplayedCall[] {
    const matches = matcherOf(match);
    return [...this.#calls].filter(([, texts]) => matches(texts)).map(([call]) => call);
  }
}

function textsOf(input: unknown): InputTexts {
  const fields = fieldsOf(input);
  return {
    whole: canonicalText(input),
    fields: new Map(fields.map(([field, value]) => [field, canonicalText(value)])),
  };
}

/** The top-level fields of an input; none of an input that is not an object. */
function fieldsOf(input: unknown): [string, unknown][] {
  const isObject = typeof input === 'object' && input !== null && !Array.isArray(input);
  return isObject ? Object.entries(input) : [];
}

function matcherOf(match: Match): (texts: InputTexts) => boolean {
  switch (match.type) {
    case 'any':
      return () => true;
    case 'exact': {
      const whole = canonicalText(match.input);
      return (texts) => texts.whole === whole;
    }
    case 'fields': {
      const { fields } = textsOf(match.fields);
      return (texts) => hasAll(texts, [...fields]);
    }
  }
}

function hasAll({ fields }: InputTexts, pairs: readonly Pair[]): boolean {
  return pairs.every(([field, text]) => fields.get(field) === text);
}

type Approved = ToolCalls['approved'];

/** A match to try. */
interface CandidateMatch {
  match: Match;
  /** How many questions it would save if one approval could save all others. */
  most: number;
}

/**
 * The matches to try for a tool. Each begins with calls that people approved: all, those with one input, or those that share the values of
 * up to three fields. It becomes the narrowest match of these calls: every field in which they are equal.
 */
export function candidateMatches(tool: ToolCalls): {
  matches: CandidateMatch[];
  capped: boolean;
} {
  const { approved } = tool;
  const { combinations, capped } = sharedCombinations(approved);
  const equal = [...Map.groupBy(approved, ({ texts }) => texts.whole).values()];
  const most = equal.toSorted((one, other) => other.length - one.length);
  const matches = [
    ...matchOf(approved),
    ...most.slice(0, limits.combinations).flatMap(matchOf),
    ...combinations.flatMap((pairs) =>
      matchOf(approved.filter(({ texts }) => hasAll(texts, pairs))),
    ),
  ];
  const distinct = new Map(matches.map((each) => [canonicalText(each.match), each]));
  return { matches: [...distinct.values()], capped };
}

/** The combinations of fields and values that at least two approved inputs have, the smallest first: they save the most. */
function sharedCombinations(approved: Approved): { combinations: Pair[][]; capped: boolean } {
  const counts = pairCounts(approved);
  const countOf = (pair: Pair): number => counts.get(JSON.stringify(pair)) ?? 0;
  /* In one order: the same pairs are one combination, in whatever order inputs have their fields. */
  const byCount = (one: Pair, other: Pair): number =>
    countOf(other) - countOf(one) || (one[0] < other[0] ? -1 : 1);
  const shared = approved.map(({ texts }) =>
    [...texts.fields].filter((pair) => countOf(pair) > 1).toSorted(byCount),
  );
  const found = new Map<string, Pair[]>();
  let capped = shared.some((pairs) => pairs.length > limits.combined);
  for (let size = 1; size <= limits.combined; size += 1) {
    for (const pairs of shared.flatMap((each) => subsets(each.slice(0, limits.fields), size))) {
      if (found.size < limits.combinations) found.set(JSON.stringify(pairs), pairs);
      else capped = true;
    }
  }
  return { combinations: [...found.values()], capped };
}

function pairCounts(approved: Approved): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const pair of approved.flatMap(({ texts }) => [...texts.fields])) {
    const key = JSON.stringify(pair);
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  return counts;
}

/** The subsets of so many pairs. */
function subsets(pairs: readonly Pair[], size: number): Pair[][] {
  if (size === 0) return [[]];
  return pairs.flatMap((pair, index) =>
    subsets(pairs.slice(index + 1), size - 1).map((rest) => [pair, ...rest]),
  );
}

/* One call needs no standing approval. */
function matchOf(set: Approved): CandidateMatch[] {
  return set.length > 1 ? [{ match: narrowestMatch(set), most: set.length - 1 }] : [];
}

/** The narrowest match of approved inputs: all of their equal fields. */
function narrowestMatch(set: Approved): Match {
  const [first, ...others] = set;
  if (first === undefined) return { type: 'any' };
  if (others.every(({ texts }) => texts.whole === first.texts.whole)) {
    return { type: 'exact', input: first.input };
  }
  const isCommon = ([field, text]: Pair): boolean =>
    others.every(({ texts }) => texts.fields.get(field) === text);
  const common = new Set([...first.texts.fields].filter(isCommon).map(([field]) => field));
  if (common.size === 0) return { type: 'any' };
  const fields = fieldsOf(first.input).filter(([field]) => common.has(field));
  return { type: 'fields', fields: Object.fromEntries(fields) };
}
