import type { ToolDefinitions } from './calls/tool-definitions.ts';

/** The JSON Schemas of the tools' inputs, by tool name. */
export type InputSchemas = ReadonlyMap<string, unknown>;

/** The key of the method that gives them. A registered symbol, so that it works across two copies of the package. */
export const inputSchemas: unique symbol = Symbol.for('holdpoint.input-schemas');

/** An agent that can say which inputs its tools take. */
interface DescribingAgent {
  [inputSchemas](): Promise<InputSchemas>;
}

/** The input schemas of an agent's tools; none for an agent that this package did not make. */
export async function readInputSchemas(agent: object): Promise<InputSchemas> {
  return isDescribing(agent) ? agent[inputSchemas]() : new Map();
}

/** The input schemas of prepared tools. */
export function pickInputSchemas(tools: ToolDefinitions): InputSchemas {
  return new Map([...tools].map(([name, { inputSchema }]) => [name, inputSchema]));
}

function isDescribing(agent: object): agent is DescribingAgent {
  return inputSchemas in agent;
}
