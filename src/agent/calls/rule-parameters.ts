import type {
  GenericToolApprovalFunction,
  ModelMessage,
  SingleToolApprovalFunction,
  ToolExecutionOptions,
  ToolSet,
  TypedToolCall,
} from 'ai';
import type { SettingFailure } from '../../content/check-settings.ts';
import { listUnshown } from '../../json/json-form.ts';
import { copyPlain, freezeDeep } from '../../json/json-value.ts';
import {
  type CallPlace,
  type ToolCall,
  type ToolCallRecord,
  toolCallRecordSchema,
  type ToolCallStatus,
} from '../../content/tool-call.ts';
import type { InputReads } from '../../policy/input-reads.ts';
import type { RunContext } from '../../policy/run-context.ts';
import type { RuleHistory } from '../../policy/tool-approval.ts';
import {
  callNames,
  type NamesOf,
  type ParameterReads,
  type PassedNames,
  watchReads,
} from '../../policy/watched-reads.ts';
import type { ToolDefinition } from './tool-definitions.ts';

/** The inputs of the rules. */
export interface RuleInput {
  /** The agent's options of these names, as the app passed them. */
  toolApproval: unknown;
  tools: unknown;
  toolsContext: unknown;
  /** The reason why a rule can't rely on `calls`; absent where it can. */
  callsApart?: string | undefined;
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

/** The call about which a rule is asked. */
export interface AskedRule {
  input: RuleInput;
  definition: ToolDefinition;
  call: RuledCall;
}

/** A call that rules are asked about. */
export type RuledCall = ToolCall & CallPlace & Pick<ToolCallRecord, 'inputTypes'>;

/** The record of a rule's reads, and whether the rule gets watched views or plain values. */
interface Watching {
  reads: InputReads;
  parameters: ParameterReads;
  isWatched: boolean;
}

/** Makes the parameters of a rule. */
export type PassParameters = (asked: AskedRule, watching: Watching, input: unknown) => unknown[];

const people = { principal: 'requesters', user: 'requesters', requestedBy: 'requesters' };
const ofHistory = { requesters: true, calls: true } satisfies Record<keyof RuleHistory, true>;

const ofAllTools: PassedNames = {
  part: 'its options',
  names: {
    toolCall: true,
    tools: true,
    toolsContext: true,
    runtimeContext: true,
    messages: true,
    ...ofHistory,
  } satisfies Record<
    keyof Parameters<GenericToolApprovalFunction<ToolSet, never, unknown>>[0] | keyof RuleHistory,
    true
  >,
  others: {
    ...people,
    input: 'toolCall.input',
    args: 'toolCall.input',
    toolName: 'toolCall.toolName',
    toolCallId: 'toolCall.toolCallId',
    toolContext: 'toolsContext',
    context: 'runtimeContext',
    experimental_context: 'runtimeContext',
  },
};

/* The AI SDK's `needsApproval` gets a `context`, and its types name what only `execute` gets. */
const ofOneTool: PassedNames = {
  part: 'its options',
  names: {
    toolCallId: true,
    messages: true,
    context: true,
    toolContext: true,
    runtimeContext: true,
    abortSignal: true,
    experimental_sandbox: true,
    ...ofHistory,
  } satisfies Record<
    | keyof Parameters<SingleToolApprovalFunction<unknown, unknown, unknown>>[1]
    | keyof ToolExecutionOptions<unknown>
    | keyof RuleHistory,
    true
  >,
  others: { ...people, toolsContext: 'toolContext', experimental_context: 'runtimeContext' },
};

const ofToolCall: PassedNames = {
  part: 'toolCall',
  names: {
    type: true,
    toolCallId: true,
    toolName: true,
    input: true,
    dynamic: true,
    invalid: true,
    error: true,
    title: true,
    providerExecuted: true,
    providerMetadata: true,
    toolMetadata: true,
  } satisfies Record<NamesOf<TypedToolCall<ToolSet>>, true>,
  others: callNames,
};

const ofCalls: PassedNames = {
  part: 'calls',
  names: toolCallRecordSchema.shape,
  others: { ...callNames, result: 'outcome', output: 'outcome' },
};

/** Checks whether a call counts as done when a rule decides on another: that one itself, and later ones that have not started, do not. */
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

/** Makes the parameters that the AI SDK passes to a single function for all tools. */
export function passToAllTools(asked: AskedRule, watching: Watching, input: unknown): unknown[] {
  const { definition, call } = asked;
  const { toolCallId, toolName } = call;
  const { type, title, metadata } = definition.tool;
  const ofTool = {
    title,
    toolMetadata: metadata,
    ...(type === 'dynamic' ? { dynamic: true } : {}),
  };
  const made = { type: 'tool-call', toolCallId, toolName, input, ...ofTool };
  const toolCall = watch(watching, made, ofToolCall);
  const { tools, toolsContext } = asked.input;
  const options = addCircumstances(asked, watching, { toolCall, tools, toolsContext });
  return [watch(watching, options, ofAllTools)];
}

/** Makes the parameters that the AI SDK passes to a function for one tool. */
export function passToTool(asked: AskedRule, watching: Watching, input: unknown): unknown[] {
  const { context } = asked.definition;
  const { toolCallId } = asked.call;
  const options = addCircumstances(asked, watching, { toolCallId, context, toolContext: context });
  return [input, watch(watching, options, ofOneTool)];
}

function watch({ parameters, isWatched }: Watching, part: object, passed: PassedNames): object {
  return isWatched ? parameters.watch(part, passed) : part;
}

/** Adds the parameters that every rule gets with its call. Copies are made only for a rule that reads them. */
function addCircumstances(
  { input: { callsApart, context, requesters, messages, calls }, call }: AskedRule,
  { reads, parameters, isWatched }: Watching,
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
      if (callsApart !== undefined) parameters.note('calls', callsApart);
      const earlier = freezeDeep(calls().filter((other) => isBefore(other, call)));
      if (!isWatched) return earlier;
      return Object.freeze(
        earlier.map((each) => parameters.watch(watchInput(each, parameters), ofCalls)),
      );
    },
  };
}

/** Makes a view of a call that records reads of its input, if JSON has no form for a part of it: missing parts must not decide. */
function watchInput(call: ToolCallRecord, parameters: ParameterReads): ToolCallRecord {
  const [unshown] = listUnshown(call.inputTypes);
  if (unshown === undefined) return call;
  const { toolCallId, toolName } = call;
  const why = `It reads the input of call ${toolCallId} of tool '${toolName}', a part of which JSON has no form for (${unshown.type}).`;
  return watchReads(call, (name) => {
    if (name === 'input') parameters.note('calls.input', why);
  });
}
