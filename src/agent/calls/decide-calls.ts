import type { ModelMessage } from 'ai';
import { freezeDeep } from '../../json/json-value.ts';
import { listRequesters } from '../../content/requesters.ts';
import {
  type CallPlace,
  pickToolCall,
  type ToolCall,
  type ToolCallOutcome,
  type ToolCallRecord,
} from '../../content/tool-call.ts';
import type { UserInputRequest } from '../../content/user-input.ts';
import { describeUnknownFields, InputReads } from '../../policy/input-reads.ts';
import {
  type CausedRun,
  chooseRunContext,
  type RunContext,
  noContext,
} from '../../policy/run-context.ts';
import { decide, type Decision, type Setting, findOwnRule } from '../../policy/tool-approval.ts';
import { ParameterReads } from '../../policy/watched-reads.ts';
import { whyNotNameless, listNamedFields } from '../../policy/user-approval.ts';
import { listCalls, type ThreadState } from '../../thread/thread-state.ts';
import type { ProposedCall } from '../model/record-step.ts';
import { type FindGrant, findGrant, type GrantSources, type GrantUse } from './find-grant.ts';
import {
  askAbout,
  makeProviderRunner,
  type RequestMaking,
  refuseUnanswerable,
  renderAskedText,
  makeOwnRunner,
} from './make-request.ts';
import { type MadeInputs, whyNotShown } from './made-input.ts';
import { type Asking, makeCallQuestion } from './question-call.ts';
import {
  type AskedRule,
  type PassParameters,
  type RuledCall,
  passToAllTools,
  passToTool,
  type RuleInput,
} from './rule-parameters.ts';
import type { ToolDefinition, ToolDefinitions } from './tool-definitions.ts';

/** The verdict on one call of a step. */
export type CallVerdict =
  | { type: 'start'; definition: ToolDefinition }
  | { type: 'ask'; request: UserInputRequest }
  /** A standing approval decides it, once its use can be recorded together with the start. */
  | { type: 'granted'; use: GrantUse }
  | { type: 'end'; outcome: ToolCallOutcome };

/** The inputs of a decision. */
export interface DecisionInput extends RequestMaking {
  tools: ToolDefinitions;
  rules: RuleInput;
  /** The agent's name. */
  name: string | undefined;
  /** Finds the standing approval for a call. */
  findGrant: FindGrant;
  /** The number of calls that may run at once. */
  limit: number;
  /** Keeps the values that schemas have just made for the calls that may start. */
  made: MadeInputs;
}

/** The agent's rules. */
export interface AgentRules extends Pick<
  RuleInput,
  'toolApproval' | 'tools' | 'toolsContext' | 'callsApart'
> {
  now: () => number;
  report: RequestMaking['report'];
}

/** The agent's part of a decision. */
type DecisionSources = AgentRules &
  Pick<RequestMaking, 'generateId' | 'mayAnswer'> &
  GrantSources & { toolCallConcurrency: number };

/** The decision input for the calls of a step whose model request had the first `messageCount` messages. */
export function makeDecisionInput(
  context: DecisionSources,
  state: ThreadState,
  run: CausedRun & { tools: ToolDefinitions; made: MadeInputs },
  messageCount: number,
): DecisionInput {
  const { now, generateId, mayAnswer, report } = context;
  const { threadId } = state;
  const runContext = chooseRunContext(run, state.head, context.principalId);
  return {
    threadId,
    requestedBy: state.head.requestedBy,
    requesters: state.head.requesters,
    tools: run.tools,
    rules: makeRuleInput(context, state, { context: runContext, messageCount }),
    name: context.name,
    findGrant: (asked, about) => findGrant(context, state, { asked, ...about }),
    now,
    generateId,
    mayAnswer,
    report,
    limit: context.toolCallConcurrency,
    made: run.made,
  };
}

/** The rules' view of a thread whose model request had the first `messageCount` messages. */
function makeRuleInput(
  { toolApproval, tools, toolsContext, callsApart, now, report: reportOf }: AgentRules,
  state: ThreadState,
  { context, messageCount }: { context: RunContext; messageCount: number },
): RuleInput {
  const messages = readFirstMessages(state, messageCount);
  const calls = (): ToolCallRecord[] => listCalls(state, now());
  const { threadId } = state;
  const requesters = listRequesters(state.head);
  const report: RuleInput['report'] = (failure) => reportOf({ threadId, ...failure });
  const given = { toolApproval, tools, toolsContext, callsApart, context };
  return { ...given, requesters, messages, calls, report };
}

