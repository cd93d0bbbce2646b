import { isPlainObject, isSameJson, readOwn } from '../../../json/json-value.ts';
import type { ArgumentPath } from './argument-path.ts';

/** A difference between two values at a path. `before` or `after` is missing where the value is absent. */
export interface ValueChange {
  path: ArgumentPath;
  before?: { value: unknown };
  after?: { value: unknown };
}

/* Deeper values are compared as a whole. */
const deepest = 32;

/** Lists the differences between two JSON values, each at the innermost path possible. */
export function compareValues(
  before: unknown,
  after: unknown,
  path: ArgumentPath = [],
): ValueChange[] {
  if (isSameJson(before, after)) return [];
  if (path.length < deepest && isPlainObject(before) && isPlainObject(after)) {
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

/* Equal items at the start and the end are left out, so that an inserted item does not change all that follow it. */
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
