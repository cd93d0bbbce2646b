import { asSchema, jsonSchema, type Tool, type ToolSet } from 'ai';

/**
 * The same tools for the `tools` of a call whose model is held by `holdPoint`: they give types to the call and to its messages, and
 * nothing else. They can't be run and ask for nothing, so that no history that a client sends makes the AI SDK run one by itself.
 *
 * @example
 * const agent = new ToolLoopAgent({ model: held, tools: inertTools(tools) });
 */
export function inertTools<TOOLS extends ToolSet>(tools: TOOLS): TOOLS {
  const inert = { ...tools };
  for (const [name, tool] of Object.entries(tools)) {
    Object.defineProperty(inert, name, { value: inertTool(tool), enumerable: true });
  }
  return inert;
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
