import { freezeDeep, isObject } from './json-value.ts';

/**
 * Checks whether a JSON Schema lists the fields of the object at a path, and this one is not among them. Where the schema leaves other
 * fields open, or can't be followed, no field is undeclared.
 */
export function isUndeclared(schema: unknown, path: readonly string[], field: string): boolean {
  let places = listComposedSchemas([schema], schema);
  for (const segment of path) {
    const values = places.flatMap((place) => listFieldSchemas(place, segment));
    places = listComposedSchemas(values, schema);
  }
  return places.some(listsFields) && places.every((place) => !allowsField(place, field));
}

/**
 * Lists the schemas, and those that they are composed of; `true` for one that accepts anything. Each is followed once, as a schema may
 * contain itself.
 */
function listComposedSchemas(
  schemas: readonly unknown[],
  root: unknown,
  seen = new Set(),
): unknown[] {
  return schemas.flatMap((schema): unknown[] => {
    if (seen.has(schema)) return [];
    if (!isObject(schema)) return [schema];
    seen.add(schema);
    const all = [
      ...toList(readKeyword(schema, 'allOf')),
      ...['if', 'then', 'else'].map((name) => readKeyword(schema, name)).filter(isObject),
      ...listValues(readKeyword(schema, 'dependentSchemas')),
      ...resolveSchemaReference(schema, root),
    ];
    const either = ['anyOf', 'oneOf'].flatMap((name) => toList(readKeyword(schema, name)));
    return [
      schema,
      ...listComposedSchemas(all, root, seen),
      ...either.flatMap((one) => {
        const parts = listComposedSchemas([one], root, seen);
        /* An alternative that lists no fields accepts any. */
        return parts.some(isNoObject) || parts.some(listsFields) ? parts : [true];
      }),
    ];
  });
}

function resolveSchemaReference(schema: object, root: unknown): unknown[] {
  const reference = readKeyword(schema, '$ref') ?? readKeyword(schema, '$dynamicRef');
  return reference === undefined ? [] : [resolveReference(reference, root)];
}

/** Finds the target of a reference: `true` if it is not in the same document. */
export function resolveReference(reference: unknown, root: unknown): unknown {
  if (reference === '#') return root;
  if (typeof reference !== 'string' || !reference.startsWith('#/')) return true;
  let found: unknown = root;
  for (const segment of reference.split('/').slice(1)) {
    const name = segment.replaceAll('~1', '/').replaceAll('~0', '~');
    found = isObject(found) ? readKeyword(found, name) : undefined;
  }
  return found ?? true;
}

function listsFields(schema: unknown): boolean {
  if (!isObject(schema)) return false;
  const isListed = Object.keys(readKeyword(schema, 'properties') ?? {}).length > 0;
  return isListed || readKeyword(schema, 'additionalProperties') === false;
}

/** Checks whether a schema takes no object. */
function isNoObject(schema: unknown): boolean {
  if (!isObject(schema)) return schema === false;
  if (readKeyword(schema, 'const') !== undefined || readKeyword(schema, 'enum') !== undefined)
    return true;
  const types = [readKeyword(schema, 'type')].flat();
  return !types.includes(undefined) && !types.includes('object');
}

function allowsField(schema: unknown, field: string): boolean {
  if (!isObject(schema)) return schema !== false;
  const others = ['additionalProperties', 'unevaluatedProperties', 'patternProperties'];
  return (
    Object.hasOwn(readKeyword(schema, 'properties') ?? {}, field) ||
    others.some((name) => (readKeyword(schema, name) ?? false) !== false)
  );
}

/** The schemas of a field, or of the items, of a value. */
function listFieldSchemas(schema: unknown, segment: string): unknown[] {
  if (!isObject(schema)) return [];
  const properties = readKeyword(schema, 'properties');
  if (isObject(properties) && Object.hasOwn(properties, segment)) {
    return [readKeyword(properties, segment)];
  }
  const names = ['additionalProperties', 'prefixItems', 'items', 'additionalItems'];
  const open = readKeyword(schema, 'patternProperties') === undefined ? [] : [true];
  return [...names.flatMap((name) => readKeyword(schema, name)), ...open].filter(
    (value) => value !== undefined,
  );
}

