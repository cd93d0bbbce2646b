import { asSchema, jsonSchema, type Tool, type ToolSet } from 'ai';
import type { ProviderCall } from './provider-call.ts';

/* Of a tool, a model is given this much and no `execute`. A symbol is in no JSON, so no provider ever gets the mark. */
const inertMark = Symbol.for('holdpoint.inert');

/**
 * The same tools for the `tools` of a call whose model is held by `holdPoint`, which takes no others: they give types to the call and
 * to its messages, and say which tools the model may use in this call. They can't be run and ask for nothing, so that no history that a
 * client sends makes the AI SDK run one by itself.
 *
 * @example
 * const agent = new ToolLoopAgent({ model: held, tools: inertTools(tools) });
 */
export function inertTools<TOOLS extends ToolSet>(tools: TOOLS): TOOLS {
  const inert = { ...tools };
  for (const [name, tool] of Object.entries(tools)) {
    Object.defineProperty(inert, name, { value: marked(inertTool(tool)), enumerable: true });
  }
  return inert;
}

/** Whether a tool that a model is given was made by `inertTools`. */
export function isInert(tool: NonNullable<ProviderCall['tools']>[number]): boolean {
  return tool.type === 'function' && Reflect.get(Object(tool.providerOptions), inertMark) === true;
}

function marked(tool: ToolSet[string]): ToolSet[string] {
  return { ...tool, providerOptions: Object.assign({}, { [inertMark]: true }) };
}

/** A tool as it is described, and nothing else. Its input was checked before; a schema that transforms would not take its own output. */
export function inertTool({
  title,
  metadata,
  description,
  inputSchema,
  ...tool
}: Tool): ToolSet[string] {
  const schema = async (): Promise<unknown> => asSchema(inputSchema).jsonSchema;
  const described = {
    title,
    metadata,
    description: typeof description === 'string' ? description : undefined,
    inputSchema: jsonSchema(schema),
  };
  return tool.type === 'dynamic' ? { ...described, type: 'dynamic' } : described;
}
