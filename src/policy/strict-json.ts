/** How deep and how large a call's input may be. */
const maximumDepth = 64;
const maximumLength = 256 * 1024;

/**
 * Why a value is not JSON that every reader understands alike, or `undefined` when it is: plain objects and arrays,
 * finite numbers, integers within ±(2^53 - 1), well-formed strings, no `__proto__` key, at most 64 deep and
 * 256 KiB long. Two values that pass and differ have different canonical texts (RFC 8785).
 */
export function whyNotStrictJson(value: unknown): string | undefined {
  const fault = faultIn(value, 0);
  if (fault !== undefined) return fault;
  const length = JSON.stringify(value).length;
  return length > maximumLength
    ? `it is ${length} characters long; ${maximumLength} are allowed`
    : undefined;
}

function faultIn(value: unknown, depth: number): string | undefined {
  switch (typeof value) {
    case 'boolean':
      return undefined;
    case 'string':
      return value.isWellFormed() ? undefined : 'a string holds half of a surrogate pair';
    case 'number':
      return faultInNumber(value);
    case 'object':
      if (value === null) return undefined;
      if (depth === maximumDepth) return `it is nested more than ${maximumDepth} deep`;
      return Array.isArray(value) ? faultInArray(value, depth) : faultInObject(value, depth);
    default:
      return `JSON has no ${typeof value}`;
  }
}

function faultInNumber(value: number): string | undefined {
  if (!Number.isFinite(value)) return `JSON has no ${value}`;
  if (Number.isInteger(value) && !Number.isSafeInteger(value)) {
    return `the integer ${value} is outside ±(2^53 - 1), where readers round`;
  }
  return undefined;
}

function faultInArray(value: unknown[], depth: number): string | undefined {
  /* An index loop, as a sparse array's holes are skipped by the iterating methods. */
  for (let index = 0; index < value.length; index += 1) {
    const fault = faultIn(value[index], depth + 1);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

function faultInObject(value: object, depth: number): string | undefined {
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null)
    return 'it holds an object that is not plain';
  for (const [key, item] of Object.entries(value)) {
    if (key === '__proto__') return 'it has a key `__proto__`';
    const fault = key.isWellFormed()
      ? faultIn(item, depth + 1)
      : 'a key holds half of a surrogate pair';
    if (fault !== undefined) return fault;
  }
  return undefined;
}
