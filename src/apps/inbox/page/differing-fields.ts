import { isObject } from '../../../json/json-value.ts';
import {
  type ArgumentPath,
  type Declared,
  findCurrencyPath,
  leadsThrough,
} from './argument-path.ts';
import { isPlainObject, isSameJson, readOwn } from '../../../json/json-value.ts';

/** A place at which inputs differ, and each input's value there; `undefined` without one. */
export interface DifferingField {
  path: ArgumentPath;
  cells: ({ value: unknown } | undefined)[];
}

/** The inputs of similar calls: their shared part, and their differences. */
export interface ComparedInputs {
  /** The shared part; absent if nothing is the same. */
  shared?: { value: unknown };
  differing: DifferingField[];
}

/* Deeper values are shown as a whole. */
const deepest = 8;

/**
 * Splits inputs into their shared part and their differences, each at the innermost path at which all of them are objects. Amounts in
 * different currencies differ.
 */
export function compareInputs(
  inputs: readonly unknown[],
  formats: Declared['formats'] = [],
): ComparedInputs {
  const cells = inputs.map((value) => ({ value }));
  const compared = compareCells(cells, [], []);
  const apart = formats.filter(({ format }) => {
    const currency = findCurrencyPath(format);
    return currency && compared.differing.some(({ path }) => leadsThrough(currency, path));
  });
  return apart.length === 0 ? compared : compareCells(cells, [], apart);
}

/** Compares values. `apart`: declared fields that count as different even if equal. */
function compareCells(
  cells: DifferingField['cells'],
  path: ArgumentPath,
  apart: Declared['formats'],
): ComparedInputs {
  const [first] = cells;
  const isSame = cells.every((cell) =>
    cell === undefined || first === undefined
      ? cell === first
      : isSameJson(cell.value, first.value),
  );
  const inside = apart.filter((each) => leadsThrough(each.path, path));
  const isEmpty = isObject(first?.value) && Object.keys(first.value).length === 0;
  if (isSame && (inside.length === 0 || isEmpty))
    return { ...(first && { shared: first }), differing: [] };
  const objects = cells.map((cell) => cell?.value).filter(isPlainObject);
  if (objects.length < cells.length || path.length === deepest)
    return { differing: [{ path, cells }] };
  const names = [...new Set(objects.flatMap((object) => Object.keys(object)))];
  const fields = names.map((name) => ({
    name,
    ...compareCells(
      objects.map((object) => readOwn(object, name)),
      [...path, name],
      inside,
    ),
  }));
  const same = fields.flatMap(({ name, shared }): [string, unknown][] =>
    shared === undefined ? [] : [[name, shared.value]],
  );
  return {
    ...(same.length > 0 && { shared: { value: Object.fromEntries(same) } }),
    differing: fields.flatMap(({ differing }) => differing),
  };
}

/** Finds the value that most cells have, the first if there are several; `undefined` if all differ. */
export function findUsual(cells: DifferingField['cells']): { value: unknown } | undefined {
  const counts = new Map<string, { cell: { value: unknown }; count: number }>();
  for (const cell of cells) {
    if (cell === undefined) continue;
    const key = JSON.stringify(cell.value);
    const known = counts.get(key);
    if (known === undefined) counts.set(key, { cell, count: 1 });
    else known.count += 1;
  }
  const [most] = [...counts.values()].toSorted((one, other) => other.count - one.count);
  return most !== undefined && most.count > 1 ? most.cell : undefined;
}
