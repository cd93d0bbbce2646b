import {
  type OutputUnit,
  validate,
  dereference,
  type Schema,
  type SchemaDraft,
} from '@cfworker/json-schema';
import { z } from 'zod';

/** A JSON Schema, or a part of one. */
type SchemaPart = Schema | boolean;

/** A JSON Schema that the validator understands. */
interface ReadableSchema {
  root: SchemaPart;
  draft: SchemaDraft;
  /** Its parts by the URIs to which `$ref` refers. */
  parts: Record<string, SchemaPart>;
}

/**
 * The reason why a value does not fit a JSON Schema: as one text, and the first place with the reason, which quotes nothing of the value.
 */
export interface SchemaFault {
  text: string;
  issue?: { path: readonly string[]; message: string };
}

/** Finds the reason why a value does not fit a JSON Schema; `undefined` if it fits. The value must be strict JSON; it is not changed. */
export type SchemaCheck = (value: unknown) => SchemaFault | undefined;

/* A schema that refers to itself may try every branch again at each level, so that a short input would take hours. */
const mostReferences = 150_000;
/* The validator compares each item with each other item. */
const mostUniqueItems = 5_000;
const mostFaults = 3;
const longestFault = 300;

/** The check of a JSON Schema, which must be a copy: hidden fields are added to it. Throws for a schema that can't be read. */
export function compileSchemaCheck(schema: unknown): SchemaCheck {
  const { root, draft, parts } = readSchema(schema);
  const limitsItems = JSON.stringify(schema).includes('"uniqueItems":true');
  return (value) => {
    if (limitsItems && hasLongList(value)) {
      const text = `a list has more than ${mostUniqueItems} items, too many to compare for uniqueItems`;
      return { text };
    }
    try {
      const { valid, errors } = validate(value, root, draft, limitReferences(parts));
      return valid ? undefined : describeFaults(errors);
    } catch {
      return { text: 'it is too large or too deep to be validated' };
    }
  };
}

function hasLongList(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  const items = Object.values(value);
  return (Array.isArray(value) && items.length > mostUniqueItems) || items.some(hasLongList);
}

/* Every endless repetition goes through a reference. */
function limitReferences(parts: Record<string, SchemaPart>): Record<string, SchemaPart> {
  let left = mostReferences;
  return new Proxy(parts, {
    get(target, uri) {
      left -= 1;
      if (left < 0) throw new RangeError('Too many references.');
      return typeof uri === 'string' ? target[uri] : undefined;
    },
  });
}

/* These only say that something inside does not fit. */
const outer = new Set([
  '$ref',
  'additionalItems',
  'additionalProperties',
  'allOf',
  'anyOf',
  'if',
  'items',
  'oneOf',
  'patternProperties',
  'prefixItems',
  'properties',
  'propertyNames',
  'unevaluatedItems',
  'unevaluatedProperties',
]);

function describeFaults(errors: readonly OutputUnit[]): SchemaFault {
  const inner = errors.filter(({ keyword }) => !outer.has(keyword));
  const told = (inner.length === 0 ? errors : inner).slice(0, mostFaults);
  const text = [...new Set(told.map(describeFault))].join('; ');
  const [first] = told;
  return first === undefined ? { text } : { text, issue: toIssue(first) };
}

function describeFault(unit: OutputUnit): string {
  const names = parsePointer(unit.instanceLocation);
  const field = names.length === 0 ? 'the input' : `field ${JSON.stringify(names.join('.'))}`;
  return `${field}: ${renderError(unit)}`;
}

function renderError({ keyword, error }: OutputUnit): string {
  const text = keyword === 'false' ? 'is not allowed' : error.replaceAll(/^Instance |\.$/g, '');
  return text.length > longestFault ? `${text.slice(0, longestFault)}…` : text;
}

/* A missing value is named by its own path; for a number, the validator begins with the number itself. */
function toIssue(unit: OutputUnit): SchemaFault['issue'] {
  const path = parsePointer(unit.instanceLocation);
  const missing = /^Instance does not have required property "(.*)"\.$/s.exec(unit.error)?.[1];
  if (unit.keyword === 'required' && missing !== undefined) {
    return { path: [...path, missing], message: 'is missing' };
  }
  const message = renderError(unit).replace(/^\S+ (?=is (?:less|greater|not a multiple) )/, '');
  return { path, message };
}

/* The validator writes a pointer as the fragment of a URI. */
function parsePointer(location: string): string[] {
  return location
    .split('/')
    .slice(1)
    .map((name) => decodeURIComponent(name).replaceAll('~1', '/').replaceAll('~0', '~'));
}

const drafts = new Map<string, SchemaDraft>([
  ['json-schema.org/draft-04/schema', '4'],
  ['json-schema.org/draft-06/schema', '7'],
  ['json-schema.org/draft-07/schema', '7'],
  ['json-schema.org/draft/2019-09/schema', '2019-09'],
  ['json-schema.org/draft/2020-12/schema', '2020-12'],
]);

/* The formats of the specification that the validator has. It would also accept the names of an object's methods as formats. */
const formats = new Set(
  (
    'date date-time duration email hostname ipv4 ipv6 json-pointer regex relative-json-pointer time ' +
    'uri uri-reference uri-template uuid'
  ).split(' '),
);

/**
 * Reads a JSON Schema, which must be a copy: the validator adds hidden fields to it. Nothing is fetched. Throws for faults that the
 * validator would miss or would only notice with some inputs: an unknown dialect, a reference to nothing or in a circle, a regular
 * expression that JavaScript doesn't have, a keyword with a value of the wrong type.
 */
