import { watchThread } from '../../../agent.ts';
import { waitForTimer } from '../../../content/waiting.ts';
import type { AgentThread } from '../../../thread/agent-thread.ts';
import type { UiHandlerOptions } from '../ui-handler-options.ts';

/** Writes the state for a page that follows a thread: it reads the thread again if it shows another one. */
function describeState({ revision, status }: AgentThread): string {
  return JSON.stringify({ revision, status });
}

/**
 * Makes the response to a page that follows a thread: the thread's state as JSON, once it has changed or after `followMs`. It ends when the
 * page leaves, which a server reports by cancelling the body or by aborting the request. It says no more than that, because the person may
 * have been signed out meanwhile.
 */
export function makeHeldResponse<RUNTIME_CONTEXT>(
  { agent, pollMs, wait = waitForTimer }: UiHandlerOptions<RUNTIME_CONTEXT>,
  request: Request,
  { thread, followMs }: { thread: AgentThread; followMs: number },
): Response {
  const seen = describeState(thread);
  const ended = new AbortController();
  const end = (): void => ended.abort();
  if (request.signal.aborted) end();
  else request.signal.addEventListener('abort', end, { once: true });
  const polling = { wait, signal: ended.signal, ...(pollMs === undefined ? {} : { pollMs }) };
  const findState = async (): Promise<string> => {
    void wait(followMs, ended.signal).then(end, end);
    for await (const now of watchThread(agent, thread, polling)) {
      if (describeState(now) !== seen) return describeState(now);
    }
    return seen;
  };
  const body = new ReadableStream<Uint8Array<ArrayBuffer>>(
    {
      async pull(controller) {
        try {
          controller.enqueue(new TextEncoder().encode(await findState()));
          controller.close();
        } finally {
          end();
        }
      },
      cancel: end,
    },
    { highWaterMark: 0 },
  );
  const headers = { 'content-type': 'application/json', 'cache-control': 'no-store' };
  return new Response(body, { headers });
}
