import type { ModelMessage, ToolSet } from 'ai';
import { plainCopy } from '../../content/plain-copy.ts';
import type { ToolCall } from '../../content/tool-call.ts';
import { type Decision, decide } from '../../policy/tool-approval.ts';
import { runsAtProvider, type ToolDefinition } from './tool-definitions.ts';

/** What rules are asked with. */
export interface RuleInput {
  /** The agent's options of these names, as the app gave them. */
  toolApproval: unknown;
  tools: unknown;
  toolsContext: unknown;
  runtimeContext: unknown;
  /** The messages that the model was given; made only for the rule that looks. */
  messages: () => readonly ModelMessage[];
}

/** Throws a `TypeError` for rules that no call would meet: a misspelt name, or methods of a class, must not leave a tool unguarded. */
export function checkRules(toolApproval: unknown, tools: ToolSet): void {
  if (typeof toolApproval === 'function' || toolApproval === undefined || toolApproval === null)
    return;
  if (typeof toolApproval !== 'object' || !isPlain(toolApproval)) {
    throw new TypeError('toolApproval is a function, or a plain object with rules of its own.');
  }
  for (const name of Object.keys(toolApproval)) {
    const [, tool] = Object.entries(tools).find(([toolName]) => toolName === name) ?? [];
    if (tool === undefined) {
      throw new TypeError(`toolApproval names '${name}', which is no tool of this agent.`);
    }
    if (runsAtProvider(tool)) {
      throw new TypeError(
        `toolApproval names '${name}', which runs at the provider, where holdpoint can't hold it.`,
      );
    }
  }
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

/** What the app's rules and the tool's own mark say of a call. */
export async function applyRules(
  input: RuleInput,
  definition: ToolDefinition,
  call: ToolCall,
): Promise<Decision> {
  const { toolApproval } = input;
  return decide({
    rule: () =>
      typeof toolApproval === 'function'
        ? ask(toolApproval, [forAllTools(input, definition, call)])
        : askForTool(ownRule(toolApproval, definition.name), input, definition, call),
    mark: () => askForTool(definition.tool.needsApproval ?? false, input, definition, call),
  });
}

/** What the AI SDK gives the one function for all tools. */
function forAllTools(
  { tools, toolsContext, runtimeContext, messages }: RuleInput,
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
  };
}

/** A tool's own status, or what its function says of the call: it gets the input and the AI SDK's options. */
function askForTool(
  rule: unknown,
  { runtimeContext, messages }: RuleInput,
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
  };
  /* A copy: a rule that edits its input must not edit what is shown and what runs. */
  return ask(rule, [plainCopy(input), options]);
}

function ask(rule: Function, input: unknown[]): unknown {
  return Reflect.apply(rule, undefined, input);
}

/* Own properties alone: a tool may be called `constructor`. Getters too: bundlers make them of a module's exports. */
function ownRule(rules: unknown, name: string): unknown {
  if (typeof rules !== 'object' || rules === null || !Object.hasOwn(rules, name)) return undefined;
  return Reflect.get(rules, name);
}
