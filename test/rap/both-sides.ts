import { createAgent, memoryStore } from 'holdpoint';
import {
  createCallbackHandler,
  createToolServer,
  remoteTool,
  type ServedTool,
} from 'holdpoint/rap';
import { scriptedModel } from 'holdpoint/testing';
import { z } from 'zod';
import type { RemoteToolOptions } from '../../src/channels/rap/remote-tool.ts';

const inputSchema = z.object({ service: z.string() });
type Input = z.infer<typeof inputSchema>;

/** What differs from test to test. */
interface Sides {
  /** What the tool does on its server. */
  execute: (input: Input, call: Parameters<ServedTool<unknown>['execute']>[1]) => Promise<unknown>;
  /** The metadata of the tool there. */
  metadata?: unknown;
  serverOptions?: Partial<Parameters<typeof createToolServer>[0]>;
  toolOptions?: Partial<RemoteToolOptions<Input>>;
}

/**
 * An agent and a tool server of this package, on two origins that only these two know. `restart` gives the server's address to a
 * new process.
 */
export function bothSides({ execute, metadata, serverOptions = {}, toolOptions = {} }: Sides) {
  const { model, prompts } = scriptedModel([
    { calls: [{ id: 'c1', name: 'deploy', input: { service: 'shop' } }] },
    { text: 'Done.' },
  ]);
  const serves = new Map<string, (request: Request) => Promise<Response>>();
  const net: typeof fetch = async (input, init) => {
    const request = new Request(input, init);
    const serve = serves.get(new URL(request.url).host);
    return serve === undefined ? Response.error() : serve(request);
  };
  const restart = (): void => {
    const { handler } = createToolServer({
      baseUrl: 'https://tools.test',
      fetch: net,
      ...serverOptions,
      tools: { deploy: { inputSchema, execute, metadata } },
    });
    serves.set('tools.test', handler);
  };
  restart();
  const tools = {
    deploy: remoteTool({
      description: 'Deploys a service.',
      inputSchema,
      endpoint: 'https://tools.test/deploy',
      callbackUrl: 'https://agent.test/callback',
      secret: 'a secret of the tests, 32 bytes or more',
      fetch: net,
      ...toolOptions,
    }),
  };
  const agent = createAgent({ model, tools, store: memoryStore(), maxRetries: 0 });
  serves.set('agent.test', createCallbackHandler({ agent, tools }));
  return { agent, tools, prompts, restart };
}
