import { createToolServer, type ToolServer, type ServedTool } from 'holdpoint/rap';
import { onTestFinished } from 'vitest';
import { z } from 'zod';
import { Clock } from './clock.ts';
import { type Callback, post, Runtime } from './runtime.ts';

/** What a tool of a test does. */
type Work = (
  call: Parameters<ServedTool<unknown>['execute']>[1],
  input: Record<string, unknown>,
) => unknown;

const endpoint = 'http://tools.internal:8080/tools';

/** A tool server and a runtime that knows it. Time passes when the test says so. */
export interface World {
  server: ToolServer;
  runtime: Runtime;
  clock: Clock;
  /** What the app was told of. */
  errors: unknown[];
  /** Posts an invocation of the tool. */
  invoke: (more?: object) => Promise<Response>;
  /** Posts to a path below the tool server's. */
  posts: (path: string, body: unknown, headers?: Record<string, string>) => Promise<Response>;
  /** Posts a message about the runtime's calls, which names their callback URL, as nothing is signed. */
  tells: (path: string, body: object | string) => Promise<Response>;
  /** Posts a selection to where a choice wants it; further keys take the place of the right ones. */
  selects: (choice: Callback, more: object) => Promise<Response>;
}

/** One tool, `work`, behind a tool server. */
export async function worldOf(
  work: Work,
  options: Partial<Parameters<typeof createToolServer>[0]> = {},
): Promise<World> {
  const runtime = await Runtime.start();
  const clock = new Clock();
  const errors: unknown[] = [];
  const server = createToolServer({
    wait: clock.wait,
    onError: (error) => errors.push(error),
    ...options,
    tools: {
      work: {
        inputSchema: z.record(z.string(), z.unknown()),
        execute: (input, call) => work(call, input),
      },
      strict: {
        inputSchema: z.strictObject({ target: z.enum(['staging', 'production']) }),
        execute: ({ target }, call) => work(call, { target }),
      },
    },
  });
  const posts: World['posts'] = async (path, body, headers) =>
    server.handler(post(`${endpoint}${path}`, body, headers));
  onTestFinished(() => runtime.stop());
  return {
    server,
    runtime,
    clock,
    errors,
    invoke: (more) => server.handler(post(endpoint, runtime.invocation('work', more))),
    posts,
    tells: (path, body) =>
      posts(path, typeof body === 'string' ? body : { callback_url: runtime.callbackUrl, ...body }),
    selects: ({ json }, more) => server.handler(post(json.response_url, { id: json.id, ...more })),
  };
}
