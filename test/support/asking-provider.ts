import { MockLanguageModelV4 } from 'ai/test';
import { type Agent, type AgentOptions, createAgent, memoryStore } from 'holdpoint';
import { type ScriptedStep, scriptedModel } from 'holdpoint/testing';
import type { ScriptedCall } from './script.ts';
import { streamingAgent } from './streaming-agent.ts';
import { type Ran, travelTools } from './travel-world.ts';

/** What a provider would open, and by what it asks whether it may. */
export function opens(id: string, title: string, approvalId = `ask-${id}`): ScriptedCall {
  return { id, name: 'mcp.open', input: { title }, atProvider: { approvalId } };
}

/** What a provider has opened. */
export function opened(id: string, title: string): ScriptedCall {
  const output = { type: 'call', name: 'open', output: `opened ${title}` };
  return { id, name: 'mcp.open', input: { title }, atProvider: { output } };
}

/** The two ways to run an agent, which must come to the same. */
export const modes: { mode: string; speak: (agent: Agent) => Agent }[] = [
  { mode: 'run', speak: (agent) => agent },
  { mode: 'stream', speak: streamingAgent },
];

/** An agent whose provider asks before it runs its own calls; `agent` makes another one on the same store. */
export async function askingProvider(
  script: ScriptedStep[],
  speak: (agent: Agent) => Agent = (agent) => agent,
) {
  const { model, prompts } = scriptedModel(script);
  const store = memoryStore();
  const ran: Ran[] = [];
  const agentWith = (options: Partial<AgentOptions> = {}): Agent =>
    speak(
      createAgent({
        model,
        store,
        tools: travelTools(ran),
        toolApproval: { book: 'user-approval' },
        ...options,
      }),
    );
  const agent = agentWith();
  return { agent, agentWith, prompts, ran, store, thread: await agent.thread('t') };
}

/** The request of a response that shows this text. */
export function requestAbout<REQUEST extends { toolCall?: unknown }>(
  { approvalRequests }: { approvalRequests: readonly REQUEST[] },
  text: string,
): REQUEST {
  const request = approvalRequests.find(({ toolCall }) => JSON.stringify(toolCall).includes(text));
  if (request === undefined) throw new Error(`Nothing is asked about ${text}.`);
  return request;
}

/** What a model says, as its provider puts it. */
export type Said = Awaited<ReturnType<MockLanguageModelV4['doGenerate']>>['content'];

const usage = {
  inputTokens: { total: 3, noCache: 3, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: 10, text: 10, reasoning: undefined },
};

/** A model that says these things, one a request, and is done then. */
export function saying(...said: Said[]): MockLanguageModelV4 {
  return new MockLanguageModelV4({
    doGenerate: async () => ({
      content: said.shift() ?? [{ type: 'text', text: 'Done.' }],
      finishReason: { unified: 'stop', raw: undefined },
      usage,
      warnings: [],
    }),
  });
}

/** A call of the provider's own. */
export function providerCall(toolCallId: string, input = '{"title":"Bug"}', toolName = 'mcp.open') {
  const call = { type: 'tool-call', toolCallId, toolName, input } as const;
  return { ...call, providerExecuted: true, dynamic: true };
}

/** The provider's question whether it may run a call. */
export function asks(toolCallId: string, approvalId: string) {
  return { type: 'tool-approval-request', approvalId, toolCallId } as const;
}
