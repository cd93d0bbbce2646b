import { z } from 'zod';
import { isObject } from '../../json/json-value.ts';

const schemaSchema = z.record(z.string(), z.json());

/** A JSON Schema of a server. */
type Schema = z.infer<typeof schemaSchema>;

/**
 * A JSON Schema of a server without its regular expressions: one that takes hours would stop the gate for everybody. The server checks what it is
 * called with itself.
 */
export function omitPatterns(schema: Schema): Schema {
  return replaceParts(schema, omitPatternsOfPart);
}

/**
 * A JSON Schema of a server that wants no argument as an HTTP header of the client. The gate makes these headers itself, from the arguments that were
 * approved: those of a client could say something else.
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

/* Without the first, the others would refuse what it allows. */
const byPattern = ['patternProperties', 'additionalProperties', 'unevaluatedProperties'];

/* A property of this name has a schema. */
function omitHeader(key: string, value: unknown): unknown {
  return key === 'x-mcp-header' && typeof value === 'string' ? undefined : value;
}
