/**
 * Whether a JSON Schema lists the fields of the object at a path, and this one is not among them. Where the schema leaves other fields open,
 * or can't be followed, no field is undeclared.
 */
export function isUndeclared(schema: unknown, path: readonly string[], field: string): boolean {
  let places = composedOf([schema], schema);
  for (const segment of path) {
    const values = places.flatMap((place) => valuesAt(place, segment));
    places = composedOf(values, schema);
  }
  return places.some(listsFields) && places.every((place) => !allowsField(place, field));
}

/** The schemas, and those that they are composed of; `true` for what takes anything. Each is followed once, as a schema may contain itself. */
function composedOf(schemas: readonly unknown[], root: unknown, seen = new Set()): unknown[] {
  return schemas.flatMap((schema): unknown[] => {
    if (seen.has(schema)) return [];
    if (!isObject(schema)) return [schema];
    seen.add(schema);
    const all = [
      ...listOf(keyword(schema, 'allOf')),
      ...['if', 'then', 'else'].map((name) => keyword(schema, name)).filter(isObject),
      ...valuesOf(keyword(schema, 'dependentSchemas')),
      ...referencedBy(schema, root),
    ];
    const either = ['anyOf', 'oneOf'].flatMap((name) => listOf(keyword(schema, name)));
    return [
      schema,
      ...composedOf(all, root, seen),
      ...either.flatMap((one) => {
        const parts = composedOf([one], root, seen);
        /* An alternative that lists nothing takes any field. */
        return parts.some(isNoObject) || parts.some(listsFields) ? parts : [true];
      }),
    ];
  });
}

/** Where the reference of a schema leads: `true` if that is not in the same document. */
function referencedBy(schema: object, root: unknown): unknown[] {
  const reference = keyword(schema, '$ref') ?? keyword(schema, '$dynamicRef');
  if (reference === undefined) return [];
  if (reference === '#') return [root];
  if (typeof reference !== 'string' || !reference.startsWith('#/')) return [true];
  let found: unknown = root;
  for (const segment of reference.split('/').slice(1)) {
    const name = segment.replaceAll('~1', '/').replaceAll('~0', '~');
    found = isObject(found) ? keyword(found, name) : undefined;
  }
  return [found ?? true];
}

function listsFields(schema: unknown): boolean {
  if (!isObject(schema)) return false;
  const isListed = Object.keys(keyword(schema, 'properties') ?? {}).length > 0;
  return isListed || keyword(schema, 'additionalProperties') === false;
}

function isNoObject(schema: unknown): boolean {
  if (!isObject(schema)) return false;
  if (keyword(schema, 'const') !== undefined || keyword(schema, 'enum') !== undefined) return true;
  const types = [keyword(schema, 'type')].flat();
  return !types.includes(undefined) && !types.includes('object');
}

function allowsField(schema: unknown, field: string): boolean {
  if (!isObject(schema)) return schema !== false;
  const others = ['additionalProperties', 'unevaluatedProperties', 'patternProperties'];
  return (
    Object.hasOwn(keyword(schema, 'properties') ?? {}, field) ||
    others.some((name) => (keyword(schema, name) ?? false) !== false)
  );
}

/** The schemas of a field, or of the items, of a value. */
function valuesAt(schema: unknown, segment: string): unknown[] {
  if (!isObject(schema)) return [];
  const properties = keyword(schema, 'properties');
  if (isObject(properties) && Object.hasOwn(properties, segment)) {
    return [keyword(properties, segment)];
  }
  const names = ['additionalProperties', 'prefixItems', 'items', 'additionalItems'];
  const open = keyword(schema, 'patternProperties') === undefined ? [] : [true];
  return [...names.flatMap((name) => keyword(schema, name)), ...open].filter(
    (value) => value !== undefined,
  );
}

function valuesOf(value: unknown): unknown[] {
  return isObject(value) ? Object.values(value) : [];
}

function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

/** The own value of a keyword: a schema may come from elsewhere, and a field may be called `constructor`. */
function keyword(schema: object, name: string): unknown {
  return Object.hasOwn(schema, name) ? Reflect.get(schema, name) : undefined;
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
