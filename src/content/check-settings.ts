import type { ToolCall } from './tool-call.ts';

/**
 * Throws a `TypeError` for a setting that `where` does not have: ignoring it would silently drop what the app relies on, such as a check of
 * signatures. `advise` returns the end of the error; default: the nearest name.
 */
export function refuseUnknown(
  where: string,
  options: object,
  known: object,
  advise: (name: string, known: object) => string = adviseNearest,
): void {
  for (const [name, value] of Object.entries(options)) {
    if (value === undefined || Object.hasOwn(known, name)) continue;
    throw new TypeError(`${where} has no setting '${name}'${advise(name, known)}`);
  }
}

/** The end of the error's sentence: the nearest name, if one is near. */
export function adviseNearest(name: string, known: object): string {
  const nearest = findNearestName(name, Object.keys(known));
  return nearest === undefined ? '.' : `; did you mean '${nearest}'?`;
}

/* The prefix `experimental_` must not make two names similar. */
function findNearestName(name: string, names: readonly string[]): string | undefined {
  const word = name.replace('experimental_', '');
  const [nearest] = names
    .map((known) => ({ known, distance: editDistance(word, known) }))
    .toSorted((one, another) => one.distance - another.distance);
  const isNear = nearest !== undefined && nearest.distance <= Math.max(2, word.length / 4);
  return isNear ? nearest.known : undefined;
}

/** The number of letters to add, remove or change to turn one text into the other. */
function editDistance(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_each, index) => index);
  for (const [index, letter] of one.toLowerCase().split('').entries()) {
    const next = [index + 1];
    for (const [place, each] of other.toLowerCase().split('').entries()) {
      const changed = (row[place] ?? 0) + (letter === each ? 0 : 1);
      next.push(Math.min((row[place + 1] ?? 0) + 1, (next[place] ?? 0) + 1, changed));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}

/** Throws a `TypeError` unless a value has these methods. `what` names the setting and says what it must be. */
export function checkMethods(value: unknown, methods: readonly string[], what: string): void {
  const missing = methods.find((name) => typeof Reflect.get(Object(value), name) !== 'function');
  if (missing === undefined) return;
  const isThing = typeof value === 'object' && value !== null && !(value instanceof Promise);
  const given = isThing ? `an object without the method '${missing}'` : describeKind(value);
  throw new TypeError(`${what}; got ${given}.`);
}

/** Throws a `TypeError` for a setting of `where` that must be a function and is not. */
export function requireFunctions(where: string, options: object, names: readonly string[]): void {
  for (const name of names) {
    const value: unknown = Reflect.get(options, name);
    if (typeof value === 'function') continue;
    throw new TypeError(`${where} needs a function '${name}'; got ${describeKind(value)}.`);
  }
}

/** Throws a `TypeError` for a filter of a store by a name or an id that none can have, about which databases disagree. */
export function checkFilter(filter: {
  agent?: string | null;
  status?: string;
  threadId?: string;
}): void {
  const { agent, status, threadId } = filter;
  for (const [name, text] of Object.entries({ agent, status, threadId })) {
    if (typeof text !== 'string' || (text.isWellFormed() && !text.includes('\0'))) continue;
    throw new TypeError(
      `${name} has a NUL character or half a surrogate pair, which no ${name} of a thread has.`,
    );
  }
}

/** Names the kind of a wrong value, without the value, which may be a secret. */
export function describeKind(value: unknown): string {
  if (value instanceof Promise) return 'a promise';
  if (Array.isArray(value)) return 'an array';
  return value === null ? 'null' : typeof value;
}

/** Checks a number of milliseconds. Throws a `TypeError` for one that a timer can't wait for: above 2^31, it would fire at once. */
export function checkMs(milliseconds: number, what: string, shortest = 1): number {
  if (milliseconds >= shortest && milliseconds < 2 ** 31) return milliseconds;
  throw new TypeError(`${what} must be at least ${shortest} and below 2^31; got ${milliseconds}.`);
}

/**
 * Checks a limit: a whole number, or `Infinity`. Throws a `TypeError` otherwise; NaN would be no limit, as comparisons with it are false.
 */
export function checkLimit(limit: number, what: string): number {
  if (limit >= 0 && (Number.isInteger(limit) || limit === Infinity)) return limit;
  throw new TypeError(`${what} must be a whole number of 0 or more; got ${limit}.`);
}

/**
 * A fault of a setting of the app: it threw, returned something invalid, read a field that its tool doesn't have, or makes a request that
 * nobody could answer.
 */
export interface SettingFault {
  /**
   * The kind of mistake: the setting threw (`error`), returned something invalid, read a field that the tool or its parameters don't have,
   * or asks what nobody could answer; or the JSON Schema of a tool can't be read.
   */
  kind: 'error' | 'invalid' | 'unknown-field' | 'unanswerable' | 'unreadable-schema';
  /** The problem, as a sentence. It may name fields, and quotes no values. */
  problem: string;
  /** The value that the setting threw. */
  error?: unknown;
}

/** A mistake in a setting of the app. Because of it, the agent asked or refused where it might have run a call. It is not in the log. */
export interface SettingFailure extends SettingFault {
  /** The thread; absent for a schema, which is read once for all threads. */
  threadId?: string;
  /** The setting with the mistake, such as `toolApproval.pay`. */
  setting: string;
  /** The call that was being decided on; `undefined` without one. */
  toolCall?: ToolCall | undefined;
}
