import type { ModelMessage, ToolSet } from 'ai';
import { plainCopy } from '../../content/plain-copy.ts';
import {
  type CallPlace,
  plainCall,
  type ToolCall,
  type ToolCallOutcome,
} from '../../content/tool-call.ts';
import type { UserInputRequest } from '../../content/user-input.ts';
import { decide, type Decision } from '../../policy/tool-approval.ts';
import { deepFreeze } from '../../thread/deep-freeze.ts';
import type { ThreadState } from '../../thread/thread-state.ts';
import type { ProposedCall } from '../model/model-step.ts';
import { askAbout, providerRunner, type RequestMaking } from './make-request.ts';
import { type Asking, questionOf } from './question-call.ts';
import {
  ownRunner,
  runsAtProvider,
  type ToolDefinition,
  type ToolDefinitions,
} from './tool-definitions.ts';

/** What happens to one call of a step. */
export type CallVerdict =
  | { type: 'start'; definition: ToolDefinition }
  | { type: 'ask'; request: UserInputRequest }
  | { type: 'end'; outcome: ToolCallOutcome };

/** The inputs of a decision. */
export interface DecisionInput extends RequestMaking {
  tools: ToolDefinitions;
  rules: RuleInput;
  /** How many calls may run at once. */
  limit: number;
}

/** A verdict for each call of a step, in order. When in doubt, a call does not run. */
export async function decideCalls(
  input: DecisionInput,
  calls: readonly ProposedCall[],
  step: number,
): Promise<CallVerdict[]> {
  return Promise.all(
    calls.map(async (call, index): Promise<CallVerdict> => {
      const { error, providerApprovalId } = call;
      if (error !== undefined) return failed(error);
      const place = { step, index };
      if (providerApprovalId !== undefined)
        return askForProvider(input, call, place, providerApprovalId);
      return decideCall(input, call, place);
    }),
  );
}

function failed(error: string): CallVerdict {
  return { type: 'end', outcome: { status: 'failed', error } };
}

/** Rules apply to calls that run here; a call that the provider asks about always needs a person. */
async function askForProvider(
  input: DecisionInput,
  call: ProposedCall,
  place: CallPlace,
  approvalId: string,
): Promise<CallVerdict> {
  const toolCall = plainCall(call);
  const runner = await providerRunner(toolCall.toolName, approvalId);
  return { type: 'ask', request: await askAbout(input, {}, { toolCall, place, runner }) };
}

/** The verdict on a call that runs here. */
export async function decideCall(
  input: DecisionInput,
  call: ToolCall,
  place: CallPlace,
): Promise<CallVerdict> {
  const { toolName } = call;
  const definition = input.tools.get(toolName);
  if (definition === undefined) return failed(`Not run: there is no tool '${toolName}'.`);
  const toolCall = plainCall(call);
  const decision = await applyRules(input.rules, definition, toolCall);
  if (decision.type === 'deny') {
    return { type: 'end', outcome: { status: 'denied', reason: decision.reason } };
  }
  /* A call that asks a question does nothing else, so it does not need an approval too. */
  if (definition.asking !== undefined) return askPerson(input, definition.asking, toolCall);
  switch (decision.type) {
    case 'run':
      return { type: 'start', definition };
    case 'ask':
      return {
        type: 'ask',
        request: await askAbout(input, decision, {
          toolCall,
          place,
          runner: ownRunner(definition),
        }),
      };
  }
}

function askPerson(input: DecisionInput, asking: Asking, toolCall: ToolCall): CallVerdict {
  const asked = questionOf(input, asking, toolCall);
  return 'request' in asked ? { type: 'ask', request: asked.request } : failed(asked.error);
}

/** The agent's part of a decision. */
type AgentRules = Pick<RuleInput, 'toolApproval' | 'tools' | 'toolsContext'> &
  Pick<RequestMaking, 'now' | 'generateId'> & { toolCallConcurrency: number };

/** The decision input for the calls of a step whose model request had the first `messageCount` messages. */
export function decisionInput(
  { toolApproval, tools, toolsContext, now, generateId, toolCallConcurrency }: AgentRules,
  state: ThreadState,
  run: { tools: ToolDefinitions; options: { runtimeContext?: unknown } },
  messageCount: number,
): DecisionInput {
  const messages = firstMessages(state, messageCount);
  const runtimeContext = run.options.runtimeContext ?? {};
  return {
    threadId: state.threadId,
    requestedBy: state.head.requestedBy,
    tools: run.tools,
    rules: { toolApproval, tools, toolsContext, runtimeContext, messages },
    now,
    generateId,
    limit: toolCallConcurrency,
  };
}

/** The first messages of a thread; copied and frozen only for a rule or a tool that reads them. */
export function firstMessages(state: ThreadState, count: number): () => readonly ModelMessage[] {
  let messages: readonly ModelMessage[] | undefined;
  return () => (messages ??= deepFreeze(state.messages.slice(0, count)));
}

/** The inputs of the rules. */
export interface RuleInput {
  /** The agent's options of these names, as the app passed them. */
  toolApproval: unknown;
  tools: unknown;
  toolsContext: unknown;
  runtimeContext: unknown;
  /** The messages of the model request, copied only for a rule that reads them. */
  messages: () => readonly ModelMessage[];
}

/** Throws a `TypeError` for rules that could never apply: a misspelt name, or the methods of a class, must not leave a tool unguarded. */
export function checkRules(toolApproval: unknown, tools: ToolSet): void {
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

/** The decision of the app's rules and the tool's own `needsApproval` on a call. */
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

/** What the AI SDK passes to a single function for all tools. */
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

/** A tool's fixed status, or what its function returns for the input and the AI SDK's options. */
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
