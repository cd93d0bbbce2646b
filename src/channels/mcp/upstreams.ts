import { Client } from '@modelcontextprotocol/client';
import type { Tool as ToolDefinition, Transport } from '@modelcontextprotocol/server';
import { dynamicTool, jsonSchema, type ToolSet } from 'ai';
import type { Agent } from '../../agent/agent.ts';
import type { ToolRunOptions } from '../../agent/calls.ts';
import { isObject } from '../../content/json-value.ts';
import type { ThreadStore } from '../../thread/thread-store.ts';
import type { GateProblem } from './gate-problem.ts';

/** An MCP server behind a gate. */
export interface UpstreamOptions {
  /** Opens a connection to it. */
  transport: () => Transport;
}

/** The servers behind a gate. */
export interface Upstreams {
  /** Their tools, under the gate's names. Another object after each change. */
  readonly tools: ToolSet;
  /** Their definitions, as clients get them. */
  readonly listed: readonly ToolDefinition[];
  /** Calls the listener after each change. Returns a function that removes it. */
  onChange(listener: () => void): () => void;
  /** Resolves when each server is known, or was tried once. Never rejects. */
  whenListed(): Promise<void>;
  /** The agents that hold requests about the servers themselves. */
  readonly agents: readonly Agent[];
  close(): Promise<void>;
}

interface Opening {
  upstreams: Readonly<Record<string, UpstreamOptions>>;
  store: ThreadStore;
  now: () => number;
  report: (problem: GateProblem) => void;
}

/** Connects to the servers behind a gate. */
export function openUpstreams({ upstreams, report }: Opening): Upstreams {
  let tools: ToolSet = {};
  let listed: ToolDefinition[] = [];
  const listeners = new Set<() => void>();
  const clients: Client[] = [];
  const names = Object.keys(upstreams);
  const open = async (upstream: string, { transport }: UpstreamOptions): Promise<void> => {
    const client = new Client({ name: 'holdpoint-gate', version: '1' });
    clients.push(client);
    await client.connect(transport());
    const { tools: definitions } = await client.listTools();
    for (const definition of definitions) {
      const name = names.length === 1 ? definition.name : `${upstream}__${definition.name}`;
      listed = [...listed, { ...definition, name }];
      tools = {
        ...tools,
        [name]: dynamicTool({
          description: definition.description ?? '',
          inputSchema: jsonSchema(definition.inputSchema),
          needsApproval: true,
          metadata: { clientName: upstream, ...(definition.annotations && { annotations: {} }) },
          execute: async (input, options: ToolRunOptions) =>
            client.callTool({
              name: definition.name,
              arguments: isObject(input) ? { ...input } : {},
              _meta: { 'holdpoint/idempotencyKey': options.idempotencyKey },
            }),
        }),
      };
    }
    for (const listener of listeners) listener();
  };
  const opening = Promise.all(
    Object.entries(upstreams).map(([name, options]) =>
      open(name, options).catch((error: unknown) =>
        report({ upstream: name, problem: 'It can not be reached.', error }),
      ),
    ),
  );
  return {
    get tools() {
      return tools;
    },
    get listed() {
      return listed;
    },
    onChange: (listener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    whenListed: async () => void (await opening),
    agents: [],
    close: async () => void (await Promise.allSettled(clients.map(async (each) => each.close()))),
  };
}
