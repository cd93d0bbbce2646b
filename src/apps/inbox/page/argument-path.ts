import { inertName } from '../../../content/inert-text.ts';
import { isObject } from '../../../json/json-value.ts';
import type { FieldFormat, InboxEntry } from '../inbox-api.ts';

/** The path to a value in the arguments: names of fields, and positions in lists. */
export type ArgumentPath = readonly (string | number)[];

/** An entry's declarations about its arguments. */
export type Declared = Pick<InboxEntry, 'formats' | 'masked'>;

/**
 * Renders a path as one line that is safe to show, such as `items[0].price`. A name that is not a plain word is quoted, so that it can't
 * imitate a path.
 */
export function renderArgumentPath(path: ArgumentPath): string {
  return path
    .map((part, index) => {
      if (typeof part === 'number') return `[${part}]`;
      return `${index === 0 ? '' : '.'}${inertName(part)}`;
    })
    .join('');
}

/** Finds the format that is declared for the value at a path, and the list positions in the path. */
export function findFormat(
  { formats }: Declared,
  path: ArgumentPath,
): { format: FieldFormat; indexes: number[] } | undefined {
  const found = formats.find((each) => isSamePath(each.path, path));
  return (
    found && { format: found.format, indexes: path.filter((part) => typeof part === 'number') }
  );
}

/** Checks whether the value at a path must not be shown: it, or a value around it, was masked or is declared a secret. */
export function isMasked(declared: Declared, path: ArgumentPath): boolean {
  return listMasked(declared).some(
    (each) => each.length <= path.length && isSamePath(each, path.slice(0, each.length)),
  );
}

/** Checks whether the value at a path, or something in it, must not be shown. */
export function hasMasked(declared: Declared, path: ArgumentPath): boolean {
  return isMasked(declared, path) || listMasked(declared).some((each) => leadsThrough(each, path));
}

/** Lists the paths of the values that must not be shown. */
export function listMasked({ formats, masked }: Declared): string[][] {
  const secrets = formats.filter(({ format }) => format.type === 'secret');
  return [...masked, ...secrets.map((each) => each.path)];
}

function isSamePath(declared: readonly string[], path: ArgumentPath): boolean {
  return (
    declared.length === path.length &&
    path.every((part, index) => {
      const name = declared[index];
      return name === String(part) || (name === '*' && typeof part === 'number');
    })
  );
}

/** Finds the path of an amount's currency; `undefined` if no argument has it. */
export function findCurrencyPath(format: FieldFormat): readonly string[] | undefined {
  const { currency } = format.type === 'money' ? format : {};
  return typeof currency === 'object' ? currency.path : undefined;
}

/** Checks whether a declared path leads to or through a place. */
export function leadsThrough(declared: readonly string[], place: ArgumentPath): boolean {
  return isSamePath(declared.slice(0, place.length), place);
}

/** Reads the value at a declared path, with each `*` replaced by a position, in order; `undefined` if there is none. */
export function readDeclared(
  root: unknown,
  path: readonly string[],
  indexes: readonly number[],
): unknown {
  const ahead = [...indexes];
  return path.reduce<unknown>((value, name) => {
    const part = name === '*' ? String(ahead.shift()) : name;
    return isObject(value) && Object.hasOwn(value, part) ? value[part] : undefined;
  }, root);
}
