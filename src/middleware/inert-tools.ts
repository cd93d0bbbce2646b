import { asSchema, jsonSchema, type Tool, type ToolSet } from 'ai';
import { HoldpointError } from '../errors.ts';
import type { ModelCallOptions } from './model-call.ts';

type ModelTool = NonNullable<ModelCallOptions['tools']>[number];

/* The AI SDK passes a tool's `providerOptions` to the model. JSON drops symbols, so the mark never reaches a provider. */
const inertMark = Symbol.for('holdpoint.inert');

/**
 * Copies tools without `execute` and without approval rules, for the `tools` of a call whose model is wrapped with `holdPoint`, which
 * accepts no others. They give types to the call and its messages, and say which tools the model may use in this call. The AI SDK can't
 * execute them, with any history that a client sends.
 *
 * @example
 * const agent = new ToolLoopAgent({ model: held, tools: inertTools(tools) });
 */
export function inertTools<TOOLS extends ToolSet>(tools: TOOLS): TOOLS {
  const inert = { ...tools };
  for (const [name, tool] of Object.entries(tools)) {
    Object.defineProperty(inert, name, { value: markInert(makeInertTool(tool)), enumerable: true });
  }
  return inert;
}

function markInert(tool: ToolSet[string]): ToolSet[string] {
  return { ...tool, providerOptions: Object.assign({}, { [inertMark]: true }) };
}

/**
 * Makes a tool's description without its code. The JSON Schema replaces a schema that could change the input a second time, and is not
 * compared with the value which that schema made.
 */
export function makeInertTool({
  title,
  metadata,
  description,
  inputSchema,
  ...tool
}: Tool): ToolSet[string] {
  const { validate } = asSchema(inputSchema);
  const schema = async (): Promise<unknown> => asSchema(inputSchema).jsonSchema;
  const described = {
    title,
    metadata,
    description: typeof description === 'string' ? description : undefined,
    inputSchema: jsonSchema(schema, validate && { validate: accept }),
  };
  return tool.type === 'dynamic' ? { ...described, type: 'dynamic' } : described;
}

/**
 * The names of the tools that a model call allows; `undefined` for a call without tools, which allows all. Throws `not-allowed` for tools
 * that `own` doesn't have, and for tools that are not inert: the AI SDK could execute those without an approval.
 */
export function listActiveTools({ tools }: ModelCallOptions, own: object): string[] | undefined {
  const unknown = (tools ?? []).filter(({ name }) => !Object.hasOwn(own, name));
  refuse(
    unknown,
    'holdPoint does not have them; pass them to holdPoint({ tools }), which runs them',
  );
  const live = (tools ?? []).filter((tool) => !isInert(tool));
  refuse(live, 'they are not inert, so the AI SDK could run them without an approval');
  return tools?.map(({ name }) => name);
}

function isInert(tool: ModelTool): boolean {
  return tool.type === 'function' && Reflect.get(Object(tool.providerOptions), inertMark) === true;
}

function refuse(tools: readonly ModelTool[], why: string): void {
  if (tools.length === 0) return;
  const names = tools.map(({ name }) => name).join(', ');
  throw new HoldpointError(
    'not-allowed',
    `The model call can't use tools ${names}: ${why}. In a call of a model with holdPoint, pass inertTools(tools) or no tools.`,
  );
}

function accept(value: unknown): { success: true; value: unknown } {
  return { success: true, value };
}
