import type { Tool } from 'ai';
import { z } from 'zod';
import { formatKeyword, secretKeywords } from './format-keywords.ts';

/** The metadata by which a tool of `@ai-sdk/mcp` is recognised. */
export const mcpMetadataSchema = z.object({ clientName: z.string() });

/** Checks whether `@ai-sdk/mcp`, or a gate, made a tool from what its server says. */
export function isFromMcpServer({ type, metadata }: Tool): boolean {
  return type === 'dynamic' && mcpMetadataSchema.safeParse(metadata).success;
}

/**
 * Omits from a server's JSON Schema the formats in which arguments are shown: an argument that people don't see, or see as another amount,
 * may leak what the model was made to write there.
 */
export function omitFormats(schema: unknown): unknown {
  return JSON.parse(JSON.stringify(schema), (key: string, value: unknown) => {
    return key === formatKeyword || value === secretKeywords[key] ? undefined : value;
  });
}

/** A result that reports the failure of its call. A part that isn't text counts as empty. */
const failureSchema = z.object({
  isError: z.literal(true),
  content: z.array(z.object({ text: z.string() }).catch({ text: '' })).catch([]),
});

/** An MCP server answered that a call failed. The name is the `error.type` of OpenTelemetry's conventions for MCP. */
class McpToolError extends Error {
  override readonly name = 'tool_error';
}

/**
 * The error of a call that a tool of an MCP client ended with `isError: true`; `undefined` for any other output. Another tool may use
 * `isError` for anything.
 */
export function readMcpError(
  tool: { metadata?: unknown } | undefined,
  output: unknown,
): Error | undefined {
  const isMcp = mcpMetadataSchema.safeParse(tool?.metadata).success;
  const { data } = isMcp ? failureSchema.safeParse(output) : {};
  if (data === undefined) return undefined;
  const texts = data.content.map(({ text }) => text).filter((text) => text.trim() !== '');
  return new McpToolError(texts.join('\n') || 'The MCP server reported an error without a text.');
}
