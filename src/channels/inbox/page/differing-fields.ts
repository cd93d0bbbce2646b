import { isObject } from '../../../json/json-value.ts';
import {
  type ArgumentPath,
  type Declared,
  findCurrencyPath,
  isNamed,
  leadsThrough,
} from './argument-path.ts';
import { isSameJson, readOwn } from './compare-values.ts';

/** A place at which inputs differ, and what each has there; `undefined` where it has nothing. */
export interface DifferingField {
  path: ArgumentPath;
  cells: ({ value: unknown } | undefined)[];
}

/** Inputs of alike calls: what is the same in all of them, and where they differ. */
export interface ComparedInputs {
  /** Absent if nothing is the same. */
  shared?: { value: unknown };
  differing: DifferingField[];
}

/* What is deeper is shown whole. */
const deepest = 8;

/**
 * Finds out what is the same in all of these inputs and what differs, each at the innermost path at which all of them are objects. Amounts in
 * currencies that differ do so too.
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

/** `apart`: what counts as different although it is the same. */
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
  const objects = cells.map((cell) => cell?.value).filter(isNamed);
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

/** The value that most cells have, the first of them if there are several; `undefined` if each is another one. */
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
