import { tool } from 'ai';
import {
  type Agent,
  type AgentOptions,
  createAgent,
  memoryStore,
  type ThreadStore,
} from 'holdpoint';
import { agentTool } from 'holdpoint/tools';
import { z } from 'zod';
import type { ScriptedStep } from './script.ts';
import { scriptedModel } from './scripted-model.ts';
import type { AgentToolOptions } from '../../src/tools/agent-tool.ts';

/** A payment that a tool really made. */
export interface Payment {
  to: string;
  idempotencyKey: unknown;
}

/** A scripted call of `pay`. */
export function pay(id: string, to: string) {
  return { id, name: 'pay', input: { to } };
}

/** A scripted call of an agent tool. */
export function ask(id: string, name: string, prompt: string) {
  return { id, name, input: { prompt } };
}

/** Agents that work for each other, each with a scripted model, and the payments that they made. */
export class AgentOffice {
  readonly payments: Payment[] = [];
  readonly store: ThreadStore;

  constructor(store: ThreadStore = memoryStore()) {
    this.store = store;
  }

  /** A tool that pays. */
  get pay() {
    return tool({
      description: 'Pays somebody.',
      inputSchema: z.object({ to: z.string() }),
      execute: async ({ to }, options) => {
        this.payments.push({ to, idempotencyKey: Reflect.get(options, 'idempotencyKey') });
        return `paid ${to}`;
      },
    });
  }

  /** An agent whose model plays a script. */
  agent(name: string, script: ScriptedStep[], options: Partial<AgentOptions> = {}): Agent {
    const { model } = scriptedModel(script);
    return createAgent({ name, model, store: this.store, maxRetries: 0, ...options });
  }

  /** An agent that pays once people have approved it. */
  payer(name: string, script: ScriptedStep[], options: Partial<AgentOptions> = {}): Agent {
    const tools = { pay: this.pay };
    return this.agent(name, script, { tools, toolApproval: { pay: 'user-approval' }, ...options });
  }

  /** An agent as a tool of another. */
  tool(agent: Agent, options: Partial<AgentToolOptions<{ prompt: string }>> = {}) {
    return agentTool(agent, { description: `Has ${agent.name} do it.`, ...options });
  }
}
