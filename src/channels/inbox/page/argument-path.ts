import { inertName } from '../../../content/inert-text.ts';
import { isObject } from '../../../json/json-value.ts';
import type { FieldFormat, InboxEntry } from '../inbox-api.ts';

/** Where a value stands among the arguments: names of fields, and positions in lists. */
export type ArgumentPath = readonly (string | number)[];

/** What an entry declares about its arguments. */
export type Declared = Pick<InboxEntry, 'formats' | 'masked'>;

/** A path as one line that is safe to show, such as `items[0].price`. A name that is not a plain word is quoted, so that it can't imitate a path. */
export function renderArgumentPath(path: ArgumentPath): string {
  return path
    .map((part, index) => {
      if (typeof part === 'number') return `[${part}]`;
      return `${index === 0 ? '' : '.'}${inertName(part)}`;
    })
    .join('');
}

/** The format that is declared for the value at a path, and the positions in lists that lead there. */
export function findFormat(
  { formats }: Declared,
  path: ArgumentPath,
): { format: FieldFormat; indexes: number[] } | undefined {
  const found = formats.find((each) => isSamePath(each.path, path));
  return (
    found && { format: found.format, indexes: path.filter((part) => typeof part === 'number') }
  );
}

/** Whether the value at a path must not be shown: it, or what it is part of, was masked or is declared a secret. */
export function isMasked(declared: Declared, path: ArgumentPath): boolean {
  return listMasked(declared).some(
    (each) => each.length <= path.length && isSamePath(each, path.slice(0, each.length)),
  );
}

/** Whether the value at a path, or something in it, must not be shown. */
export function hasMasked(declared: Declared, path: ArgumentPath): boolean {
  return isMasked(declared, path) || listMasked(declared).some((each) => leadsThrough(each, path));
}

function listMasked({ formats, masked }: Declared): string[][] {
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

/** Where the currency of a declared amount is; `undefined` if no argument has it. */
export function findCurrencyPath(format: FieldFormat): readonly string[] | undefined {
  const { currency } = format.type === 'money' ? format : {};
  return typeof currency === 'object' ? currency.path : undefined;
}

/** Whether a declared path leads to a place or through it. */
export function leadsThrough(declared: readonly string[], place: ArgumentPath): boolean {
  return isSamePath(declared.slice(0, place.length), place);
}

/** The value at a declared path, whose `*` stand for these positions, the first for the first; `undefined` if there is none. */
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

/** Whether a value is an object with names, and no list. */
export function isNamed(value: unknown): value is Record<string, unknown> {
  return isObject(value) && !Array.isArray(value);
}
