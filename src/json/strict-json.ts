/** The maximum depth and length of values that people are shown. */
const maximumDepth = 64;
const maximumLength = 256 * 1024;

/**
 * Finds the reason why a value is not strict JSON, which every reader understands alike; `undefined` if it is. Strict JSON has plain
 * objects and arrays, finite numbers, integers within ±(2^53 - 1), well-formed strings, no `__proto__` key, a depth of at most 64 and a
 * length of at most 256 Ki characters. Different values have different canonical texts (RFC 8785).
 */
export function whyNotStrictJson(value: unknown): string | undefined {
  const fault = findJsonFault(value, { depth: 0, limit: maximumDepth });
  if (fault !== undefined) return fault;
  const length = JSON.stringify(value).length;
  return length > maximumLength
    ? `it is ${length} characters long, and at most ${maximumLength} are allowed`
    : undefined;
}

/** Finds the reason why readers of a value's JSON may understand it differently, however deep and long it is; `undefined` if it is. */
export function whyNotExactJson(value: unknown): string | undefined {
  return findJsonFault(value, { depth: 0, limit: deepest });
}

/** The maximum depth that the log can hold: a value that is nested deeper has a cycle, or can't be recorded. */
export const deepest = 480;

interface Depth {
  depth: number;
  limit: number;
}

function findJsonFault(value: unknown, at: Depth): string | undefined {
  switch (typeof value) {
    case 'boolean':
      return undefined;
    case 'string':
      return value.isWellFormed() ? undefined : 'a string has half of a surrogate pair';
    case 'number':
      return findNumberFault(value);
    case 'object':
      if (value === null) return undefined;
      if (at.depth === at.limit) return `it is nested more than ${at.limit} deep`;
      return Array.isArray(value) ? findArrayFault(value, at) : findObjectFault(value, at);
    default:
      return `JSON can't express a ${typeof value}`;
  }
}

function findNumberFault(value: number): string | undefined {
  if (!Number.isFinite(value)) return `JSON can't express ${value}`;
  if (Number.isInteger(value) && !Number.isSafeInteger(value)) {
    return `the integer ${value} is outside ±(2^53 - 1), so readers may round it`;
  }
  return undefined;
}

function findArrayFault(value: unknown[], { depth, limit }: Depth): string | undefined {
  const inside = { depth: depth + 1, limit };
  /* An index loop, because iterating methods skip the holes of a sparse array. */
  for (let index = 0; index < value.length; index += 1) {
    const fault = findJsonFault(value[index], inside);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

function findObjectFault(value: object, { depth, limit }: Depth): string | undefined {
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null)
    return 'it has an object that is not plain';
  const inside = { depth: depth + 1, limit };
  for (const [key, item] of Object.entries(value)) {
    if (key === '__proto__') return 'it has a `__proto__` key';
    const fault = key.isWellFormed()
      ? findJsonFault(item, inside)
      : 'a key has half of a surrogate pair';
    if (fault !== undefined) return fault;
  }
  return undefined;
}
