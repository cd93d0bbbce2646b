import type { Tool } from 'ai';
import type { Agent } from '../agent/agent.ts';
import type { AgentOptions } from '../agent/agent-options.ts';
import type { ToolRunOptions } from '../agent/calls.ts';
import { createAgent } from '../agent/create-agent.ts';
import type { ProviderResponse } from '../agent/model.ts';
import type { ToolRecovery } from '../agent/run.ts';
import type { ToolCall } from '../content/tool-call.ts';
import { inertTool } from './inert-tools.ts';
import type { ProviderModel } from './model-call-options.ts';

/** The settings of the agent of a guarded call. */
export type SingleCallSettings = Pick<
  AgentOptions,
  'onUnrecorded' | 'leaseMs' | 'abortGraceMs' | 'now' | 'generateId'
> & { store: NonNullable<AgentOptions['store']> };

/** The call that the agent's model proposes, and its tool. */
export interface SingleCall {
  call: ToolCall;
  tool: Tool;
  recovery: ToolRecovery | undefined;
  execute: (input: unknown, options: ToolRunOptions) => Promise<unknown>;
}

/** An agent for the thread of one call: its model proposes this call once and then ends the turn. */
export function singleCallAgent(
  { call, tool, recovery, execute }: SingleCall,
  settings: SingleCallSettings,
): Agent {
  const { toolName } = call;
  return createAgent({
    ...settings,
    model: proposingModel(call),
    /* With the tool's own description: a person's approval to retry the call is bound to it. */
    tools: Object.fromEntries([[toolName, { ...inertTool(tool), execute }]]),
    toolRecovery: Object.fromEntries(recovery === undefined ? [] : [[toolName, recovery]]),
    telemetry: { isEnabled: false },
    /* The step with the call, and an empty one that leaves the thread idle. */
    maxSteps: 2,
  });
}

const nothing = { total: 0, noCache: 0, cacheRead: 0, cacheWrite: 0, text: 0, reasoning: 0 };

/* Decides from the history, so that the call is proposed only once however many processes run the thread. */
function proposingModel({ toolCallId, toolName, input }: ToolCall): ProviderModel {
  return {
    specificationVersion: 'v4',
    provider: 'holdpoint',
    modelId: 'guard',
    supportedUrls: {},
    async doGenerate({ prompt }): Promise<ProviderResponse> {
      const isProposed = prompt.some(({ role }) => role === 'assistant');
      return {
        content: isProposed
          ? []
          : [{ type: 'tool-call', toolCallId, toolName, input: JSON.stringify(input) }],
        finishReason: { unified: isProposed ? 'stop' : 'tool-calls', raw: undefined },
        usage: { inputTokens: nothing, outputTokens: nothing },
        warnings: [],
      };
    },
    async doStream() {
      throw new TypeError('This model does not stream.');
    },
  };
}
