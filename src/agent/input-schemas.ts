import type { RequestPath } from '../content/tool-call.ts';
import type { ToolsBelow } from './calls/delegation.ts';

/** The JSON Schemas of the tools' inputs, by tool name. */
export type InputSchemas = ReadonlyMap<string, unknown>;

/** The key of the method that gives them. A registered symbol, so that it works across two copies of the package. */
export const inputSchemas: unique symbol = Symbol.for('holdpoint.input-schemas');

/** An agent that can say which inputs its tools take. */
interface DescribingAgent {
  [inputSchemas](path?: RequestPath): Promise<InputSchemas>;
}

/**
 * The input schemas of an agent's tools, or of those of the sub-agent at a path; none for an agent that this package did not make, and where they
 * can't be known.
 */
export async function readInputSchemas(agent: object, path?: RequestPath): Promise<InputSchemas> {
  return isDescribing(agent) ? agent[inputSchemas](path) : new Map();
}

/** The tools of the agent that asks: of a sub-agent, if the request has come through delegated calls; `undefined` if they can't be known. */
export async function findToolsAt(
  path: RequestPath | undefined,
  own: ToolsBelow,
): Promise<ToolsBelow | undefined> {
  let tools: ToolsBelow | undefined = own;
  for (const { toolName } of path ?? [])
    tools = await tools?.get(toolName)?.delegation?.definedTools();
  return tools;
}

/** The input schemas of prepared tools. */
export function pickInputSchemas(tools: ToolsBelow = new Map()): InputSchemas {
  return new Map([...tools].map(([name, { inputSchema }]) => [name, inputSchema]));
}

function isDescribing(agent: object): agent is DescribingAgent {
  return inputSchemas in agent;
}
