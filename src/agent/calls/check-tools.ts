import type { Tool, ToolSet } from 'ai';
import { describeUnknownFields } from '../../policy/input-reads.ts';
import { describeKind } from '../../content/check-settings.ts';
import { findOwnRule, whyNotRule } from '../../policy/tool-approval.ts';
import {
  type Asked,
  listNamedFields,
  parseDemands,
  userApprovalSchema,
  whyNotNameless,
} from '../../policy/user-approval.ts';
import { readReadySchema } from './input-validation.ts';
import { namesApprovers } from './make-request.ts';

/** Throws a `TypeError` for tools that the agent could not guard. */
export function checkTools(tools: ToolSet): void {
  if (!isObject(tools)) {
    throw new TypeError(`tools must be an object of tools by name; got ${describeKind(tools)}.`);
  }
  for (const [name, tool] of Object.entries(tools)) {
    if (!isObject(tool))
      throw new TypeError(`tools.${name} must be a tool; got ${describeKind(tool)}.`);
    if ('parameters' in tool && tool.inputSchema === undefined) {
      throw new TypeError(`tools.${name} has 'parameters', which the AI SDK calls 'inputSchema'.`);
    }
    if (!runsAtProvider(tool) || tool.needsApproval === undefined) continue;
    throw new TypeError(
      `Tool '${name}' runs at the provider, where holdpoint can't hold it: remove its needsApproval.`,
    );
  }
}

/* Without a check, a forgotten `await` would make an agent without tools. */
function isObject(value: unknown): boolean {
  return describeKind(value) === 'object';
}

/** Checks whether the provider runs the calls of a tool, and never this agent. */
export function runsAtProvider(tool: Tool): boolean {
  return tool.type === 'provider' && tool.isProviderExecuted;
}

/**
 * Throws a `TypeError` for rules that could never apply: a misspelt name, or the methods of a class, must not leave a tool unguarded.
 * `tools` is `undefined` for tools that may change, whose names are not known yet.
 */
export function checkRules(
  toolApproval: unknown,
  tools: ToolSet | undefined,
  { mayAnswer, name: agentName }: { mayAnswer: unknown; name: string | undefined },
): void {
  if (typeof toolApproval === 'function' || toolApproval === undefined) return;
  if (typeof toolApproval !== 'object' || toolApproval === null || !isPlain(toolApproval)) {
    throw new TypeError('toolApproval must be a function or a plain object of rules.');
  }
  for (const name of Object.keys(toolApproval)) {
    const [, tool] = Object.entries(tools ?? {}).find(([toolName]) => toolName === name) ?? [];
    if (tool === undefined && tools !== undefined) {
      throw new TypeError(`toolApproval names '${name}', which is not a tool of this agent.`);
    }
    const rule = findOwnRule(toolApproval, name);
    const fault = whyNotRule(rule);
    if (fault !== undefined) throw new TypeError(`toolApproval.${name}: ${fault}`);
    const asked = readAsked(rule);
    if (mayAnswer === undefined && (namesApprovers(asked) || leavesApproversUnset(rule))) {
      throw new TypeError(
        `toolApproval.${name} names approvers: give the agent a mayAnswer, which decides who they are.`,
      );
    }
    const nameless = agentName === undefined ? whyNotNameless(asked.terms) : undefined;
    if (nameless !== undefined) throw new TypeError(`toolApproval.${name}: ${nameless}`);
    const unknown = tool && describeMisnamed(name, tool, asked);
    if (unknown !== undefined) throw new TypeError(`toolApproval.${name}: ${unknown}`);
    if (tool !== undefined && runsAtProvider(tool)) {
      throw new TypeError(
        `toolApproval names '${name}', which runs at the provider, where holdpoint can't hold it.`,
      );
    }
  }
}

/** Reads the terms of a rule that is not a function. */
function readAsked(rule: unknown): Asked {
  /* The name of a status asks for nothing more, and a failed parse would be the slowest part of creating an agent. */
  if (typeof rule !== 'object') return {};
  const { data } = userApprovalSchema.safeParse(rule);
  return data === undefined ? {} : parseDemands(data);
}

/** Describes the mistake in a rule's lists of fields, if the tool's schema is already known. */
function describeMisnamed(
  name: string,
  { inputSchema }: Tool,
  { terms }: Asked,
): string | undefined {
  const fields = listNamedFields(terms);
  if (fields.length === 0) return undefined;
  return describeUnknownFields(fields, readReadySchema(inputSchema), name);
}

/* A list that the app failed to read must not let everybody approve. */
function leavesApproversUnset(rule: unknown): boolean {
  return typeof rule === 'object' && rule !== null && 'approvers' in rule;
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}
