import { type Agent, createAgent, memoryStore } from 'holdpoint';
import {
  createCallbackHandler,
  createToolServer,
  remoteTool,
  type RemoteToolOptions,
  type ToolServerOptions,
} from 'holdpoint/rap';
import { scriptedModel } from 'holdpoint/testing';
import { z } from 'zod';

const inputSchema = z.object({ service: z.string() });

interface BothSides {
  agent: Agent;
  prompts: ReturnType<typeof scriptedModel>['prompts'];
  /** Resolves when the tool's signal aborts. */
  stopped: Promise<unknown>;
  /** Replaces the tool server by a new one that remembers nothing. */
  restart: () => void;
}

/** An agent and a tool server, both of this package, on two origins of a network that only these two use. */
export function bothSides(
  serverOptions: Partial<ToolServerOptions> = {},
  toolOptions: Partial<RemoteToolOptions<{ service: string }>> = {},
): BothSides {
  const { model, prompts } = scriptedModel([
    { calls: [{ id: 'c1', name: 'deploy', input: { service: 'shop' } }] },
    { text: 'Done.' },
  ]);
  const handlers = new Map<string, (request: Request) => Promise<Response>>();
  const network: typeof fetch = async (input, init) => {
    const request = new Request(input, init);
    const handler = handlers.get(new URL(request.url).host);
    return handler === undefined ? Response.error() : handler(request);
  };
  const stopped = Promise.withResolvers<unknown>();
  const restart = (): void => {
    const { handler } = createToolServer({
      baseUrl: 'https://tools.test',
      fetch: network,
      ...serverOptions,
      tools: {
        deploy: {
          inputSchema,
          async execute({ service }, { askUser, signal }) {
            signal.addEventListener('abort', stopped.resolve);
            const choices = ['Staging', 'Production', 'Nowhere'];
            const prompt = `Where to, ${service}?`;
            const { label } = await askUser({ prompt, choices, default: 2 });
            return label === 'Nowhere' ? 'Error: The user said no.' : `${service} is on ${label}`;
          },
        },
      },
    });
    handlers.set('tools.test', handler);
  };
  restart();
  const tools = {
    deploy: remoteTool({
      description: 'Deploys a service.',
      inputSchema,
      endpoint: 'https://tools.test/deploy',
      callbackUrl: 'https://agent.test/callback',
      secret: 'a secret of the tests, 32 bytes or more',
      fetch: network,
      ...toolOptions,
    }),
  };
  const agent = createAgent({ model, tools, store: memoryStore(), maxRetries: 0 });
  handlers.set('agent.test', createCallbackHandler({ agent, tools }));
  return { agent, prompts, stopped: stopped.promise, restart };
}
