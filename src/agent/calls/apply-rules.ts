import type { ModelMessage, ToolSet } from 'ai';
import { plainCopy } from '../../content/plain-copy.ts';
import type { CallPlace, ToolCall, ToolCallRecord } from '../../content/tool-call.ts';
import { decide, type Decision, whyNotStatus } from '../../policy/tool-approval.ts';
import { deepFreeze } from '../../thread/deep-freeze.ts';
import { runsAtProvider, type ToolDefinition } from './tool-definitions.ts';

/** The inputs of the rules. */
export interface RuleInput {
  /** The agent's options of these names, as the app passed them. */
  toolApproval: unknown;
  tools: unknown;
  toolsContext: unknown;
  runtimeContext: unknown;
  /** The messages of the model request, copied only for a rule that reads them. */
  messages: () => readonly ModelMessage[];
  /** The thread's calls before the one to decide on, copied only for a rule that reads them. */
  calls: () => readonly ToolCallRecord[];
}

/** Throws a `TypeError` for rules that could never apply: a misspelt name, or the methods of a class, must not leave a tool unguarded. */
export function checkRules(toolApproval: unknown, tools: ToolSet, mayAnswer: unknown): void {
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
    const rule = ownRule(toolApproval, name);
    const fault = whyNotStatus(rule);
    if (fault !== undefined) throw new TypeError(`toolApproval.${name}: ${fault}`);
    if (mayAnswer === undefined && namesApprovers(rule)) {
      throw new TypeError(
        `toolApproval.${name} names approvers: give the agent a mayAnswer, which decides who they are.`,
      );
    }
    if (runsAtProvider(tool)) {
      throw new TypeError(
        `toolApproval names '${name}', which runs at the provider, where holdpoint can't hold it.`,
      );
    }
  }
}

function namesApprovers(rule: unknown): boolean {
  return typeof rule === 'object' && rule !== null && 'approvers' in rule;
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

/** The decision of the app's rules and the tool's own `needsApproval` on a call. */
export async function applyRules(
  rules: RuleInput,
  definition: ToolDefinition,
  call: ToolCall & CallPlace,
): Promise<Decision> {
  const { toolApproval } = rules;
  const input = { ...rules, calls: () => rules.calls().filter((other) => isBefore(other, call)) };
  return decide({
    rule: () =>
      typeof toolApproval === 'function'
        ? ask(toolApproval, [forAllTools(input, definition, call)])
        : askForTool(ownRule(toolApproval, definition.name), input, definition, call),
    mark: () => askForTool(definition.tool.needsApproval ?? false, input, definition, call),
  });
}

/** Whether a call counts as done when a rule decides on another: that one itself, and later ones that have not started, do not. */
function isBefore({ step, index, status }: ToolCallRecord, call: CallPlace): boolean {
  if (step !== call.step || index < call.index) return true;
  return index > call.index && status !== 'proposed' && status !== 'waiting';
}

/** What the AI SDK passes to a single function for all tools. */
function forAllTools(
  { tools, toolsContext, runtimeContext, messages, calls }: RuleInput,
  { tool }: ToolDefinition,
  { toolCallId, toolName, input }: ToolCall,
): object {
  const dynamic = tool.type === 'dynamic' ? { dynamic: true } : {};
  return {
    toolCall: { type: 'tool-call', toolCallId, toolName, input: plainCopy(input), ...dynamic },
    tools,
    toolsContext,
    runtimeContext,
    get messages() {
      return messages();
    },
    get calls() {
      return deepFreeze(calls());
    },
  };
}

/** A tool's fixed status, or what its function returns for the input and the AI SDK's options. */
function askForTool(
  rule: unknown,
  { runtimeContext, messages, calls }: RuleInput,
  { context }: ToolDefinition,
  { toolCallId, input }: ToolCall,
): unknown {
  if (typeof rule !== 'function') return rule;
  const options = {
    toolCallId,
    context,
    toolContext: context,
    runtimeContext,
    get messages() {
      return messages();
    },
    get calls() {
      return deepFreeze(calls());
    },
  };
  /* A copy: a rule that edits its input must not change what is shown or what runs. */
  return ask(rule, [plainCopy(input), options]);
}

function ask(rule: Function, input: unknown[]): unknown {
  return Reflect.apply(rule, undefined, input);
}

/* Own properties only: a tool may be called `constructor`. Including getters: bundlers make them of a module's exports. */
function ownRule(rules: unknown, name: string): unknown {
  if (typeof rules !== 'object' || rules === null || !Object.hasOwn(rules, name)) return undefined;
  return Reflect.get(rules, name);
}
