/* Patterns come from servers and models. A regular expression of JavaScript may take hours for a short text, so they are matched in steps. */

const longestPattern = 500;
const longestText = 4_000;
const mostStates = 1_000;

type Node =
  | { type: 'character'; matches: RegExp }
  | { type: 'start' | 'end' }
  | { type: 'sequence' | 'choice'; parts: Node[] }
  | { type: 'repeat'; part: Node; min: number; max: number };

type State =
  | { type: 'character'; matches: RegExp; next: number }
  | { type: 'start' | 'end'; next: number }
  | { type: 'split'; nexts: number[] }
  | { type: 'found' };

/** Whether a text matches, in time proportional to its length. A text of more than 4,000 characters never does. */
export type PatternCheck = (text: string) => boolean;

/**
 * Compiles the pattern of a JSON Schema: characters, classes, groups, choices, repetitions and anchors. Throws for anything else, such as a
 * lookahead or a back reference, and for a pattern that is too large.
 */
export function compilePattern(source: string): PatternCheck {
  if (source.length > longestPattern) throw refuse(`has more than ${longestPattern} characters`);
  const states: State[] = [{ type: 'found' }];
  const add = (state: State): number => {
    if (states.length >= mostStates) throw refuse('is too large');
    return states.push(state) - 1;
  };
  const build = (node: Node, next: number): number => {
    switch (node.type) {
      case 'character':
      case 'start':
      case 'end':
        return add({ ...node, next });
      case 'sequence':
        return node.parts.reduceRight((after, part) => build(part, after), next);
      case 'choice':
        return add({ type: 'split', nexts: node.parts.map((part) => build(part, next)) });
      case 'repeat':
        return buildRepeat(node, next);
    }
  };
  const buildRepeat = ({ part, min, max }: Node & { type: 'repeat' }, next: number): number => {
    let first = next;
    if (max === Infinity) {
      const nexts = [next];
      first = add({ type: 'split', nexts });
      nexts.push(build(part, first));
    } else {
      for (let left = max - min; left > 0; left -= 1) {
        first = add({ type: 'split', nexts: [next, build(part, first)] });
      }
    }
    for (let left = min; left > 0; left -= 1) first = build(part, first);
    return first;
  };
  const first = build(parsePattern(source), 0);
  return (text) => text.length <= longestText && isFound(states, first, Array.from(text));
}

function isFound(states: readonly State[], first: number, text: readonly string[]): boolean {
  let active = new Set<number>();
  for (let at = 0; at <= text.length; at += 1) {
    /* A pattern may match anywhere. */
    const reached = reachStates(states, [...active, first], at, text.length);
    if (reached.has(0)) return true;
    active = new Set();
    const character = text[at];
    if (character === undefined) return false;
    for (const index of reached) {
      const state = states[index];
      if (state?.type === 'character' && state.matches.test(character)) active.add(state.next);
    }
  }
  return false;
}

/** The states that are reached without another character. */
function reachStates(
  states: readonly State[],
  from: readonly number[],
  at: number,
  end: number,
): Set<number> {
  const reached = new Set<number>();
  const waiting = [...from];
  for (let index = waiting.pop(); index !== undefined; index = waiting.pop()) {
    if (reached.has(index)) continue;
    reached.add(index);
    const state = states[index];
    if (state?.type === 'split') waiting.push(...state.nexts);
    if (state?.type === 'start' && at === 0) waiting.push(state.next);
    if (state?.type === 'end' && at === end) waiting.push(state.next);
  }
  return reached;
}

const characterToken =
  /\\[dDwWsStnrfv0]|\\u\{[\da-f]+\}|\\u[\da-f]{4}|\\x[\da-f]{2}|\\p\{[\w=]+\}|\\[^\w\s]|\[(?:\\[^]|[^\]\\])*\]|[^\\^$*+?()[\]{}|]/iuy;
const repeatToken = /([*+?]|\{(\d+)(,(\d*))?\})\??/uy;

function parsePattern(source: string): Node {
  let at = 0;
  const take = (token: RegExp): RegExpExecArray | undefined => {
    token.lastIndex = at;
    const found = token.exec(source) ?? undefined;
    if (found !== undefined) at = token.lastIndex;
    return found;
  };
  const parseChoice = (): Node => {
    const parts = [parseSequence()];
    while (source[at] === '|') {
      at += 1;
      parts.push(parseSequence());
    }
    return { type: 'choice', parts };
  };
  const parseSequence = (): Node => {
    const parts: Node[] = [];
    while (at < source.length && source[at] !== '|' && source[at] !== ')') {
      parts.push(parseRepeat(parseOne()));
    }
    return { type: 'sequence', parts };
  };
  const parseRepeat = (part: Node): Node => {
    const found = take(repeatToken);
    if (found === undefined) return part;
    if (part.type === 'start' || part.type === 'end') throw refuse('repeats an anchor');
    const [, sign = '', low = '0', range, high] = found;
    if (sign === '*') return { type: 'repeat', part, min: 0, max: Infinity };
    if (sign === '+') return { type: 'repeat', part, min: 1, max: Infinity };
    if (sign === '?') return { type: 'repeat', part, min: 0, max: 1 };
    const min = Number(low);
    const most = high === undefined || high === '' ? Infinity : Number(high);
    const max = range === undefined ? min : most;
    if (min > max) throw refuse('has a repetition whose limits are the wrong way round');
    if (min > mostStates || (max !== Infinity && max > mostStates)) throw refuse('is too large');
    return { type: 'repeat', part, min, max };
  };
  const parseOne = (): Node => {
    if (take(/\^/uy)) return { type: 'start' };
    if (take(/\$/uy)) return { type: 'end' };
    if (take(/\((?:\?:|(?!\?))/uy)) {
      const part = parseChoice();
      if (!take(/\)/uy)) throw refuse('has a group that is not closed');
      return part;
    }
    const [token] = take(characterToken) ?? [];
    if (token === undefined) throw refuse(`has something at ${at} that can't be checked`);
    return { type: 'character', matches: makeCharacterTest(token) };
  };
  const parsed = parseChoice();
  if (at < source.length) throw refuse(`has something at ${at} that can't be checked`);
  return parsed;
}

function makeCharacterTest(token: string): RegExp {
  try {
    return new RegExp(`^${token}$`, 'u');
  } catch {
    throw refuse('is not a regular expression');
  }
}

function refuse(reason: string): TypeError {
  return new TypeError(`pattern ${reason}`);
}
