import { asSchema } from 'ai';
import { z } from 'zod';
import type { ServedCall, ServedTool } from './tool-server-options.ts';

/** Runs a tool with what the runtime says its input is; throws when it is not. */
export type RunTool = (input: unknown, call: ServedCall) => Promise<unknown>;

/**
 * What runs each tool, by name: a map, so that no name from outside finds anything else. Throws a `TypeError` for a schema that checks
 * nothing.
 */
export function servedTools(
  tools: Readonly<Record<string, ServedTool<unknown>>>,
): ReadonlyMap<string, RunTool> {
  return new Map(Object.entries(tools).map(([name, tool]) => [name, toolRunner(name, tool)]));
}

function toolRunner(name: string, tool: ServedTool<unknown>): RunTool {
  const { validate } = asSchema(tool.inputSchema);
  if (validate === undefined) {
    throw new TypeError(`The inputSchema of tool '${name}' has no validate: it would let all in.`);
  }
  return async function runTool(input, call) {
    const result = await validate(input);
    if (result.success) return tool.execute(result.value, call);
    throw new Error(`The arguments are not those of ${name}: ${faultOf(result.error)}`);
  };
}

function faultOf(error: Error): string {
  return error instanceof z.core.$ZodError ? z.prettifyError(error) : error.message;
}
