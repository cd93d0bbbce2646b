import type { ModelMessage, ToolSet } from 'ai';
import type { ApprovalTerms } from '../../content/approval-terms.ts';
import { copyPlain } from '../../content/plain-copy.ts';
import type { SettingFailure } from '../../content/setting-failure.ts';
import {
  type CallPlace,
  pickToolCall,
  type ToolCall,
  type ToolCallRecord,
  type ToolCallStatus,
} from '../../content/tool-call.ts';
import { parseDemands, userApprovalSchema, whyNotNameless } from '../../policy/approval-rule.ts';
import { InputReads } from '../../policy/input-reads.ts';
import type { RunContext } from '../../policy/run-context.ts';
import { decide, type Decision, type Setting, whyNotStatus } from '../../policy/tool-approval.ts';
import { freezeDeep } from '../../thread/deep-freeze.ts';
import { runsAtProvider, type ToolDefinition } from './tool-definitions.ts';

/** The inputs of the rules. */
export interface RuleInput {
  /** The agent's options of these names, as the app passed them. */
  toolApproval: unknown;
  tools: unknown;
  toolsContext: unknown;
  context: RunContext;
  /** Everybody for whom the agent works. */
  requesters: readonly unknown[];
  /** The messages of the model request, copied only for a rule that reads them. */
  messages: () => readonly ModelMessage[];
  /** The thread's calls before the one to decide on, copied only for a rule that reads them. */
  calls: () => readonly ToolCallRecord[];
  /** Reports what is wrong with a rule. */
  report: (failure: Omit<SettingFailure, 'threadId'>) => void;
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

/** The decision of the app's rules and the tool's own `needsApproval` on a call. */
export async function applyRules(
  rules: RuleInput,
  definition: ToolDefinition,
  call: ToolCall & CallPlace,
): Promise<Decision> {
  const { toolApproval } = rules;
  const { name, tool } = definition;
  const input = { ...rules, calls: () => rules.calls().filter((other) => isBefore(other, call)) };
  const asked = { input, definition, call };
  const isForAll = typeof toolApproval === 'function';
  const rule = (): unknown => (isForAll ? toolApproval : findOwnRule(toolApproval, name));
  const mark = (): unknown => tool.needsApproval ?? false;
  const pass = isForAll ? passToAllTools : passToTool;
  return decide({
    rule: makeSetting(asked, nameRule(toolApproval, name), rule, pass),
    mark: makeSetting(asked, `tools.${name}.needsApproval`, mark, passToTool),
  });
}

/** The setting that holds the rule for a tool. */
export function nameRule(toolApproval: unknown, toolName: string): string {
  return typeof toolApproval === 'function' ? 'toolApproval' : `toolApproval.${toolName}`;
}

/** What a rule is asked about. */
interface AskedRule {
  input: RuleInput;
  definition: ToolDefinition;
  call: ToolCall;
}

/** A setting, read for one call: its value, or the function to ask, with what it reads recorded. `pass` makes its parameters. */
function makeSetting(
  asked: AskedRule,
  name: string,
  read: () => unknown,
  pass: (asked: AskedRule, reads: InputReads, input: unknown) => unknown[],
): Setting {
  const { input: rules, definition, call } = asked;
  const report: Setting['report'] = (fault) =>
    rules.report({ ...fault, setting: name, toolCall: pickToolCall(call) });
  const value = readOrThrowLater(read);
  if (typeof value !== 'function') return { report, value };
  const reads = new InputReads(definition.inputSchema);
  const ask = (): unknown =>
    reads.during(call.input, (input) => Reflect.apply(value, undefined, pass(asked, reads, input)));
  return { report, ask, reads, toolName: definition.name };
}

/** Reads a setting. If its getter throws, asking the setting throws the same error, as a rule that fails does. */
function readOrThrowLater(read: () => unknown): unknown {
  try {
    return read();
  } catch (error) {
    return () => {
      throw error;
    };
  }
}

/** Whether a call counts as done when a rule decides on another: that one itself, and later ones that have not started, do not. */
function isBefore({ step, index, status }: ToolCallRecord, call: CallPlace): boolean {
  if (step !== call.step || index < call.index) return true;
  return index > call.index && isDecided(status);
}

function isDecided(status: ToolCallStatus): boolean {
  switch (status) {
    case 'proposed':
    case 'waiting':
      return false;
    case 'approved':
    case 'started':
    case 'deferred':
    case 'indeterminate':
    case 'succeeded':
    case 'failed':
    case 'denied':
    case 'forwarded':
      return true;
  }
}

/** What the AI SDK passes to a single function for all tools. */
function passToAllTools(
  { input: rules, definition, call }: AskedRule,
  reads: InputReads,
  input: unknown,
): unknown[] {
  const { toolCallId, toolName } = call;
  const dynamic = definition.tool.type === 'dynamic' ? { dynamic: true } : {};
  const toolCall = { type: 'tool-call', toolCallId, toolName, input, ...dynamic };
  const { tools, toolsContext } = rules;
  return [withCircumstances(rules, reads, { toolCall, tools, toolsContext })];
}

/** What the AI SDK passes to a function for one tool. */
function passToTool(
  { input: rules, definition: { context }, call: { toolCallId } }: AskedRule,
  reads: InputReads,
  input: unknown,
): unknown[] {
  const options = { toolCallId, context, toolContext: context };
  return [input, withCircumstances(rules, reads, options)];
}

/** What every rule gets besides its call. Copies are made only for a rule that reads them. */
function withCircumstances(
  { context, requesters, messages, calls }: RuleInput,
  reads: InputReads,
  options: object,
): object {
  return {
    ...options,
    runtimeContext: reads.watchedContext(context),
    get requesters() {
      return freezeDeep(copyPlain(requesters));
    },
    get messages() {
      return messages();
    },
    get calls() {
      return freezeDeep(calls());
    },
  };
}

/* Own properties only: a tool may be called `constructor`. Including getters: bundlers make them of a module's exports. */
function findOwnRule(rules: unknown, name: string): unknown {
  if (typeof rules !== 'object' || rules === null || !Object.hasOwn(rules, name)) return undefined;
  return Reflect.get(rules, name);
}
