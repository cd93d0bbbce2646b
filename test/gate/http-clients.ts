import { createMCPClient } from '@ai-sdk/mcp';
import { type Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { Client as OldClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as OldHttpTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Gate } from 'holdpoint/mcp';
import { onTestFinished } from 'vitest';
import { readTexts, TestClient } from './gate-world.ts';

/** The address of a gate that is served in this process. */
export const gateUrl = 'https://gate.example/mcp';

export type Fetch = typeof fetch;

/** Sends requests to a gate as this user, whom a proxy has signed in. */
export function fetchAs(gate: Gate, user: string): Fetch {
  return async (url, init) => {
    const request = new Request(url, init);
    request.headers.set('x-user', user);
    return gate.handler(request);
  };
}

/** The app's `authorize`: whom the proxy has signed in. */
export function authorize({ request }: { request: Request }) {
  const principal = request.headers.get('x-user');
  return principal === null ? undefined : { principal };
}

/** A client that is connected over HTTP. */
export interface HttpClient {
  call(name: string, input: Record<string, unknown>): Promise<string[]>;
  close(): Promise<void>;
}

type ClientOptions = NonNullable<ConstructorParameters<typeof Client>[1]>;

const names = { name: 'claude-code', version: '1' };

/** A client of SDK 2 over HTTP. */
export async function connectHttp(
  fetch: Fetch,
  mode: 'auto' | 'legacy',
  options: ClientOptions = {},
): Promise<Client> {
  const client = new TestClient(names, { ...options, versionNegotiation: { mode } });
  await client.connect(new StreamableHTTPClientTransport(new URL(gateUrl), { fetch }));
  await client.listTools();
  return client;
}

/** Every kind of client over HTTP. */
export const httpClients: Record<string, (fetch: Fetch) => Promise<HttpClient>> = {
  'SDK 2 with protocol 2026-07-28': async (fetch) => wrap(await connectHttp(fetch, 'auto')),
  'SDK 2 with an older protocol': async (fetch) => wrap(await connectHttp(fetch, 'legacy')),
  'SDK 1': async (fetch) => {
    const client = new OldClient(names);
    await client.connect(new OldHttpTransport(new URL(gateUrl), { fetch }));
    onTestFinished(async () => client.close());
    await client.listTools();
    return wrap(client);
  },
  '@ai-sdk/mcp': async (fetch) => {
    const client = await createMCPClient({ transport: { type: 'http', url: gateUrl, fetch } });
    onTestFinished(async () => client.close());
    const tools = await client.tools();
    return {
      call: async (name, input) => {
        const options = { toolCallId: '1', messages: [], context: {} };
        return readTexts(await tools[name]?.execute?.(input, options));
      },
      close: async () => client.close(),
    };
  },
};

function wrap(client: Pick<Client | OldClient, 'callTool' | 'close'>): HttpClient {
  return {
    call: async (name, input) => readTexts(await client.callTool({ name, arguments: input })),
    close: async () => client.close(),
  };
}
