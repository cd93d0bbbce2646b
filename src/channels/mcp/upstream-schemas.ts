import { z } from 'zod';
import { isObject } from '../../content/json-value.ts';

const schemaSchema = z.record(z.string(), z.json());

/**
 * A JSON Schema of a server without its regular expressions: one that takes hours would stop the gate for everybody. The server checks what it is
 * called with itself.
 */
export function omitPatterns(schema: z.infer<typeof schemaSchema>): z.infer<typeof schemaSchema> {
  return schemaSchema.parse(JSON.parse(JSON.stringify(schema), omitFromPart));
}

function omitFromPart(_key: string, part: unknown): unknown {
  if (!isObject(part) || Array.isArray(part)) return part;
  const left = new Map<string, unknown>(Object.entries(part));
  if (typeof left.get('pattern') === 'string') left.delete('pattern');
  if (left.has('patternProperties')) for (const name of byPattern) left.delete(name);
  return Object.fromEntries(left);
}

/* Without the first, the others would refuse what it allows. */
const byPattern = ['patternProperties', 'additionalProperties', 'unevaluatedProperties'];
