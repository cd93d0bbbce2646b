import { z } from 'zod';
import { isObject } from '../../json/json-value.ts';

const schemaSchema = z.record(z.string(), z.json());

/** A JSON Schema of a server. */
type Schema = z.infer<typeof schemaSchema>;

/**
 * Removes the regular expressions of a server's JSON Schema: one that takes hours would stop the gate for everybody. The server checks its
 * arguments itself.
 */
export function omitPatterns(schema: Schema): Schema {
  return replaceParts(schema, omitPatternsOfPart);
}

/**
 * Removes from a server's JSON Schema the demand for arguments as HTTP headers. The gate makes these headers itself, from the approved
 * arguments: a client's headers could differ.
 */
export function omitHeaders(schema: Schema): Schema {
  return replaceParts(schema, omitHeader);
}

function replaceParts(schema: Schema, replace: (key: string, part: unknown) => unknown): Schema {
  return schemaSchema.parse(JSON.parse(JSON.stringify(schema), replace));
}

function omitPatternsOfPart(_key: string, part: unknown): unknown {
  if (!isObject(part) || Array.isArray(part)) return part;
  const left = new Map<string, unknown>(Object.entries(part));
  if (typeof left.get('pattern') === 'string') left.delete('pattern');
  if (left.has('patternProperties')) for (const name of byPattern) left.delete(name);
  return Object.fromEntries(left);
}

/* Without the first, the others would refuse properties that it allows. */
const byPattern = ['patternProperties', 'additionalProperties', 'unevaluatedProperties'];

/* A property with this name has a schema. */
function omitHeader(key: string, value: unknown): unknown {
  return key === 'x-mcp-header' && typeof value === 'string' ? undefined : value;
}
