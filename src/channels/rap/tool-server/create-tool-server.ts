import { waitForTimer } from '../../../content/timer.ts';
import { checkLimit, checkMs } from '../../../content/checked-number.ts';
import { refuseUnknown } from '../../../content/refuse-unknown.ts';
import { makeOriginCheck, makeBaseUrlFinder } from '../url-checks.ts';
import { listSignedCallers } from './callers.ts';
import { makeCallbackSender } from './send-callback.ts';
import { memoryGrants } from './grant-store.ts';
import { OpenPrompts } from './ask-user.ts';
import { RunningCalls } from './running-calls.ts';
import { makeToolRunners } from './serve-call.ts';
import { requestHandler } from './handle-request.ts';
import { type ToolServerOptions, toolServerSettings } from './tool-server-options.ts';

/** A server of tools for runtimes in other processes. */
export interface ToolServer {
  /**
   * Handles the requests of a runtime: invocations at any path, selections, and `…/cancel_tool_call`, `…/close_thread` and
   * `…/tool_call_status` below that path. An accepted request is answered with 200 at once. A refused invocation does not run; the reason
   * is in the body, as `{ error: { code, message } }`: 400 (invalid invocation), 401 (signatures), 403 (callback origin not allowed, or a
   * request of a web page), 404 (no prompt waits for the selection), 413, 415, and 429 (too many calls are running, or the server is
   * closing). Cancellations and closed conversations are answered with 200 even if the call or conversation is unknown, as those of
   * other callers are: a message is about the calls of whoever signed it, or, where nothing is signed, about those with the `callback_url`
   * that it has, and with a `user_id`, about those of this user alone.
   */
  handler: (request: Request) => Promise<Response>;
  /** Stops all running calls and accepts no more; resolves when each result was delivered or its retries are exhausted. */
  close: () => Promise<void>;
}

/**
 * Serves tools over HTTP callbacks to any runtime that uses the protocol of `holdpoint/rap`. A call is acknowledged at once, may ask
 * the person at the runtime, and always ends with one `tool_result`. A call that a caller sends twice, with the same `group_id`, `id` and
 * user, runs once. Calls are kept in the memory of this process: they end with it, and other processes don't know them.
 *
 * Throws a `TypeError` for an option that it does not have, for an invalid URL, origin, secret or number, and for a schema that validates nothing.
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
  refuseUnknown('createToolServer', options, toolServerSettings);
  const wait = ignoreRejections(options.wait ?? waitForTimer);
  const { deadlineMs = 86_400_000, graceMs = 5_000, callbackMs = 10_000 } = options;
  const { maximumBodyBytes = 1_048_576, retries = 10 } = options;
  const poster = {
    fetch: options.fetch ?? globalThis.fetch,
    timeoutMs: checkMs(callbackMs, 'callbackMs'),
    timer: wait,
  };
  const calls = new RunningCalls(options.maximumRunning, options.maximumRemembered);
  const handler = requestHandler({
    calls,
    signers: listSignedCallers(options.signing),
    baseUrlOf: makeBaseUrlFinder(options.baseUrl),
    isAllowed: makeOriginCheck(options.allowedOrigins),
    report: makeReporter(options.onError),
    serving: {
      deadlineMs: checkMs(deadlineMs, 'deadlineMs'),
      graceMs: checkMs(graceMs, 'graceMs'),
      maximumBodyBytes: checkLimit(maximumBodyBytes, 'maximumBodyBytes'),
      wait,
      tools: makeToolRunners(options.tools),
      grants: options.grants ?? memoryGrants(),
      prompts: new OpenPrompts(),
      sendTo: makeCallbackSender(poster, checkLimit(retries, 'retries')),
    },
  });
  return { handler, close: () => calls.close() };
}

/* A `wait` may reject when its signal aborts. */
function ignoreRejections(wait: NonNullable<ToolServerOptions['wait']>): typeof waitForTimer {
  return async (milliseconds, signal) => {
    try {
      await wait(milliseconds, signal);
    } catch {
      /* The wait has ended. */
    }
  };
}

/* If `onError` throws, a call must still send its result. */
function makeReporter(onError: ToolServerOptions['onError']): (error: unknown) => void {
  return (error) => {
    try {
      onError?.(error);
    } catch {
      /* There is nowhere else to report it. */
    }
  };
}
