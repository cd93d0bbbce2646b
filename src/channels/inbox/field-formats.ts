import { isObject } from '../../content/json-value.ts';
import { type FieldFormat, fieldFormatSchema, type FormattedPath } from './shown-fields.ts';

/* Schemas may be of somebody else's tools: deep ones, and those that refer to themselves, are read so far. */
const deepest = 12;
const most = 500;

/** The keyword of a JSON Schema that says how a value is meant, as a `FieldFormat`. With zod: `.meta({ 'x-holdpoint-format': … })`. */
const keyword = 'x-holdpoint-format';

/**
 * How the arguments of a tool are meant, as its input schema declares it. Nothing is guessed from names or values. Of several formats of one
 * path the first counts, except that a secret stays one.
 */
export function readSchemaFormats(schema: unknown): FormattedPath[] {
  const found: FormattedPath[] = [];
  collect(schema, schema, [], found);
  return found;
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

function collect(root: unknown, schema: unknown, path: string[], found: FormattedPath[]): void {
  if (!isObject(schema) || path.length > deepest || found.length >= most) return;
  const format = readFormat(schema);
  if (format !== undefined) found.push({ path, format });
  for (const part of listAlternatives(root, schema)) collect(root, part, path, found);
  const { properties, items, prefixItems, additionalProperties } = schema;
  if (isObject(properties)) {
    for (const [name, part] of Object.entries(properties)) {
      collect(root, part, [...path, name], found);
    }
  }
  const listed: unknown[] = Array.isArray(prefixItems) ? prefixItems : [];
  for (const part of [items, additionalProperties, ...listed]) {
    collect(root, part, [...path, '*'], found);
  }
}

/** The schemas that a value may or must fit beside this one. A reference is followed where it leads away from itself. */
function listAlternatives(root: unknown, schema: Record<PropertyKey, unknown>): unknown[] {
  const { $ref: reference, anyOf, oneOf, allOf } = schema;
  const parts = [anyOf, oneOf, allOf].flatMap((each): unknown[] =>
    Array.isArray(each) ? each : [],
  );
  return typeof reference === 'string' ? [...parts, resolve(root, reference)] : parts;
}

/** What `#/$defs/name` names; `undefined` for a reference to anything else. */
function resolve(root: unknown, reference: string): unknown {
  const [, group, name, ...more] = reference.split('/');
  if (!reference.startsWith('#/') || name === undefined || more.length > 0) return undefined;
  if (group !== '$defs' && group !== 'definitions') return undefined;
  const definitions = isObject(root) ? root[group] : undefined;
  const key = name.replaceAll('~1', '/').replaceAll('~0', '~');
  return isObject(definitions) && Object.hasOwn(definitions, key) ? definitions[key] : undefined;
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
