import { timer } from '../../../content/timer.ts';
import { checkedLimit, checkedMs } from '../../../content/checked-number.ts';
import { WebhookSignatures } from '../webhook-signatures.ts';
import { callbackOrigins } from '../url-checks.ts';
import { callbackSender } from './send-callback.ts';
import { memoryGrants } from './grant-store.ts';
import { OpenPrompts } from './open-prompts.ts';
import { ownUrl } from '../url-checks.ts';
import { RunningCalls } from './running-calls.ts';
import { servedTools } from './serve-call.ts';
import { takeRequest } from './handle-request.ts';
import type { ToolServerOptions } from './tool-server-options.ts';

/** Tools that are served to runtimes far away. */
export interface ToolServer {
  /**
   * Takes what a runtime posts: invocations at any path, selections, and `…/cancel_tool_call`, `…/close_thread` and `…/tool_call_status`
   * below that path. What it takes is 200 at once. What it drops is not, and was not run; the reason is in the body, as
   * `{ error: { code, message } }`: 400 (no invocation), 401 (signatures), 403 (a callback to another origin, a page of a browser), 404 (a
   * selection that nothing waits for), 413, 415, and 429 (no room). Cancelling and closing are 200 whatever is known of them.
   */
  handler: (request: Request) => Promise<Response>;
  /** Stops what runs, and takes no more calls; resolves when the result of every one was delivered, or given up. */
  close: () => Promise<void>;
}

/**
 * Serves tools over HTTP callbacks, to any runtime that speaks the protocol of `holdpoint/rap`. A call is acknowledged at once, may ask
 * the person who is at the runtime, and ends with one `tool_result`, whatever happens. One that comes twice, with the same `group_id` and
 * `id`, runs once. All that is known of calls is in the memory of this process: calls don't outlive it, and a second one knows
 * nothing of them.
 *
 * Throws a `TypeError` for a URL, an origin, a secret, a number or a schema that it can't keep its word with.
 *
 * @example
 * const { handler, close } = createToolServer({
 *   tools: {
 *     deleteFolder: {
 *       inputSchema: z.object({ path: z.string() }),
 *       execute: async ({ path }, { askForSession }) => {
 *         const isAllowed = await askForSession({ prompt: `May I delete ${path}?`, key: `delete:${path}` });
 *         if (!isAllowed) return 'Error: The user said no.';
 *         await rm(path, { recursive: true });
 *         return `Deleted ${path}.`;
 *       },
 *     },
 *   },
 * });
 */
export function createToolServer<INPUTS extends Record<string, unknown>>(
  options: ToolServerOptions<INPUTS>,
): ToolServer {
  const wait = settled(options.wait ?? timer);
  const { deadlineMs = 86_400_000, graceMs = 5_000, callbackMs = 10_000 } = options;
  const { maximumBodyBytes = 1_048_576, retries = 10 } = options;
  const signatures = options.signing && new WebhookSignatures(options.signing);
  const poster = {
    fetch: options.fetch ?? globalThis.fetch,
    signatures,
    timeoutMs: checkedMs(callbackMs, 'callbackMs'),
    timer: wait,
  };
  const calls = new RunningCalls(options.maximumRunning, options.maximumRemembered);
  const handler = takeRequest({
    calls,
    signatures,
    baseUrlOf: ownUrl(options.baseUrl),
    isAllowed: callbackOrigins(options.allowedOrigins),
    report: reporter(options.onError),
    serving: {
      deadlineMs: checkedMs(deadlineMs, 'deadlineMs'),
      graceMs: checkedMs(graceMs, 'graceMs'),
      maximumBodyBytes: checkedLimit(maximumBodyBytes, 'maximumBodyBytes'),
      wait,
      tools: servedTools(options.tools),
      grants: options.grants ?? memoryGrants(),
      prompts: new OpenPrompts(),
      send: callbackSender(poster, checkedLimit(retries, 'retries')),
    },
  });
  return { handler, close: () => calls.close() };
}

/* A wait may reject when its signal aborts, which is an end like another. */
function settled(wait: NonNullable<ToolServerOptions['wait']>): typeof timer {
  return async (milliseconds, signal) => {
    try {
      await wait(milliseconds, signal);
    } catch {
      /* It is over. */
    }
  };
}

/* A listener that throws must not cost a call its result. */
function reporter(onError: ToolServerOptions['onError']): (error: unknown) => void {
  return (error) => {
    try {
      onError?.(error);
    } catch {
      /* There is nobody left to tell. */
    }
  };
}
