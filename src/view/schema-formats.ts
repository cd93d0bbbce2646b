import { resolveReference } from '../json/declared-fields.ts';
import { formatKeyword, secretKeywords } from '../json/format-keywords.ts';
import { isObject } from '../json/json-value.ts';
import { type FieldFormat, fieldFormatSchema, type FormattedPath } from './field-format.ts';

/* Schemas may come from other people's tools: deep, large and self-referring ones are read up to these limits. */
const deepest = 12;
const most = 500;
const mostParts = 10_000;

/**
 * Reads the formats of a tool's arguments from its input schema. Nothing is guessed from names or values. Of several formats of one path
 * the first counts, except that a secret stays one. Where a schema is not read and has a secret, everything there is one.
 */
export function readSchemaFormats(schema: unknown): FormattedPath[] {
  const secretParts = findSecretParts(schema);
  const found: FormattedPath[] = [];
  const parts: SchemaPart[] = [{ schemas: [schema], path: [] }];
  let read = 0;
  /* Parts near the top come first: a schema that refers to itself has no end. */
  for (const [index, { schemas, path }] of parts.entries()) {
    for (const each of listBeside(schema, schemas)) {
      read += 1;
      const isLarge = read > mostParts || parts.length > mostParts || found.length >= most;
      if (isLarge || path.length > deepest) {
        const rest = parts.slice(index).flatMap((part) => part.schemas);
        const isSecret = rest.some((part) => isObject(part) && secretParts.has(part));
        return isSecret ? [...found, { path: path.map(() => '*'), format: secret }] : found;
      }
      const format = readFormat(each);
      if (format !== undefined) found.push({ path, format });
      if (hasUnreadSecret(schema, each, secretParts)) found.push({ path, format: secret });
      for (const part of listParts(each, path)) parts.push(part);
    }
  }
  return found;
}

const secret: FieldFormat = { type: 'secret' };

/** The parts of a schema for one value, and the path of such values. */
interface SchemaPart {
  schemas: readonly unknown[];
  path: string[];
}

/** Joins the formats of several sources, the most important first. A secret in one of them is a secret. */
export function joinFormats(...sources: readonly (readonly FormattedPath[])[]): FormattedPath[] {
  const joined = new Map<string, FormattedPath>();
  for (const each of sources.flat()) {
    const key = JSON.stringify(each.path);
    if (!joined.has(key) || each.format.type === 'secret') joined.set(key, each);
  }
  return [...joined.values()];
}

/** Lists the parts of a schema that describe parts of its values. */
function listParts(schema: Record<PropertyKey, unknown>, path: readonly string[]): SchemaPart[] {
  const { properties, items, prefixItems, additionalProperties } = schema;
  const named = isObject(properties) ? Object.entries(properties) : [];
  const listed = [prefixItems, items].flatMap((each): unknown[] =>
    Array.isArray(each) ? each : [],
  );
  const any = [items, additionalProperties, ...listed].filter(isSchema);
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
  const { $ref: reference, anyOf, oneOf, allOf, then: holding, else: otherwise } = schema;
  const parts = [anyOf, oneOf, allOf, holding, otherwise].flatMap((each): unknown[] =>
    Array.isArray(each) ? each : [each],
  );
  return typeof reference === 'string' ? [...parts, resolveReference(reference, root)] : parts;
}

function isSchema(value: unknown): value is Record<PropertyKey, unknown> {
  return isObject(value) && !Array.isArray(value);
}

/* The keywords that are read of a schema beside its own format. */
const readKeywords = new Set(
  '$ref allOf anyOf oneOf then else properties items prefixItems additionalProperties'.split(' '),
);
/* Keywords that are no schema of a value, unless a reference leads to them. */
const otherKeywords = new Set('$defs definitions const default enum examples'.split(' '));
/* Keywords with schemas by name. */
const namedKeywords = new Set('properties patternProperties dependentSchemas'.split(' '));

/** Checks whether a schema has a secret under a keyword that is not read. */
function hasUnreadSecret(
  root: unknown,
  schema: Record<PropertyKey, unknown>,
  secretParts: ReadonlySet<object>,
): boolean {
  const unread = Object.keys(schema).filter((key) => !readKeywords.has(key));
  return listSchemas(root, schema, unread).some((each) => secretParts.has(each));
}

/** Finds the parts of a schema that declare a secret, or have one somewhere below them. Each part is visited once. */
function findSecretParts(root: unknown): Set<object> {
  const all = new Set(isSchema(root) ? [root] : []);
  const above = new Map<object, object[]>();
  for (const each of all) {
    for (const part of listSchemas(root, each, Object.keys(each))) {
      all.add(part);
      const parents = above.get(part);
      if (parents === undefined) above.set(part, [each]);
      else parents.push(each);
    }
  }
  const found = new Set<object>([...all].filter((each) => readFormat(each)?.type === 'secret'));
  for (const each of found) for (const parent of above.get(each) ?? []) found.add(parent);
  return found;
}

/** The schemas that a schema has under some of its keywords. */
function listSchemas(
  root: unknown,
  schema: Record<PropertyKey, unknown>,
  keywords: readonly string[],
): Record<PropertyKey, unknown>[] {
  return keywords
    .filter((key) => !otherKeywords.has(key))
    .flatMap((key): unknown[] => {
      const part = schema[key];
      if (key === '$ref') return typeof part === 'string' ? [resolveReference(part, root)] : [];
      if (Array.isArray(part)) return part;
      return namedKeywords.has(key) && isObject(part) ? Object.values(part) : [part];
    })
    .filter(isSchema);
}

function readFormat(schema: Record<PropertyKey, unknown>): FieldFormat | undefined {
  const declared = Object.hasOwn(schema, formatKeyword)
    ? fieldFormatSchema.safeParse(schema[formatKeyword]).data
    : undefined;
  if (declared !== undefined) return declared;
  const { format, contentEncoding, contentMediaType } = schema;
  if (Object.entries(secretKeywords).some(([key, value]) => schema[key] === value))
    return { type: 'secret' };
  if (format === 'date-time') return { type: 'date-time', unit: 'iso' };
  if (format === 'date') return { type: 'date' };
  if (format === 'duration') return { type: 'duration', unit: 'iso' };
  if (contentEncoding === 'base64' && typeof contentMediaType === 'string') {
    return { type: 'file', mediaType: contentMediaType };
  }
  return undefined;
}
