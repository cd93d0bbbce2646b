import { z } from 'zod';

const schemaSchema = z.record(z.string(), z.json());

/**
 * A JSON Schema of a server that wants no argument as an HTTP header of the client. The gate makes these headers itself, from the arguments that were
 * approved: those of a client could say something else.
 */
export function omitHeaders(schema: z.infer<typeof schemaSchema>): z.infer<typeof schemaSchema> {
  return schemaSchema.parse(JSON.parse(JSON.stringify(schema), omitHeader));
}

/* A property of this name has a schema. */
function omitHeader(key: string, value: unknown): unknown {
  return key === 'x-mcp-header' && typeof value === 'string' ? undefined : value;
}
