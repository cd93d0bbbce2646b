import { adviseNearest, refuseUnknown, requireFunctions } from '../content/check-settings.ts';
import type { AgentOptions, SharedAgentOptions } from './agent-options.ts';
import type { RetryOptions } from './run/retry-time.ts';
import { stepSettingNames } from './model/prepare-step.ts';
import type { RunOptions, RunOverrides } from './run/run-options.ts';
import type { ToolRecovery } from './run/tool-recovery.ts';

const ownNames = [
  ...stepSettingNames,
  'maxRetries',
  'headers',
  'prepareStep',
  'stopWhen',
  'timeout',
  'onStepEnd',
] as const satisfies readonly (keyof RunOverrides)[];

/** The settings that a run can have instead of the agent's. */
type RunSettingName = (typeof ownNames)[number];

const runSettingNames: object = Object.fromEntries(ownNames.map((name) => [name, true]));

/** The settings of every agent. */
export const sharedSettings = {
  stopWhen: true,
  onStepEnd: true,
  toolCallConcurrency: true,
  onEnd: true,
  onError: true,
  name: true,
  tools: true,
  toolApproval: true,
  toolRecovery: true,
  toolsContext: true,
  mayAnswer: true,
  principalId: true,
  onUnrecorded: true,
  store: true,
  maxSteps: true,
  leaseMs: true,
  retry: true,
  abortGraceMs: true,
  now: true,
  generateId: true,
  timeout: true,
} satisfies Record<keyof SharedAgentOptions, true>;

/** The settings of `createAgent`. */
export const agentSettings = {
  ...sharedSettings,
  ...runSettingNames,
  model: true,
  instructions: true,
  output: true,
  repairToolCall: true,
  telemetry: true,
  experimental_download: true,
  allowSystemInMessages: true,
} satisfies Record<Exclude<keyof AgentOptions, RunSettingName>, true>;

/** The options of `agent.run`. */
export const runSettings = {
  ...runSettingNames,
  principal: true,
  channel: true,
  abortSignal: true,
  runtimeContext: true,
  whilePending: true,
  messageId: true,
  resumeStopped: true,
  replaces: true,
  onlyWhenDue: true,
} satisfies Record<Exclude<keyof RunOptions, RunSettingName>, true>;

const timeoutSettings = {
  totalMs: true,
  stepMs: true,
  toolMs: true,
  tools: true,
  firstChunkMs: true,
  chunkMs: true,
} satisfies Record<keyof Exclude<AgentOptions['timeout'], number | undefined>, true>;

const retrySettings = {
  maxAttempts: true,
  initialDelayMs: true,
  maxDelayMs: true,
} satisfies Record<keyof RetryOptions, true>;

const recoverySettings = {
  reconcile: true,
  idempotent: true,
  maxAttempts: true,
} satisfies Record<keyof ToolRecovery, true>;

/* The AI SDK's settings that have another name here, and common misnomers of ours. */
const otherNames = new Map([
  ['system', 'instructions'],
  ['onStepFinish', 'onStepEnd'],
  ['onFinish', 'onEnd'],
  ['maxTokens', 'maxOutputTokens'],
  ['needsApproval', 'toolApproval'],
  ['experimental_context', 'toolsContext'],
  ['experimental_telemetry', 'telemetry'],
  ['experimental_repairToolCall', 'repairToolCall'],
  ['experimental_activeTools', 'activeTools'],
  ['context', 'runtimeContext'],
  ['user', 'principal'],
  ['signal', 'abortSignal'],
]);

const functionSettings = [
  'mayAnswer',
  'principalId',
  'now',
  'generateId',
  'onStepEnd',
  'onEnd',
  'onError',
  'onUnrecorded',
  'prepareStep',
  'repairToolCall',
] as const satisfies readonly (keyof AgentOptions)[];

type NestedSettings = Pick<SharedAgentOptions, 'timeout' | 'retry' | 'toolRecovery'>;

/** Throws a `TypeError` for a setting that `createAgent` does not have: ignoring it would silently drop what the app relies on. */
export function refuseUnknownAgentSettings(options: NestedSettings): void {
  refuseUnknownSettings('createAgent', options, agentSettings);
}

/** Throws a `TypeError` for a setting that is not among the `known` ones of `where`. */
export function refuseUnknownSettings(where: string, options: NestedSettings, known: object): void {
  refuseUnknown(where, options, known, (name) =>
    adviseAbout(name, known, {
      elsewhere: runSettings,
      names: new Map([...otherNames, ['id', 'name']]),
    }),
  );
  const given = functionSettings.filter((name) => Reflect.get(options, name) !== undefined);
  requireFunctions(where, options, given);
  const { timeout, retry = {}, toolRecovery = {} } = options;
  refuseUnknownTimeout(timeout);
  refuseUnknown('retry', retry, retrySettings, adviseAbout);
  refuseUnknownRecovery(toolRecovery);
}

function refuseUnknownTimeout(timeout: AgentOptions['timeout']): void {
  if (typeof timeout === 'object') refuseUnknown('timeout', timeout, timeoutSettings, adviseAbout);
}

/** Throws a `TypeError` for a setting that `toolRecovery` does not have for a tool. */
export function refuseUnknownRecovery(
  toolRecovery: NonNullable<AgentOptions['toolRecovery']>,
): void {
  for (const [toolName, recovery = {}] of Object.entries(toolRecovery)) {
    refuseUnknown(`toolRecovery.${toolName}`, recovery, recoverySettings, adviseAbout);
  }
}

/**
 * A copy of a run's options, because the app may change its object while the run works. Throws a `TypeError` for an option that a run does
 * not have.
 */
export function checkRunOptions(
  method: 'run' | 'stream',
  options: RunOptions<unknown>,
): RunOptions<unknown> {
  refuseUnknown(`agent.${method}`, options, runSettings, (name) =>
    adviseAbout(name, runSettings, {
      elsewhere: agentSettings,
      names: new Map([...otherNames, ['id', 'messageId']]),
    }),
  );
  refuseUnknownTimeout(options.timeout);
  return { ...options };
}

/** Checks whether a run has settings instead of the agent's. */
export function hasRunSettings(options: RunOverrides<unknown>): boolean {
  return Object.entries(options).some(
    ([name, value]) => value !== undefined && Object.hasOwn(runSettingNames, name),
  );
}

/** The settings of another place, and common misnomers. */
interface OtherSettings {
  elsewhere?: object;
  names?: ReadonlyMap<string, string>;
}

function adviseAbout(
  name: string,
  known: object,
  { elsewhere = {}, names = new Map() }: OtherSettings = {},
): string {
  if (name === 'prompt' || name === 'messages') {
    return '; pass messages as the first argument of agent.run or agent.stream.';
  }
  const meant = names.get(name) ?? name;
  const isKnown = Object.hasOwn(known, meant) || Object.hasOwn(elsewhere, meant);
  if (!isKnown && /^(experimental_)?on[A-Z]/.test(name)) {
    return '; use agent.on for the events of threads, or agent.stream for those of a run.';
  }
  if (Object.hasOwn(known, meant)) return `; it is called '${meant}' here.`;
  if (Object.hasOwn(elsewhere, meant)) {
    const place = Object.hasOwn(agentSettings, meant) ? 'createAgent' : 'agent.run or agent.stream';
    return meant === name ? `; pass it to ${place}.` : `; pass '${meant}' to ${place}.`;
  }
  return adviseNearest(name, known);
}
