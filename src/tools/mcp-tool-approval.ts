import type { ToolSet } from 'ai';
import { z } from 'zod';
import { mcpMetadataSchema } from '../json/mcp-tool.ts';
import type { ToolApprovalStatus } from '../policy/tool-approval.ts';

/** The parts of a call that a rule for all tools reads. */
type McpRuleInput = {
  /** The call to decide on. */
  toolCall: { toolCallId: string; toolName: string; input: unknown };
  /** The agent's tools. */
  tools: ToolSet | undefined;
  /** The `runtimeContext` of the run. */
  runtimeContext: unknown;
  /** Everybody for whom the agent works; `null` stands for an unknown person. */
  requesters?: readonly unknown[];
};

type Verdict = ToolApprovalStatus | PromiseLike<ToolApprovalStatus>;

/** Options of `mcpToolApproval`. */
interface McpToolApprovalOptions {
  /**
   * The MCP servers whose annotations count, by the `clientName` that your app gave to `createMCPClient`. Give each client its own name.
   * All calls to other servers are treated as destructive. Default: none.
   */
  trustedServers?: readonly string[];
  /** For tools that only read (`readOnlyHint: true`). Default: `not-applicable`, so that the tool's `needsApproval` decides. */
  readOnly?: ToolApprovalStatus;
  /**
   * For read-only tools that may reach the outside world, and carry data there (all without `openWorldHint: false`). Default: as
   * `readOnly`.
   */
  readOnlyOpenWorld?: ToolApprovalStatus;
  /** For tools that change something but destroy nothing (`destructiveHint: false`). Default: `user-approval`. */
  nonDestructive?: ToolApprovalStatus;
  /**
   * For all other MCP tools: also when hints are absent or contradict each other, or the server isn't trusted. Default: `user-approval`.
   */
  destructive?: ToolApprovalStatus;
  /** For tools that are not from an MCP client: a status, or your own rule. It never applies to an MCP tool. Default: `user-approval`. */
  otherTools?: ToolApprovalStatus | ((call: McpRuleInput) => Verdict);
}

/**
 * Makes a rule for `toolApproval` that reads the annotations of MCP tools, as `@ai-sdk/mcp` puts them in a tool's `metadata`. An absent
 * hint counts as the worst: the tool writes, destroys, and reaches the outside world. A server can lie in its annotations, so they count
 * only for the servers that you trust; without options, every call asks. Throws a `TypeError` for an option that it does not have.
 *
 * @example
 * const github = await createMCPClient({ clientName: 'github', transport });
 * const agent = createAgent({
 *   model,
 *   tools: { ...(await github.tools()), search },
 *   toolApproval: mcpToolApproval({ trustedServers: ['github'], otherTools: 'not-applicable' }),
 * });
 */
export function mcpToolApproval({
  trustedServers,
  otherTools = 'user-approval',
  readOnly = 'not-applicable',
  readOnlyOpenWorld = readOnly,
  nonDestructive = 'user-approval',
  destructive = 'user-approval',
  ...unknown
}: McpToolApprovalOptions = {}): (call: McpRuleInput) => Verdict {
  for (const name of Object.keys(unknown))
    throw new TypeError(`mcpToolApproval has no option '${name}'.`);
  const trusted = new Set(trustedServers);
  const statuses = { readOnly, readOnlyOpenWorld, nonDestructive, destructive };
  return (call) => {
    const { toolName } = call.toolCall;
    const mcp = mcpSchema.safeParse(call.tools?.[toolName]?.metadata);
    if (!mcp.success) return typeof otherTools === 'function' ? otherTools(call) : otherTools;
    const { clientName, annotations } = mcp.data;
    const { kind, reason } = trusted.has(clientName) ? classifyTool(annotations) : untrusted;
    const text = `The agent wants to call ${toolName} of the MCP server ${clientName}.`;
    return explainStatus(statuses[kind], { text, reason });
  };
}

const hint = z.boolean().optional();
/* Malformed annotations count as absent. */
const mcpSchema = mcpMetadataSchema.extend({
  annotations: z
    .object({ readOnlyHint: hint, destructiveHint: hint, openWorldHint: hint })
    .catch({}),
});

interface ToolClass {
  kind: 'readOnly' | 'readOnlyOpenWorld' | 'nonDestructive' | 'destructive';
  reason: string;
}

const untrusted: ToolClass = {
  kind: 'destructive',
  reason: 'The annotations of this MCP server are not trusted.',
};

function classifyTool(annotations: z.output<typeof mcpSchema>['annotations']): ToolClass {
  const { readOnlyHint, destructiveHint, openWorldHint } = annotations;
  if (readOnlyHint === true && destructiveHint !== true) {
    const kind = openWorldHint === false ? 'readOnly' : 'readOnlyOpenWorld';
    return { kind, reason: 'The MCP server marks this tool as read-only.' };
  }
  if (destructiveHint === false) {
    return { kind: 'nonDestructive', reason: 'The MCP server marks this tool as non-destructive.' };
  }
  const reason =
    destructiveHint === true
      ? 'The MCP server marks this tool as destructive.'
      : 'The MCP server does not mark this tool as read-only or non-destructive.';
  return { kind: 'destructive', reason };
}

/** A status with the text and the reason of the request, unless the app gave its own. */
function explainStatus(
  status: ToolApprovalStatus,
  shown: { text: string; reason: string },
): ToolApprovalStatus {
  if (status === 'user-approval') return { type: 'user-approval', ...shown };
  const asks = typeof status === 'object' && status.type === 'user-approval';
  return asks ? { ...shown, ...status } : status;
}
