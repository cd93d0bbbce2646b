import { readInputSchemas } from '../agent.ts';
import { isObject } from '../json/json-value.ts';
import type { UserInputRequest } from '../content/user-input.ts';
import type { FormattedPath, ToolFormats } from './field-format.ts';
import { Secrets } from './mask-secrets.ts';
import { joinFormats, listRequiredSecrets, readSchemaFormats } from './schema-formats.ts';

/** Reads the formats of the arguments of a tool's calls; of the request's call, if there is a request. */
export async function readFormats(
  agent: object | undefined,
  toolName: string,
  { formats = {}, request }: { formats?: ToolFormats | undefined; request?: UserInputRequest },
): Promise<FormattedPath[]> {
  const own = Object.hasOwn(formats, toolName) ? formats[toolName] : undefined;
  const declared = (own ?? []).map(({ path, format }) => ({ path: [...path], format }));
  const schema = agent && (await readInputSchemas(agent, request?.path)).get(toolName);
  const asked = request?.type === 'approval-request' ? request.inputSchema : undefined;
  return joinFormats(declared, findSchemaFormats(schema), readSchemaFormats(asked));
}

/** Reads the formats of the arguments of a request's call, and which of them must not leave the server. */
export async function readSecrets(
  agent: object | undefined,
  request: UserInputRequest,
  formats: ToolFormats | undefined,
): Promise<{ formats: FormattedPath[]; secrets: Secrets }> {
  const { toolCall } = request;
  if (toolCall === undefined) return { formats: [], secrets: new Secrets([], []) };
  const original = request.type === 'approval-request' ? request.edit?.original.input : undefined;
  const found = await readFormats(agent, toolCall.toolName, { formats, request });
  const schema = agent && (await readInputSchemas(agent, request.path)).get(toolCall.toolName);
  /* The schema has made something else of the secret: nobody knows where it is. */
  const isMoved = listRequiredSecrets(schema).some((path) => !hasPath(toolCall.input, path));
  const moved = isMoved ? [{ path: [], format: { type: 'secret' } as const }] : [];
  return { formats: found, secrets: new Secrets([...found, ...moved], [toolCall.input, original]) };
}

function hasPath(value: unknown, [key, ...rest]: readonly string[]): boolean {
  if (key === undefined) return true;
  return isObject(value) && Object.hasOwn(value, key) && hasPath(value[key], rest);
}

const formatsOf = new WeakMap<object, FormattedPath[]>();

/* A tool has its schema as long as its agent, and it may be long. */
function findSchemaFormats(schema: unknown): FormattedPath[] {
  if (!isObject(schema)) return [];
  const known = formatsOf.get(schema) ?? readSchemaFormats(schema);
  formatsOf.set(schema, known);
  return known;
}