function listValues(value: unknown): unknown[] {
  return isObject(value) ? Object.values(value) : [];
}

function toList(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

/** The own value of a keyword: a schema may come from elsewhere, and a field may be called `constructor`. */
function readKeyword(schema: object, name: string): unknown {
  return Object.hasOwn(schema, name) ? Reflect.get(schema, name) : undefined;
}

/* In characters of JSON, about 1,500 names: each request has them in the log. */
const longestNames = 32 * 1024;

/**
 * Picks the part of a JSON Schema that lists the fields of an input, at any depth: a function may read these of the input of a request,
 * also if the tool is not known. `null` if it is longer than 32 Ki characters; `undefined` if it lists no fields.
 */
export function pickInputNames(inputSchema: unknown): unknown {
  return isObject(inputSchema) ? freezeDeep(new NamePicker(inputSchema).pickAll()) : undefined;
}

/* The keywords of a JSON Schema that describe fields, by the kind of their values. */
const references = new Set(['$ref', '$dynamicRef']);
const otherFields = new Set(['additionalProperties', 'unevaluatedProperties']);
const byName = new Set(['properties', 'dependentSchemas']);
const alternatives = ['anyOf', 'oneOf', 'if', 'then', 'else'];
const listItems = ['items', 'prefixItems', 'additionalItems'];
const subschemas = new Set(['allOf', ...alternatives, ...listItems]);

class NamePicker {
  readonly #root: object;
  /** The names of references here, and their targets. */
  readonly #names = new Map<unknown, string>();
  readonly #definitions: [name: string, schema: unknown][] = [];
  #size = 0;

  constructor(root: object) {
    this.#root = root;
  }

  pickAll(): unknown {
    const picked = this.#pick(this.#root);
    const names = isObject(picked) ? picked : {};
    const $defs = Object.fromEntries(this.#definitions);
    const all = { ...names, ...(this.#definitions.length > 0 && { $defs }) };
    if (this.#isTooLong() || JSON.stringify(all).length > longestNames) return null;
    return Object.keys(all).length === 0 ? undefined : all;
  }

  /* The target of a reference may be longer than the schema. */
  #isTooLong(): boolean {
    return this.#size > longestNames;
  }

  /** Picks a schema that only has names; `false` for a value without fields. */
  #pick(schema: unknown): unknown {
    this.#size += 1;
    if (!isObject(schema) || this.#isTooLong()) return schema !== false;
    const parts = Object.entries(schema).flatMap(([keyword, value]) => {
      const part = this.#pickPart(keyword, value);
      return part === undefined ? [] : [[keyword, part] as const];
    });
    if (!isNoObject(schema)) return Object.fromEntries(parts);
    return parts.length === 0 ? false : { type: 'array', ...Object.fromEntries(parts) };
  }

  /** The part of a keyword that is about fields; `undefined` if there is none. */
  #pickPart(keyword: string, value: unknown): unknown {
    if (references.has(keyword)) return this.#pickReferred(value);
    if (otherFields.has(keyword)) return value === false ? false : this.#pick(value) || true;
    if (byName.has(keyword)) {
      const fields = Object.entries(value ?? {});
      return Object.fromEntries(fields.map(([name, field]) => [name, this.#pick(field)]));
    }
    if (keyword === 'patternProperties') return {};
    if (!subschemas.has(keyword)) return undefined;
    return Array.isArray(value) ? value.map((each) => this.#pick(each)) : this.#pick(value);
  }

  #pickReferred(reference: unknown): unknown {
    if (reference === '#') return reference;
    let name = this.#names.get(reference);
    if (name === undefined) {
      name = String(this.#names.size);
      this.#names.set(reference, name);
      this.#definitions.push([name, this.#pick(resolveReference(reference, this.#root))]);
    }
    return `#/$defs/${name}`;
  }
}