/** The first messages of a thread; copied and frozen only for a rule or a tool that reads them. */
export function readFirstMessages(
  state: ThreadState,
  count: number,
): () => readonly ModelMessage[] {
  let messages: readonly ModelMessage[] | undefined;
  return () => (messages ??= freezeDeep(state.messages.slice(0, count)));
}

/** Decides each call of a step, in order. When in doubt, a call does not run. */
export async function decideCalls(
  input: DecisionInput,
  calls: readonly ProposedCall[],
  step: number,
): Promise<CallVerdict[]> {
  const proposed = (): ToolCallRecord[] => calls.map(makeProposedCall(step));
  const rules = { ...input.rules, calls: () => [...input.rules.calls(), ...proposed()] };
  const ofStep = { ...input, rules };
  return Promise.all(calls.map(async (call, index) => decideCall(ofStep, call, { step, index })));
}

function makeProposedCall(step: number) {
  return (call: ProposedCall, index: number): ToolCallRecord => ({
    ...pickToolCall(call),
    inputTypes: call.inputTypes,
    step,
    index,
    status: 'proposed',
    attempts: 0,
  });
}

function makeFailedVerdict(error: string): CallVerdict {
  return { type: 'end', outcome: { status: 'failed', error } };
}

/** Rules apply to calls that run here; a call that the provider asks about always needs a person. */
async function askForProvider(
  input: DecisionInput,
  call: ProposedCall,
  place: CallPlace,
  approvalId: string,
): Promise<CallVerdict> {
  const toolCall = pickToolCall(call);
  const runner = await makeProviderRunner(toolCall.toolName, approvalId);
  return { type: 'ask', request: await askAbout(input, {}, { toolCall, place, runner }) };
}

/** The verdict on a call. */
export async function decideCall(
  input: DecisionInput,
  call: ProposedCall,
  place: CallPlace,
): Promise<CallVerdict> {
  const { toolName, error, providerApprovalId, inputTypes } = call;
  if (error !== undefined) return makeFailedVerdict(error);
  if (providerApprovalId !== undefined) {
    return (
      refuseUnshown(input.rules, call) ?? askForProvider(input, call, place, providerApprovalId)
    );
  }
  const definition = input.tools.get(toolName);
  if (definition === undefined)
    return makeFailedVerdict(`Not run: there is no tool '${toolName}'.`);
  const toolCall = pickToolCall(call);
  const { step, index } = place;
  const ruled = { ...toolCall, inputTypes, step, index };
  const decision = await applyRules(input.rules, definition, ruled);
  if (decision.type === 'deny') {
    return { type: 'end', outcome: { status: 'denied', reason: decision.reason } };
  }
  if (decision.type === 'fail') return makeFailedVerdict(decision.error);
  const { asking } = definition;
  /* A call that asks a question does nothing else, so it does not need an approval too. */
  if (asking !== undefined)
    return refuseUnshown(input.rules, call) ?? askQuestion(input, asking, toolCall);
  if (decision.type === 'run') return { type: 'start', definition };
  const about = { definition, toolCall, place, inputTypes };
  return refuseUnshown(input.rules, call) ?? askUnlessGranted(input, decision, about);
}

function askQuestion(input: DecisionInput, asking: Asking, toolCall: ToolCall): CallVerdict {
  const asked = makeCallQuestion(input, asking, toolCall);
  return 'request' in asked
    ? { type: 'ask', request: asked.request }
    : makeFailedVerdict(asked.error);
}

/** The end of a call that people can't be asked about, because its input can't be shown; `undefined` if it can. */
function refuseUnshown(rules: RuleInput, call: ProposedCall): CallVerdict | undefined {
  const why = whyNotShown(call.input, call.inputTypes);
  if (why === undefined) return undefined;
  const problem = `Not run: people can't be shown the input exactly: ${why}.`;
  const setting = `tools.${call.toolName}.inputSchema`;
  rules.report({ setting, kind: 'invalid', problem, toolCall: pickToolCall(call) });
  return makeFailedVerdict(problem);
}

