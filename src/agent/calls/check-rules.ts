import type { Tool, ToolSet } from 'ai';
import type { ApprovalTerms } from '../../content/approval-terms.ts';
import {
  findOwnRule,
  parseDemands,
  userApprovalSchema,
  whyNotNameless,
  whyNotStatus,
} from '../../policy/tool-approval.ts';

/** Throws a `TypeError` for tools that the agent could not guard. */
export function checkTools(tools: ToolSet): void {
  for (const [name, tool] of Object.entries(tools)) {
    if (!runsAtProvider(tool) || tool.needsApproval === undefined) continue;
    throw new TypeError(
      `Tool '${name}' runs at the provider, where holdpoint can't hold it: remove its needsApproval.`,
    );
  }
}

/** Whether the provider runs the calls of a tool, and never this agent. */
export function runsAtProvider(tool: Tool): boolean {
  return tool.type === 'provider' && tool.isProviderExecuted;
}

/** Throws a `TypeError` for rules that could never apply: a misspelt name, or the methods of a class, must not leave a tool unguarded. */
export function checkRules(
  toolApproval: unknown,
  tools: ToolSet,
  { mayAnswer, name: agentName }: { mayAnswer: unknown; name: string | undefined },
): void {
  if (typeof toolApproval === 'function' || toolApproval === undefined || toolApproval === null)
    return;
  if (typeof toolApproval !== 'object' || !isPlain(toolApproval)) {
    throw new TypeError('toolApproval must be a function or a plain object of rules.');
  }
  for (const name of Object.keys(toolApproval)) {
    const [, tool] = Object.entries(tools).find(([toolName]) => toolName === name) ?? [];
    if (tool === undefined) {
      throw new TypeError(`toolApproval names '${name}', which is not a tool of this agent.`);
    }
    const rule = findOwnRule(toolApproval, name);
    const fault = whyNotStatus(rule);
    if (fault !== undefined) throw new TypeError(`toolApproval.${name}: ${fault}`);
    if (mayAnswer === undefined && namesApprovers(rule)) {
      throw new TypeError(
        `toolApproval.${name} names approvers: give the agent a mayAnswer, which decides who they are.`,
      );
    }
    const nameless = agentName === undefined ? whyNotNameless(readRuleTerms(rule)) : undefined;
    if (nameless !== undefined) throw new TypeError(`toolApproval.${name}: ${nameless}`);
    if (runsAtProvider(tool)) {
      throw new TypeError(
        `toolApproval names '${name}', which runs at the provider, where holdpoint can't hold it.`,
      );
    }
  }
}

function namesApprovers(rule: unknown): boolean {
  if (typeof rule !== 'object' || rule === null) return false;
  const onExpiry: unknown = Reflect.get(rule, 'onExpiry');
  return (
    'approvers' in rule ||
    (typeof onExpiry === 'object' && onExpiry !== null && 'approvers' in onExpiry)
  );
}

function readRuleTerms(rule: unknown): ApprovalTerms | undefined {
  const { data } = userApprovalSchema.safeParse(rule);
  return data && parseDemands(data).terms;
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}
