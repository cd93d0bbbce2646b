import { isObject } from '../../../json/json-value.ts';
import { isNamed, type ArgumentPath } from './argument-path.ts';

/** What differs between two values at a path. What is absent has no `before` or no `after`. */
export interface ValueChange {
  path: ArgumentPath;
  before?: { value: unknown };
  after?: { value: unknown };
}

/* What is deeper is compared whole. */
const deepest = 32;

/** What differs between two JSON values, each at the innermost path at which it can be said. */
export function compareValues(
  before: unknown,
  after: unknown,
  path: ArgumentPath = [],
): ValueChange[] {
  if (isSameJson(before, after)) return [];
  if (path.length < deepest && isNamed(before) && isNamed(after)) {
    const names = new Set([...Object.keys(before), ...Object.keys(after)]);
    return [...names].flatMap((name) =>
      compareItems(readOwn(before, name), readOwn(after, name), [...path, name]),
    );
  }
  if (path.length < deepest && Array.isArray(before) && Array.isArray(after)) {
    return compareLists(before, after, path);
  }
  return [{ path, before: { value: before }, after: { value: after } }];
}

interface Item {
  value: unknown;
}

function compareItems(
  before: Item | undefined,
  after: Item | undefined,
  path: ArgumentPath,
): ValueChange[] {
  if (before !== undefined && after !== undefined)
    return compareValues(before.value, after.value, path);
  return [{ path, ...(before && { before }), ...(after && { after }) }];
}

/* What is the same at the start and at the end stays out, so that an item that was put in does not change all that follow it. */
function compareLists(
  before: readonly unknown[],
  after: readonly unknown[],
  path: ArgumentPath,
): ValueChange[] {
  const shorter = Math.min(before.length, after.length);
  let start = 0;
  while (start < shorter && isSameJson(before[start], after[start])) start += 1;
  let end = 0;
  while (end < shorter - start && isSameJson(before.at(-1 - end), after.at(-1 - end))) end += 1;
  const old = before.slice(start, before.length - end);
  const now = after.slice(start, after.length - end);
  const count = Math.max(old.length, now.length);
  return Array.from({ length: count }, (_, index) =>
    compareItems(
      index < old.length ? { value: old[index] } : undefined,
      index < now.length ? { value: now[index] } : undefined,
      [...path, start + index],
    ),
  ).flat();
}

/** The value of a field, in an object of its own, as the value itself may be absent. */
export function readOwn(object: Readonly<Record<string, unknown>>, name: string): Item | undefined {
  return Object.hasOwn(object, name) ? { value: object[name] } : undefined;
}

/** Whether two JSON values are the same, whatever the order of their fields. */
export function isSameJson(one: unknown, other: unknown): boolean {
  if (!isObject(one) || !isObject(other)) return Object.is(one, other);
  if (Array.isArray(one) !== Array.isArray(other)) return false;
  const names = Object.keys(one);
  return (
    names.length === Object.keys(other).length &&
    names.every((name) => Object.hasOwn(other, name) && isSameJson(one[name], other[name]))
  );
}
