import { type Agent, readInputSchemas } from '../agent.ts';
import { compileSchemaCheck, type SchemaCheck } from '../json/json-schema-check.ts';
import { copyPlain, isObject } from '../json/json-value.ts';
import type { UserInputRequest } from '../content/user-input.ts';
import type { FormattedPath, ToolFormats } from './field-format.ts';
import { readAt, Secrets } from './mask-secrets.ts';
import { joinFormats, readSchemaFormats } from './schema-formats.ts';

/** Reads the formats of the arguments of a tool's calls, and its schema; of the request's call, if there is a request. */
export async function readFormats(
  agent: object | undefined,
  toolName: string,
  { formats = {}, request }: { formats?: ToolFormats | undefined; request?: UserInputRequest },
): Promise<{ formats: FormattedPath[]; schema: unknown }> {
  const own = Object.hasOwn(formats, toolName) ? formats[toolName] : undefined;
  const declared = (own ?? []).map(({ path, format }) => ({ path: [...path], format }));
  const schema = agent && (await readInputSchemas(agent, request?.path)).get(toolName);
  const asked = request?.type === 'approval-request' ? request.inputSchema : undefined;
  const joined = joinFormats(declared, findSchemaFormats(schema), readSchemaFormats(asked));
  return { formats: joined, schema };
}

/** Reads the formats of the arguments of a request's call, and which of them must not leave the server. */
export async function readSecrets(
  agent: Pick<Agent, 'thread'> | undefined,
  request: UserInputRequest,
  formats: ToolFormats | undefined,
): Promise<{ formats: FormattedPath[]; secrets: Secrets }> {
  const { toolCall } = request;
  if (toolCall === undefined) return { formats: [], secrets: new Secrets([], []) };
  const { toolName, input } = toolCall;
  const original = request.type === 'approval-request' ? request.edit?.original.input : undefined;
  const tool = await readFormats(agent, toolName, { formats, request });
  const readGiven = async (): Promise<unknown> => findGiven(agent, request);
  const secrets = await findCallSecrets(tool, { inputs: [input, original], readGiven });
  return { formats: tool.formats, secrets };
}

/** Reads the formats of the arguments of a lost call, and which of them must not leave the server. */
export async function readLostSecrets(
  agent: object | undefined,
  { toolName, input, given }: { toolName: string; input: unknown; given?: unknown },
  formats: ToolFormats | undefined,
): Promise<{ formats: FormattedPath[]; secrets: Secrets }> {
  const tool = await readFormats(agent, toolName, { formats });
  const readGiven = async (): Promise<unknown> => given;
  const secrets = await findCallSecrets(tool, { inputs: [input], readGiven });
  return { formats: tool.formats, secrets };
}

/** A call whose secrets are found. */
interface ShownCall {
  /** Its inputs, the present one first. */
  inputs: readonly unknown[];
  /** Finds what the schema was given. */
  readGiven: () => Promise<unknown>;
}

/**
 * Finds the secrets of a call. Where its tool's schema has made something else of a secret, nobody can tell where it is now: the whole input
 * is one then.
 */
async function findCallSecrets(
  { formats, schema }: { formats: readonly FormattedPath[]; schema: unknown },
  { inputs, readGiven }: ShownCall,
): Promise<Secrets> {
  const [input] = inputs;
  const paths = formats.filter(({ format }) => format.type === 'secret').map(({ path }) => path);
  const absent = paths.filter((path) => readAt(input, path).length === 0);
  if (absent.length === 0) return new Secrets(formats, inputs);
  const given = await readGiven();
  const isMoved = absent.some((path) => readAt(given, path).length > 0) || !fits(schema, input);
  const moved: FormattedPath[] = isMoved ? [{ path: [], format: { type: 'secret' } }] : [];
  return new Secrets([...formats, ...moved], [...inputs, given]);
}

/** Finds what the schema of a request's call was given, in its thread. That of a sub-agent's call is in another thread. */
async function findGiven(
  agent: Pick<Agent, 'thread'> | undefined,
  { threadId, toolCall, path }: UserInputRequest,
): Promise<unknown> {
  if (path !== undefined) return undefined;
  try {
    const calls = (await agent?.thread(threadId))?.calls;
    return calls?.find(({ toolCallId }) => toolCallId === toolCall?.toolCallId)?.given;
  } catch {
    return undefined;
  }
}

/* A tool has its schema as long as its agent, and it may be long. */
const checks = new WeakMap<object, SchemaCheck>();
const formatsOf = new WeakMap<object, FormattedPath[]>();

/* A schema takes what it has left as it was. */
function fits(schema: unknown, input: unknown): boolean {
  if (!isObject(schema)) return schema !== false;
  try {
    const check = checks.get(schema) ?? compileSchemaCheck(copyPlain(schema));
    checks.set(schema, check);
    return check(input) === undefined;
  } catch {
    return false;
  }
}

function findSchemaFormats(schema: unknown): FormattedPath[] {
  if (!isObject(schema)) return [];
  const known = formatsOf.get(schema) ?? readSchemaFormats(schema);
  formatsOf.set(schema, known);
  return known;
}
