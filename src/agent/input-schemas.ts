import type { RequestPath } from '../content/tool-call.ts';
import { findDoor, type InputSchemas } from './agent-door.ts';
import type { ToolsBelow } from './calls/delegation.ts';

/**
 * Reads the input schemas of an agent's tools, or of the sub-agent at a path; none for an agent that this package did not make, and if they
 * are unknown.
 */
export async function readInputSchemas(agent: object, path?: RequestPath): Promise<InputSchemas> {
  return findDoor(agent)?.inputSchemas(path) ?? new Map();
}

/**
 * Finds the tools of the agent that asks: of a sub-agent, if the request has come through delegated calls; `undefined` if they are unknown.
 */
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