async function askUnlessGranted(
  input: DecisionInput,
  decision: Extract<Decision, { type: 'ask' }>,
  about: Pick<ToolCallRecord, 'inputTypes'> & {
    definition: ToolDefinition;
    toolCall: ToolCall;
    place: CallPlace;
  },
): Promise<CallVerdict> {
  const { definition, toolCall, place, inputTypes } = about;
  const setting = nameRule(input.rules.toolApproval, toolCall.toolName);
  const problem = input.name === undefined ? whyNotNameless(decision.terms) : undefined;
  if (problem !== undefined) {
    input.rules.report({ setting, kind: 'invalid', problem, toolCall });
    return makeFailedVerdict(`Not run. ${problem}`);
  }
  const { editable, remember } = decision.terms ?? {};
  if ((editable ?? remember) !== undefined) reportMisnamed(input, decision, { setting, ...about });
  const shown = { toolCall, place, runner: makeOwnRunner(definition, input.rules.messages) };
  const request = async () =>
    askAbout(input, decision, { ...shown, toolCall: structuredClone(toolCall) });
  const call = { input: toolCall.input, inputTypes };
  const use = await input.findGrant(decision, { definition, call, request });
  if (use !== undefined && 'grant' in use) return { type: 'granted', use };
  const why = refuseUnanswerable(input, decision, { setting, toolCall });
  if (why !== undefined) return makeFailedVerdict(`Not run. ${why}`);
  const reasons = use === undefined ? [] : [decision.reason ?? [], use.why].flat();
  const asked = use === undefined ? decision : { ...decision, reason: reasons.join(' ') };
  return { type: 'ask', request: await askAbout(input, asked, shown) };
}

/** Reports a rule that names fields which its tool does not have. */
function reportMisnamed(
  { rules }: DecisionInput,
  { terms }: Extract<Decision, { type: 'ask' }>,
  about: { setting: string; definition: ToolDefinition; toolCall: ToolCall },
): void {
  const { setting, toolCall, definition } = about;
  const { name, inputSchema } = definition;
  const problem = describeUnknownFields(listNamedFields(terms), inputSchema, name);
  if (problem !== undefined) rules.report({ setting, kind: 'unknown-field', problem, toolCall });
}

/** The decision of the app's rules and the tool's own `needsApproval` on a call. */
export async function applyRules(
  input: RuleInput,
  definition: ToolDefinition,
  call: RuledCall,
): Promise<Decision> {
  const { toolApproval } = input;
  const { name, tool } = definition;
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

/** Makes a setting for one call: its value, or the function to call, whose reads are recorded. `pass` makes its parameters. */
function makeSetting(
  asked: AskedRule,
  name: string,
  read: () => unknown,
  pass: PassParameters,
): Setting {
  const { input: rules, definition, call } = asked;
  const report: Setting['report'] = (fault) =>
    rules.report({ ...fault, setting: name, toolCall: pickToolCall(call) });
  let value: unknown;
  try {
    value = read();
  } catch (error) {
    /* If its getter throws, asking the setting throws the same error, as a rule that fails does. */
    value = () => {
      throw error;
    };
  }
  if (typeof value !== 'function') return { report, value };
  const reads = new InputReads(definition.inputSchema, call.inputTypes);
  const parameters = new ParameterReads();
  const ask = (): unknown =>
    reads.during(call.input, (input, isWatched) => {
      const watching = { reads, parameters, isWatched };
      return Reflect.apply(value, undefined, pass(asked, watching, input));
    });
  return { report, ask, reads, parameters, toolName: definition.name };
}

/**
 * The question about a call of the open step with an edited input, as the rule asks it for that input; the default text if the rule would
 * not ask. The rule has no `runtimeContext`, as in a worker: the run which asked is over.
 */
export async function renderEditedText(
  rules: AgentRules,
  state: Readonly<ThreadState>,
  { definition, call }: { definition: ToolDefinition; call: ToolCall & CallPlace },
): Promise<string> {
  const messageCount = state.messages.length - 1;
  const seen = makeRuleInput(rules, state, { context: noContext, messageCount });
  const decision = await applyRules(seen, definition, call);
  const reporting = { threadId: state.threadId, report: rules.report };
  const about = { toolCall: call, runner: makeOwnRunner(definition, seen.messages) };
  return renderAskedText(reporting, decision.type === 'ask' ? decision : {}, about);
}
