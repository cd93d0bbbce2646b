import type { Tool } from '@modelcontextprotocol/client';
import { z } from 'zod';
import { hashText } from '../../content/crypto.ts';
import { quoteInertLine } from '../../content/inert-text.ts';
import { toCanonicalText } from '../../policy/digest.ts';

/** An object as it is in a definition. */
export const definedSchema = z.record(z.string(), z.json());

/** A tool as the gate lists it, with the accepted parts of its definition. */
export const pinnedToolSchema = z.object({
  name: z.string().regex(/^[A-Za-z0-9][\w.-]{0,127}$/),
  title: z.string().optional(),
  description: z.string().optional(),
  inputSchema: definedSchema,
  outputSchema: definedSchema.optional(),
  annotations: definedSchema.optional(),
});

/** A tool as the gate lists it. */
export type PinnedTool = z.infer<typeof pinnedToolSchema>;

/** Checks whether the server calls a tool read-only. */
export function isReadOnly({ annotations }: PinnedTool): boolean {
  return annotations?.['readOnlyHint'] === true;
}

/* The limits of a definition, in characters of JSON and in levels. */
const longestDefinition = 65_536;
const deepestDefinition = 100;
/** The maximum number of tools of a server. */
export const mostTools = 1_000;

/** Reads the tools of a listing that can be pinned, and the problems of the others. */
export function readListing(listed: readonly Tool[]): { tools: PinnedTool[]; problems: string[] } {
  const problems: string[] = [];
  const byName = new Map<string, PinnedTool | undefined>();
  for (const each of listed.slice(0, mostTools)) {
    const name = quoteInertLine(each.name.slice(0, 200));
    if (isDeeper(each, deepestDefinition)) {
      problems.push(
        `The tool ${name} is left out: its definition is nested more than ${deepestDefinition} deep.`,
      );
      continue;
    }
    const { success, data } = pinnedToolSchema.safeParse(each);
    if (!success || !isCanonical(data))
      problems.push(`The tool ${name} is left out: its name or definition is not valid.`);
    else if (JSON.stringify(data).length > longestDefinition)
      problems.push(
        `The tool ${name} is left out: its definition has over ${longestDefinition} characters.`,
      );
    else if (byName.has(data.name)) {
      byName.set(data.name, undefined);
      problems.push(`The tool ${name} is left out: it is listed twice.`);
    } else byName.set(data.name, data);
  }
  if (listed.length > mostTools)
    problems.push(`It lists ${listed.length} tools: only ${mostTools} are used.`);
  const tools = [...byName.values()].filter((each) => each !== undefined);
  return { tools, problems };
}

/** Checks whether a JSON value has more levels than this. */
export function isDeeper(value: unknown, depth: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return depth === 0 || Object.values(value).some((each) => isDeeper(each, depth - 1));
}

/* A lone surrogate has no canonical text, and an agent with such a tool could call none. */
function isCanonical(tool: PinnedTool): boolean {
  try {
    return toCanonicalText(tool) !== '';
  } catch {
    return false;
  }
}

/** The digest of a definition. */
export async function digestTool(tool: PinnedTool): Promise<string> {
  return hashText(`holdpoint/mcp-tool/v1\0${toCanonicalText(tool)}`);
}

/** Checks whether two definitions are the same. */
export function isSameTool(one: PinnedTool, other: PinnedTool): boolean {
  return toCanonicalText(one) === toCanonicalText(other);
}
