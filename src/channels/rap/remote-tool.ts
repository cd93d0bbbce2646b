import type { FlexibleSchema, Tool } from 'ai';
import { timer } from '../../content/timer.ts';
import { answering, type AnswerReceiver } from '../../agent/calls/answer-receiver.ts';
import type { ToolRunOptions } from '../../agent/calls/execute-call.ts';
import { later, laterWithin } from '../../agent/calls/later.ts';
import { CallbackKeys, type CallbackSecret } from './callback-url.ts';
import { checkedMs } from '../../content/checked-number.ts';
import { invoke } from './to-server/send-call.ts';
import { remote, type RemoteServer } from './remote-server.ts';
import { resultForModel } from './from-server/result-outcome.ts';
import { sendAnswer } from './to-server/send-answer.ts';
import { sendCancel } from './to-server/send-cancellation.ts';
import { allowedOrigins, routeUrl, serverUrl } from './url-checks.ts';
import { type SigningOptions, WebhookSignatures } from './webhook-signatures.ts';

/** A tool that a server elsewhere runs. */
export interface RemoteToolOptions<INPUT> {
  /** Where calls are posted. */
  endpoint: string | URL;
  description: string;
  inputSchema: FlexibleSchema<INPUT>;
  /**
   * Where the server is, for what is not a call: that one is not wanted any more (`/cancel_tool_call` below this), and whether it still
   * has one (`/tool_call_status`). Default: the endpoint without the last part of its path.
   */
  baseUrl?: string | URL;
  /** What the server calls it. Default: the tool's name in the agent. */
  operation?: string;
  /** Where the app serves `createCallbackHandler`, as the server reaches it. Its query parameter `call` is ours. */
  callbackUrl: string | URL;
  /**
   * Signs the callback URL of each call, so that nobody can guess one: at least 32 bytes, the same in every process. Of several, the
   * first signs and all are known again.
   */
  secret: CallbackSecret | readonly CallbackSecret[];
  /**
   * The origins that a person's answer may be sent to, as the server names them. Default: the endpoint's own. A name is looked up
   * anew for each request: to pin addresses, give a `fetch` that does.
   */
  allowedOrigins?: readonly string[];
  /**
   * What it means when a person closes a question without an answer. `cancel` (the default) fails the call, and tells the server that it
   * is not wanted any more; `default` sends the answer that the server named as its default, which the protocol asks for, and which may
   * be its yes.
   */
  onDismiss?: 'cancel' | 'default';
  /** Standard Webhooks signatures: on what is sent, and demanded of what comes. Default: none. */
  signing?: SigningOptions;
  /**
   * How long the server may take to end a call, the people's time included, in milliseconds: one that it has not ended by then fails, and
   * its late result is dropped. Default: as long as it takes.
   */
  expiresAfterMs?: number;
  /** How long the server may take to acknowledge one request, in milliseconds. Default 10,000. */
  timeoutMs?: number;
  /** Default: the platform's. */
  fetch?: typeof fetch;
  /** Waits before an answer is sent again; ends early, resolved or rejected, when the signal aborts. Default: a timer. */
  wait?: (milliseconds: number, signal: AbortSignal) => Promise<unknown>;
}

/**
 * A tool whose calls are posted to a server, once each, and stay open until its `tool_result` comes to the callback; meanwhile the
 * server may ask the person in front of the agent (`user_choice`), and is sent the answer. Throws a `TypeError` for a short secret,
 * a URL that is none, and a time that is none, or that no timer holds.
 *
 * A call fails where the server refuses it or can't be reached, and also where it is not known whether it arrived: it is never sent
 * again, and the model is told so.
 *
 * @example
 * const deploy = remoteTool({
 *   endpoint: 'https://tools.example.com/deploy',
 *   description: 'Deploys a branch.',
 *   inputSchema: z.object({ branch: z.string() }),
 *   callbackUrl: 'https://agent.example.com/rap',
 *   secret: process.env.RAP_SECRET,
 * });
 */
export function remoteTool<INPUT>({
  description,
  inputSchema,
  operation,
  expiresAfterMs,
  ...options
}: RemoteToolOptions<INPUT>): Tool<INPUT, unknown> {
  const callbackUrl = serverUrl(options.callbackUrl, 'callbackUrl');
  const server = serverFor(options);
  const deferral = expiresAfterMs === undefined ? later : laterWithin(expiresAfterMs);
  const answers: AnswerReceiver = {
    deliver: async (answer, telling) => sendAnswer(server, answer, telling),
    forget: async (call) => sendCancel(server, call),
  };
  const posted: Tool<INPUT, unknown> = {
    description,
    inputSchema,
    execute: async (input: INPUT, call: ToolRunOptions) => {
      await invoke(server, { input, operation, callbackUrl, call });
      return deferral;
    },
    toModelOutput: ({ output }: { output: unknown }) => resultForModel(output),
  };
  return Object.assign(posted, { [answering]: answers, [remote]: server });
}

function serverFor(
  options: Omit<
    RemoteToolOptions<never>,
    'description' | 'inputSchema' | 'operation' | 'expiresAfterMs'
  >,
): RemoteServer {
  const { secret, signing, onDismiss = 'cancel', timeoutMs = 10_000, wait = timer } = options;
  const endpoint = serverUrl(options.endpoint, 'endpoint');
  return {
    endpoint,
    cancelUrl: routeUrl('cancel_tool_call', endpoint, options.baseUrl),
    statusUrl: routeUrl('tool_call_status', endpoint, options.baseUrl),
    keys: new CallbackKeys(secret),
    origins: allowedOrigins(endpoint, options.allowedOrigins),
    signatures: signing && new WebhookSignatures(signing),
    onDismiss,
    timeoutMs: checkedMs(timeoutMs, 'timeoutMs'),
    timer,
    fetch: options.fetch ?? (async (...request) => fetch(...request)),
    wait,
  };
}