function readSchema(schema: unknown): ReadableSchema {
  if (!isPart(schema)) throw new Error('it is neither an object nor a boolean');
  const draft = readSchemaDraft(schema);
  const parts = dereference(schema);
  checkParts({ root: schema, draft, parts });
  return { root: schema, draft, parts };
}

function readSchemaDraft(root: SchemaPart): SchemaDraft {
  const dialect: unknown = typeof root === 'boolean' ? undefined : root.$schema;
  if (dialect === undefined) return '2020-12';
  const name = typeof dialect === 'string' ? dialect.replaceAll(/^https?:\/\/|#$/g, '') : '';
  const draft = drafts.get(name);
  if (draft === undefined) throw new Error(`unknown $schema ${JSON.stringify(dialect)}`);
  return draft;
}

/* Made at the first use, as most tools have a schema that validates. */
let keywords: ReturnType<typeof makeKeywords> | undefined;

function makeKeywords() {
  const part = z.custom<SchemaPart>(isPart, 'not a schema');
  const one = part.transform((each) => [each]);
  const list = z.array(part);
  const byName = z.record(z.string(), part).transform((each) => Object.values(each));
  const names = z.array(z.string());
  const pattern = z.string().refine(isPattern, 'not a regular expression of JavaScript');
  const count = z.int().min(0);
  const type = z.enum(['array', 'boolean', 'integer', 'null', 'number', 'object', 'string']);
  const unsupported = z.undefined('not supported');
  return {
    /** Schemas for the same value: in a circle of them, validating would never end. */
    sameValue: z
      .object({
        ...Object.fromEntries(['not', 'if', 'then', 'else'].map((name) => [name, one])),
        allOf: list,
        anyOf: list,
        oneOf: list,
        dependentSchemas: byName,
        dependencies: z
          .record(z.string(), z.union([names.transform(() => []), one]))
          .transform((each) => Object.values(each).flat()),
      })
      .partial(),
    innerValues: z
      .object({
        additionalItems: one,
        additionalProperties: one,
        contains: one,
        items: z.union([list, one]),
        prefixItems: list,
        properties: byName,
        patternProperties: z.record(pattern, part).transform((each) => Object.values(each)),
        propertyNames: one,
        unevaluatedItems: one,
        unevaluatedProperties: one,
      })
      .partial(),
    plain: z
      .object({
        $ref: z.string(),
        $dynamicRef: unsupported,
        $recursiveRef: unsupported,
        type: z.union([type, z.array(type)]),
        enum: z.array(z.unknown()),
        required: names,
        dependentRequired: z.record(z.string(), names),
        pattern,
        format: z.string(),
        minimum: z.number(),
        maximum: z.number(),
        multipleOf: z.number().positive(),
        minLength: count,
        maxLength: count,
        minItems: count,
        maxItems: count,
        minContains: count,
        maxContains: count,
        minProperties: count,
        maxProperties: count,
        uniqueItems: z.boolean(),
      })
      .partial(),
    /** A draft 4 schema has `true` where later ones have the limit itself. */
    limits: (draft: SchemaDraft) => {
      const limit = draft === '4' ? z.boolean() : z.number();
      return z.object({ exclusiveMinimum: limit, exclusiveMaximum: limit }).partial();
    },
  };
}

/** Checks the parts that an input can meet. */
function checkParts({ root, draft, parts }: ReadableSchema): void {
  const { plain, limits, sameValue, innerValues } = (keywords ??= makeKeywords());
  const exclusive = limits(draft);
  const checked = new Set<SchemaPart>();
  const waiting: SchemaPart[] = [root];
  function check(part: SchemaPart, above: readonly SchemaPart[]): void {
    if (typeof part === 'boolean' || checked.has(part)) return;
    if (above.includes(part)) throw new Error('its references form a circle');
    const { $ref, format } = parsePart(plain, part);
    parsePart(exclusive, part);
    if (format !== undefined && !formats.has(format)) delete part.format;
    waiting.push(...Object.values(parsePart(innerValues, part)).flat());
    const next = Object.values(parsePart(sameValue, part)).flat();
    if ($ref !== undefined) next.push(resolveReference(part, $ref));
    for (const each of next) check(each, [...above, part]);
    checked.add(part);
  }
  function resolveReference({ __absolute_ref__: uri = '' }: Schema, $ref: string): SchemaPart {
    const found = parts[uri];
    if (found !== undefined) return found;
    throw new Error(`$ref ${JSON.stringify($ref)} is not in the schema`);
  }
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    check(next, []);
  }
}

/* The reason names the place of the part within the schema. */
function parsePart<VALUE>(shape: z.ZodType<VALUE>, part: Schema): VALUE {
  const { success, data, error } = shape.safeParse(part);
  if (success) return data;
  const [issue] = error.issues;
  const { __absolute_uri__: uri = '' } = part;
  const [, pointer = ''] = uri.split('#');
  const place = [`#${pointer}`, ...(issue?.path ?? [])].join('/');
  throw new Error(`${place}: ${issue?.message}`);
}

function isPattern(source: string): boolean {
  try {
    return new RegExp(source, 'u') instanceof RegExp;
  } catch {
    return false;
  }
}

function isPart(value: unknown): value is SchemaPart {
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  return isObject || typeof value === 'boolean';
}
