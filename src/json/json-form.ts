import { z } from 'zod';
import { copyPlain, isObject } from './json-value.ts';
import { deepest, whyNotExactJson, whyNotStrictJson } from './strict-json.ts';

/** A value of an app as JSON, such as the one that a tool's schema made. */
export interface JsonForm {
  /**
   * Its JSON: a date and a URL as text, a BigInt as decimal text, a Set as the list of its items, a Map as the list of its entries. A field
   * that is `undefined` is absent, and an item is `null`. Any other value that JSON can't hold becomes the result of `JSON.stringify`, or
   * `null`.
   */
  json: unknown;
  /** The types of values that JSON can't express, by JSON Pointer (RFC 6901). Absent if there are none. */
  types?: JsonTypes | undefined;
}

/** The types of the parts of a value that are not plain JSON, by JSON Pointer (RFC 6901). */
export type JsonTypes = Readonly<Record<string, string>>;

/** Reads the form of a value, or the reason why readers may understand its JSON differently. Plain JSON is its own form. */
export function readForm(value: unknown): JsonForm | { fault: string } {
  if (whyNotExactJson(value) === undefined) return { json: value };
  try {
    const form = makeForm(value);
    const fault = whyNotExactJson(form.json);
    return fault === undefined ? form : { fault };
  } catch (error) {
    if (error instanceof TooDeep) return { fault: error.message };
    throw error;
  }
}

/** Reads strict JSON, without the fields that are `undefined`, as apps write it; or returns why a value is not strict JSON. */
export function readStrictJson(value: unknown): { json: unknown } | { fault: string } {
  /* Most values are plain JSON: one walk is enough for these. */
  if (whyNotStrictJson(value) === undefined) return { json: value };
  const form = readForm(value);
  if ('fault' in form) return form;
  const type = Object.values(form.types ?? {}).find((each) => each !== 'undefined');
  const fault = type === undefined ? whyNotStrictJson(form.json) : `JSON has no ${type}`;
  return fault === undefined ? { json: form.json } : { fault };
}

function makeForm(value: unknown): JsonForm {
  const types: Record<string, string> = {};
  const json = new FormMaking(types).make(value, []) ?? null;
  if (value === undefined) types[''] = 'undefined';
  return Object.keys(types).length === 0 ? { json } : { json, types };
}

class TooDeep extends Error {
  constructor() {
    super(`it is nested more than ${deepest} deep, or has a cycle`);
  }
}

/* Makes a value from its JSON, by its type. The items of a list are made before the list. */
const makers = new Map<string, (json: unknown) => unknown>([
  ['Date', (json) => new Date(String(json))],
  ['URL', (json) => new URL(String(json))],
  ['BigInt', (json) => BigInt(String(json))],
  ['Set', (json) => new Set(z.array(z.unknown()).parse(json))],
  ['Map', (json) => new Map(z.array(z.tuple([z.unknown(), z.unknown()])).parse(json))],
  ['undefined', () => undefined],
]);

/** Restores the value from its form, for tools. A part that has no form stays its recorded JSON. */
export function restoreForm({ json, types = {} }: JsonForm): unknown {
  const whole = { value: copyPlain(json) };
  const paths = Object.entries(types).map(([pointer, type]) => ({
    path: ['value', ...parsePointer(pointer)],
    type,
  }));
  for (const { path, type } of paths.toSorted(
    (one, other) => other.path.length - one.path.length,
  )) {
    const make = makers.get(type);
    const parent = path.slice(0, -1).reduce<unknown>((part, key) => readKey(part, key), whole);
    const key = path.at(-1) ?? '';
    if (make !== undefined && isObject(parent) && Object.hasOwn(parent, key))
      Reflect.set(parent, key, make(parent[key]));
  }
  return whole.value;
}

/* Own fields only: the types of a forged log may lead to those that all objects share. */
function readKey(part: unknown, key: string): unknown {
  return isObject(part) && Object.hasOwn(part, key) ? part[key] : undefined;
}

