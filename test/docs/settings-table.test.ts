import type { generateText, streamText, ToolLoopAgent, ToolSet } from 'ai';
import type { AgentOptions, RunOptions } from 'holdpoint';
import type { holdPoint } from 'holdpoint/middleware';
import { expect, test } from 'vitest';
import { readSettingRows } from './settings-rows.ts';

type Settings =
  | keyof ConstructorParameters<typeof ToolLoopAgent<unknown, ToolSet>>[0]
  | keyof Parameters<typeof generateText>[0]
  | keyof Parameters<typeof streamText>[0];

/* A setting that the AI SDK adds or drops fails the type check here. */
const names = {
  model: true,
  tools: true,
  toolsContext: true,
  instructions: true,
  prompt: true,
  messages: true,
  allowSystemInMessages: true,
  maxOutputTokens: true,
  temperature: true,
  topP: true,
  topK: true,
  presencePenalty: true,
  frequencyPenalty: true,
  stopSequences: true,
  seed: true,
  reasoning: true,
  providerOptions: true,
  toolChoice: true,
  activeTools: true,
  toolOrder: true,
  headers: true,
  maxRetries: true,
  repairToolCall: true,
  telemetry: true,
  experimental_download: true,
  abortSignal: true,
  timeout: true,
  runtimeContext: true,
  toolApproval: true,
  prepareStep: true,
  stopWhen: true,
  output: true,
  toolCallConcurrency: true,
  onStepEnd: true,
  onEnd: true,
  onError: true,
  onAbort: true,
  onStart: true,
  onStepStart: true,
  onStepError: true,
  onLanguageModelCallStart: true,
  onLanguageModelCallEnd: true,
  onToolExecutionStart: true,
  onToolExecutionEnd: true,
  onChunk: true,
  experimental_transform: true,
  include: true,
  includeRawChunks: true,
  streamRetries: true,
  experimental_refineToolInput: true,
  experimental_toolCallers: true,
  experimental_sandbox: true,
  experimental_steering: true,
  experimental_toolApprovalSecret: true,
  id: true,
  callOptionsSchema: true,
  prepareCall: true,
  system: true,
  onStepFinish: true,
  onFinish: true,
  experimental_telemetry: true,
  experimental_repairToolCall: true,
  experimental_onStart: true,
  experimental_onStepStart: true,
  experimental_onLanguageModelCallStart: true,
  experimental_onLanguageModelCallEnd: true,
  experimental_onToolCallStart: true,
  experimental_onToolCallFinish: true,
  experimental_include: true,
  _internal: true,
} satisfies Record<Settings, true>;

/* The settings that an agent and a run have under the AI SDK's names; a test compares them with the table. */
const ofAgent: Record<Extract<keyof AgentOptions, Settings>, true> = {
  model: true,
  tools: true,
  toolsContext: true,
  instructions: true,
  allowSystemInMessages: true,
  maxOutputTokens: true,
  temperature: true,
  topP: true,
  topK: true,
  presencePenalty: true,
  frequencyPenalty: true,
  stopSequences: true,
  seed: true,
  reasoning: true,
  providerOptions: true,
  toolChoice: true,
  activeTools: true,
  toolOrder: true,
  headers: true,
  maxRetries: true,
  repairToolCall: true,
  telemetry: true,
  experimental_download: true,
  timeout: true,
  toolApproval: true,
  prepareStep: true,
  stopWhen: true,
  output: true,
  toolCallConcurrency: true,
  onStepEnd: true,
  onEnd: true,
  onError: true,
};
const ofRun: Record<Extract<keyof RunOptions, Settings>, true> = {
  maxOutputTokens: true,
  temperature: true,
  topP: true,
  topK: true,
  presencePenalty: true,
  frequencyPenalty: true,
  stopSequences: true,
  seed: true,
  reasoning: true,
  providerOptions: true,
  toolChoice: true,
  activeTools: true,
  toolOrder: true,
  headers: true,
  maxRetries: true,
  abortSignal: true,
  timeout: true,
  runtimeContext: true,
  prepareStep: true,
  stopWhen: true,
  onStepEnd: true,
};

const ofHoldPoint: Record<Extract<keyof Parameters<typeof holdPoint>[0], Settings>, true> = {
  tools: true,
  toolsContext: true,
  allowSystemInMessages: true,
  activeTools: true,
  toolOrder: true,
  maxRetries: true,
  repairToolCall: true,
  telemetry: true,
  experimental_download: true,
  timeout: true,
  toolApproval: true,
  prepareStep: true,
  stopWhen: true,
  toolCallConcurrency: true,
  onStepEnd: true,
  onEnd: true,
  onError: true,
};

const rows = readSettingRows('docs/settings.md');

test("docs/settings.md lists each of the AI SDK's settings once", () => {
  expect(rows.map(({ name }) => name).toSorted()).toEqual(Object.keys(names).toSorted());
});

test.each([
  ['agent', ofAgent],
  ['run', ofRun],
])('docs/settings.md says which settings are options of: %s', (place, settings) => {
  const listed = rows.filter(({ where }) => where.split(', ').includes(place));
  expect(listed.map(({ name }) => name).toSorted()).toEqual(Object.keys(settings).toSorted());
});

test('the guide to a loop of your own says of each setting where it belongs', () => {
  const guide = readSettingRows('docs/guides/your-own-loop.md', '## Settings of the call');
  const table = guide.slice(
    0,
    guide.findLastIndex(({ name }) => name === 'experimental_toolApprovalSecret') + 1,
  );
  const current = Object.keys(names).filter((name) => !isDeprecated(name));
  expect(table.map(({ name }) => name).toSorted()).toEqual(current.toSorted());
  const own = table.filter(({ second }) => !/^no\b/.test(second)).map(({ name }) => name);
  expect(own.toSorted()).toEqual(Object.keys(ofHoldPoint).toSorted());
});

/* The table of settings names what the AI SDK has instead. */
function isDeprecated(name: string): boolean {
  return rows.some(
    (row) => row.name === name && row.where === 'no' && row.second.startsWith('deprecated'),
  );
}
