import { asSchema, type Tool } from 'ai';
import { toCanonicalText } from '../../policy/digest.ts';

/** The JSON Schema of a tool's input. */
export interface SchemaJson {
  /** A copy for one agent: providers may change it. */
  schema: unknown;
  /** Its canonical text (RFC 8785). */
  canonical: string;
}

/** The texts of the JSON Schema of one schema object. */
interface SchemaTexts {
  plain: string;
  canonical: string;
}

/*
 * Making the JSON Schema of a Zod schema takes most of the time of creating an agent, and a server may create one for each request. Texts
 * are kept, not objects, so that nobody can change what another agent shows and hashes.
 */
const known = new WeakMap<object, SchemaTexts>();

/** The JSON Schema of a tool's input. It is made once for a schema that does not change. */
export async function readSchemaJson(inputSchema: Tool['inputSchema']): Promise<SchemaJson> {
  const isFixed = isStandardSchema(inputSchema);
  const texts = isFixed ? known.get(inputSchema) : undefined;
  if (texts !== undefined) return parseSchemaTexts(texts);
  const schema: unknown = await asSchema(inputSchema).jsonSchema;
  const canonical = toCanonicalText(schema);
  if (isFixed) known.set(inputSchema, { plain: JSON.stringify(schema), canonical });
  return { schema, canonical };
}

function parseSchemaTexts({ plain, canonical }: SchemaTexts): SchemaJson {
  return { schema: JSON.parse(plain), canonical };
}

/* These, such as Zod's, don't change. The AI SDK's `jsonSchema` wraps an object that an app may change. */
function isStandardSchema(inputSchema: unknown): inputSchema is object {
  const isObject = typeof inputSchema === 'object' && inputSchema !== null;
  return isObject && '~standard' in inputSchema;
}
