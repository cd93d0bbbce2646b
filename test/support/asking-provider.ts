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
