import type { AgentOptions, RunOptions } from './agent-options.ts';

const agentSettings = {
  name: true,
  model: true,
  instructions: true,
  tools: true,
  toolApproval: true,
  toolRecovery: true,
  toolsContext: true,
  mayAnswer: true,
  onUnrecorded: true,
  store: true,
  maxSteps: true,
  leaseMs: true,
  retry: true,
  abortGraceMs: true,
  now: true,
  generateId: true,
  timeout: true,
  maxOutputTokens: true,
  temperature: true,
  topP: true,
  topK: true,
  presencePenalty: true,
  frequencyPenalty: true,
  stopSequences: true,
  seed: true,
  reasoning: true,
  maxRetries: true,
  headers: true,
  providerOptions: true,
  toolChoice: true,
  activeTools: true,
  toolOrder: true,
  repairToolCall: true,
  telemetry: true,
  experimental_download: true,
  allowSystemInMessages: true,
} satisfies Record<keyof AgentOptions, true>;

const runSettings = {
  principal: true,
  channel: true,
  abortSignal: true,
  signal: true,
  runtimeContext: true,
  whilePending: true,
  messageId: true,
  onlyWhenDue: true,
} satisfies Record<keyof RunOptions, true>;

/* Settings of the AI SDK that have another name here, and what people write for ours. */
const otherNames = new Map([
  ['system', 'instructions'],
  ['stopWhen', 'maxSteps'],
  ['maxTokens', 'maxOutputTokens'],
  ['needsApproval', 'toolApproval'],
  ['experimental_context', 'toolsContext'],
  ['experimental_telemetry', 'telemetry'],
  ['experimental_repairToolCall', 'repairToolCall'],
  ['experimental_activeTools', 'activeTools'],
  ['context', 'runtimeContext'],
  ['user', 'principal'],
  ['id', 'messageId'],
]);

/** Throws a `TypeError` for a setting that `createAgent` does not have: ignored, it would not do what the app relies on. */
export function refuseUnknownAgentSettings(options: object): void {
  refuseUnknown('createAgent', options, agentSettings, runSettings);
}

/** The same for the options of a run. */
export function refuseUnknownRunSettings(method: 'run' | 'stream', options: object): void {
  refuseUnknown(`agent.${method}`, options, runSettings, agentSettings);
}

function refuseUnknown(where: string, options: object, known: object, elsewhere: object): void {
  for (const [name, value] of Object.entries(options)) {
    if (value === undefined || Object.hasOwn(known, name)) continue;
    throw new TypeError(`${where} has no setting '${name}'${advice(name, known, elsewhere)}`);
  }
}

function advice(name: string, known: object, elsewhere: object): string {
  if (Object.hasOwn(elsewhere, name)) {
    return 'model' in known
      ? '; give it to agent.run or agent.stream.'
      : '; give it to createAgent.';
  }
  const other = otherNames.get(name);
  if (other !== undefined && Object.hasOwn(known, other)) return `; it is called '${other}' here.`;
  const [nearest] = Object.keys(known)
    .map((candidate) => ({ candidate, distance: editDistance(name, candidate) }))
    .toSorted((one, another) => one.distance - another.distance);
  const isNear = nearest !== undefined && nearest.distance <= Math.max(2, name.length / 3);
  return isNear ? `; did you mean '${nearest.candidate}'?` : '.';
}

/** How many letters must be added, left out or changed to make one text of the other. */
function editDistance(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_each, index) => index);
  for (const [index, letter] of one.toLowerCase().split('').entries()) {
    const next = [index + 1];
    for (const [place, each] of other.toLowerCase().split('').entries()) {
      const changed = (row[place] ?? 0) + (letter === each ? 0 : 1);
      next.push(Math.min((row[place + 1] ?? 0) + 1, (next[place] ?? 0) + 1, changed));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}
