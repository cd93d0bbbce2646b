import { isObject } from '../../content/json-value.ts';
import { type FieldFormat, fieldFormatSchema, type FormattedPath } from './shown-fields.ts';

/* Schemas may be of somebody else's tools: deep ones, large ones, and those that refer to themselves, are read so far. */
const deepest = 12;
const most = 500;
const mostParts = 10_000;

/** The keyword of a JSON Schema that says how a value is meant, as a `FieldFormat`. With zod: `.meta({ 'x-holdpoint-format': … })`. */
const keyword = 'x-holdpoint-format';

/**
 * How the arguments of a tool are meant, as its input schema declares it. Nothing is guessed from names or values. Of several formats of one
 * path the first counts, except that a secret stays one.
 */
export function readSchemaFormats(schema: unknown): FormattedPath[] {
  const found: FormattedPath[] = [];
  const parts: SchemaPart[] = [{ schemas: [schema], path: [] }];
  let read = 0;
  /* What is near the top first: a schema that refers to itself has no end. */
  for (const { schemas, path } of parts) {
    for (const each of listBeside(schema, schemas)) {
      read += 1;
      if (read > mostParts || found.length === most) return found;
      const format = readFormat(each);
      if (format !== undefined) found.push({ path, format });
      if (path.length < deepest && parts.length < mostParts) parts.push(...listParts(each, path));
    }
  }
  return found;
}

/** What stands for one value in a schema, and the path of such values. */
interface SchemaPart {
  schemas: readonly unknown[];
  path: string[];
}

/** The formats of several sources, the most important first. What one of them calls a secret is one. */
export function joinFormats(...sources: readonly (readonly FormattedPath[])[]): FormattedPath[] {
  const joined = new Map<string, FormattedPath>();
  for (const each of sources.flat()) {
    const key = JSON.stringify(each.path);
    if (!joined.has(key) || each.format.type === 'secret') joined.set(key, each);
  }
  return [...joined.values()];
}

/** The parts of a schema that are about parts of its values. */
function listParts(schema: Record<PropertyKey, unknown>, path: readonly string[]): SchemaPart[] {
  const { properties, items, prefixItems, additionalProperties } = schema;
  const named = isObject(properties) ? Object.entries(properties) : [];
  const listed: unknown[] = Array.isArray(prefixItems) ? prefixItems : [];
  const any = [items, additionalProperties, ...listed].filter(isObject);
  return [
    ...named.map(([name, part]) => ({ schemas: [part], path: [...path, name] })),
    ...(any.length === 0 ? [] : [{ schemas: any, path: [...path, '*'] }]),
  ];
}

/** These schemas, and those that the same value may or must fit beside them, each once. */
function* listBeside(
  root: unknown,
  schemas: readonly unknown[],
): Generator<Record<PropertyKey, unknown>> {
  const beside = new Set(schemas);
  for (const schema of beside) {
    if (!isObject(schema)) continue;
    yield schema;
    for (const each of listAlternatives(root, schema)) beside.add(each);
  }
}

/** The schemas that a value may or must fit beside this one. */
function listAlternatives(root: unknown, schema: Record<PropertyKey, unknown>): unknown[] {
  const { $ref: reference, anyOf, oneOf, allOf } = schema;
  const parts = [anyOf, oneOf, allOf].flatMap((each): unknown[] =>
    Array.isArray(each) ? each : [],
  );
  return typeof reference === 'string' ? [...parts, resolve(root, reference)] : parts;
}

/** What `#` or `#/$defs/name` names; `undefined` for a reference to another schema. */
function resolve(root: unknown, reference: string): unknown {
  const [start, ...keys] = reference.split('/');
  if (start !== '#') return undefined;
  return keys.reduce((at: unknown, name) => {
    const key = name.replaceAll('~1', '/').replaceAll('~0', '~');
    return isObject(at) && Object.hasOwn(at, key) ? at[key] : undefined;
  }, root);
}

function readFormat(schema: Record<PropertyKey, unknown>): FieldFormat | undefined {
  const declared = fieldFormatSchema.safeParse(schema[keyword]);
  if (declared.success) return declared.data;
  const { format, writeOnly, contentEncoding, contentMediaType } = schema;
  if (format === 'password' || writeOnly === true) return { type: 'secret' };
  if (format === 'date-time') return { type: 'date-time', unit: 'iso' };
  if (format === 'date') return { type: 'date' };
  if (format === 'duration') return { type: 'duration', unit: 'iso' };
  if (contentEncoding === 'base64' && typeof contentMediaType === 'string') {
    return { type: 'file', mediaType: contentMediaType };
  }
  return undefined;
}
