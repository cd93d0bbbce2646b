import type { ModelMessage, ToolSet } from 'ai';
import type { ToolCall } from '../content/tool-call.ts';
import { type Decision, decide } from '../policy/tool-approval.ts';
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

/** Throws a `TypeError` for a rule that no call would meet: a misspelt name must not leave a tool unguarded. */
export function checkRules(toolApproval: unknown, tools: ToolSet): void {
  if (typeof toolApproval !== 'object' || toolApproval === null) return;
  for (const name of Object.keys(toolApproval)) {
    const tool = Object.getOwnPropertyDescriptor(tools, name)?.value;
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

/** What the app's rules and the tool's own mark say of a call. */
export async function applyRules(
  input: RuleInput,
  { name, tool, context }: ToolDefinition,
  call: ToolCall,
): Promise<Decision> {
  const { toolApproval, tools, toolsContext, runtimeContext, messages } = input;
  const { toolCallId, toolName } = call;
  const conversation = {
    get messages() {
      return messages();
    },
  };
  const answer = (rule: unknown): unknown =>
    typeof rule === 'function'
      ? Reflect.apply(rule, undefined, [
          copyOf(call.input),
          withMessages({ toolCallId, context, toolContext: context, runtimeContext }, conversation),
        ])
      : rule;
  return decide({
    rule: () => {
      if (typeof toolApproval !== 'function') return answer(ownRule(toolApproval, name));
      const dynamic = tool.type === 'dynamic' ? { dynamic: true } : {};
      const toolCall = {
        type: 'tool-call',
        toolCallId,
        toolName,
        input: copyOf(call.input),
        ...dynamic,
      };
      return Reflect.apply(toolApproval, undefined, [
        withMessages({ toolCall, tools, toolsContext, runtimeContext }, conversation),
      ]);
    },
    mark: () => answer(tool.needsApproval ?? false),
  });
}

/* Own properties alone: a tool may be called `constructor`. */
function ownRule(rules: unknown, name: string): unknown {
  if (typeof rules !== 'object' || rules === null || !Object.hasOwn(rules, name)) return undefined;
  return Object.getOwnPropertyDescriptor(rules, name)?.value;
}

/* A rule that edits its input must not edit what is shown and what runs. */
function copyOf(input: unknown): unknown {
  return structuredClone(input);
}

function withMessages(options: object, conversation: object): object {
  return Object.defineProperties(options, Object.getOwnPropertyDescriptors(conversation));
}