/** Picks the types in these fields of a value. */
export function pickFieldTypes(types: JsonTypes, names: readonly string[]): JsonTypes {
  const picked = Object.entries(types).filter(([pointer]) =>
    names.includes(parsePointer(pointer)[0] ?? ''),
  );
  return Object.fromEntries(picked);
}

/** Lists the parts of a value that people can't be shown because they have no JSON form: the path and type of each. */
export function listUnshown(types: JsonTypes = {}): { path: string; type: string }[] {
  return Object.entries(types)
    .filter(([, type]) => !makers.has(type))
    .map(([pointer, type]) => ({ path: parsePointer(pointer).join('.'), type }));
}

/** Makes the form of one value, and records the types that JSON doesn't express. */
class FormMaking {
  readonly #types: Record<string, string>;

  constructor(types: Record<string, string>) {
    this.#types = types;
  }

  /** The JSON of a part; `undefined` for one that is absent. */
  make(value: unknown, path: readonly (string | number)[]): unknown {
    switch (typeof value) {
      case 'string':
      case 'boolean':
      case 'undefined':
        return value;
      case 'number':
        return Number.isFinite(value) ? value : this.#note(path, String(value), null);
      case 'bigint':
        return this.#note(path, 'BigInt', String(value));
      case 'function':
      case 'symbol':
        return this.#note(path, typeof value, undefined);
      case 'object':
        return isObject(value) ? this.#makeObject(value, path) : null;
    }
  }

  #makeObject(value: object, path: readonly (string | number)[]): unknown {
    if (path.length > deepest) throw new TooDeep();
    if (Array.isArray(value)) return this.#makeList(value, path);
    const prototype: unknown = Object.getPrototypeOf(value);
    if (prototype === Object.prototype || prototype === null) return this.#makeFields(value, path);
    if (isOf(value, Date) && Number.isFinite(value.getTime()))
      return this.#note(path, 'Date', value.toISOString());
    if (isOf(value, URL)) return this.#note(path, 'URL', value.href);
    if (isOf(value, Set)) return this.#note(path, 'Set', this.#makeList([...value], path));
    if (isOf(value, Map)) return this.#note(path, 'Map', this.#makeList([...value], path));
    return this.#note(path, nameClass(value, prototype), stringifyAnyway(value));
  }

  #makeFields(value: object, path: readonly (string | number)[]): unknown {
    const fields = Object.entries(value).map(
      ([name, item]) => [name, this.make(item, [...path, name])] as const,
    );
    return Object.fromEntries(fields.filter(([, json]) => json !== undefined));
  }

  /* `Array.from` reads the holes of a sparse list as `undefined`. */
  #makeList(items: readonly unknown[], path: readonly (string | number)[]): unknown[] {
    return Array.from(items, (item, index) => {
      const json = this.make(item, [...path, index]);
      return json === undefined ? this.#note([...path, index], typeof item, null) : json;
    });
  }

  #note(path: readonly (string | number)[], type: string, json: unknown): unknown {
    this.#types[makePointer(path)] = type;
    return json;
  }
}

/*
 * A subclass, such as a date with a time zone, may hold more than people would be shown. A clock of a test puts its own class in place of
 * `Date`.
 */
function isOf<CLASS>(
  value: object,
  ofClass: abstract new (...input: never) => CLASS,
): value is object & CLASS {
  if (!(value instanceof ofClass)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === ofClass.prototype || Object.getPrototypeOf(prototype) === Object.prototype;
}

/* Never the name of a type that has a form: an app's class may have that name too. */
function nameClass(value: object, prototype: unknown): string {
  if (isOf(value, Date)) return 'invalid date';
  const constructor: unknown = Reflect.get(Object(prototype), 'constructor');
  return `object of class ${typeof constructor === 'function' ? constructor.name : 'without a name'}`;
}

/** Returns the result of `JSON.stringify` for an object; `null` if there is none. */
function stringifyAnyway(value: object): unknown {
  try {
    return JSON.parse(JSON.stringify(value) ?? 'null');
  } catch {
    return null;
  }
}

function makePointer(path: readonly (string | number)[]): string {
  return path.map((key) => `/${String(key).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
}

function parsePointer(pointer: string): string[] {
  return pointer
    .split('/')
    .slice(1)
    .map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~'));
}
