import { type OutputUnit, validate } from '@cfworker/json-schema';
import { readSchema, type SchemaPart } from './read-json-schema.ts';

/** Why a value does not fit a JSON Schema; `undefined` if it fits. The value must be strict JSON; it is not changed. */
export type SchemaCheck = (value: unknown) => string | undefined;

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
      return `a list has more than ${mostUniqueItems} items, too many to compare for uniqueItems`;
    }
    try {
      const { valid, errors } = validate(value, root, draft, limitReferences(parts));
      return valid ? undefined : describeFaults(errors);
    } catch {
      return 'it is too large or too deep to be validated';
    }
  };
}

function hasLongList(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  const items = Object.values(value);
  return (Array.isArray(value) && items.length > mostUniqueItems) || items.some(hasLongList);
}

/* Whatever repeats without end goes through a reference. */
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

function describeFaults(errors: readonly OutputUnit[]): string {
  const inner = errors.filter(({ keyword }) => !outer.has(keyword));
  const named = (inner.length === 0 ? errors : inner).slice(0, mostFaults).map(describeFault);
  return [...new Set(named)].join('; ');
}

function describeFault({ keyword, instanceLocation, error }: OutputUnit): string {
  const text = keyword === 'false' ? 'is not allowed' : error.replaceAll(/^Instance |\.$/g, '');
  const shown = text.length > longestFault ? `${text.slice(0, longestFault)}…` : text;
  return `${describeField(instanceLocation)}: ${shown}`;
}

/* The validator writes a pointer as the fragment of a URI. */
function describeField(location: string): string {
  const names = location
    .split('/')
    .slice(1)
    .map((name) => decodeURIComponent(name).replaceAll('~1', '/').replaceAll('~0', '~'));
  return names.length === 0 ? 'the input' : `field ${JSON.stringify(names.join('.'))}`;
}
