import type { FlexibleSchema, Tool, ToolResultPart, ToolSet } from 'ai';
import {
  type Agent,
  type AnswerReceiver,
  later,
  laterWithin,
  receiveAnswers,
  type ToolRunOptions,
} from '../../agent.ts';
import { checkMs, refuseUnknown } from '../../content/check-settings.ts';
import { waitForTimer } from '../../content/waiting.ts';
import { CallbackKeys, type CallbackSecret } from './callback-url.ts';
import {
  isCallLost,
  lostCallOutcome,
  readRemoteServer,
  remote,
  type RemoteServer,
  sendAnswer,
  sendCall,
  sendCancellation,
} from './remote-server.ts';
import { type ResultPart, resultPartsSchema } from './messages.ts';
import { listAllowedOrigins, makeRouteUrl, parseServerUrl } from './url-checks.ts';
import { type SigningOptions, WebhookSignatures } from './webhook-signatures.ts';
import type { AgentThread } from '../../thread/agent-thread.ts';
import { isCallEnded } from './create-callback-handler.ts';

/** Options of `remoteTool`. */
export interface RemoteToolOptions<INPUT> {
  /** The URL that calls are posted to. */
  endpoint: string | URL;
  /** The tool's description for the model. */
  description: string;
  /** The schema of its input, as for a tool of the AI SDK. */
  inputSchema: FlexibleSchema<INPUT>;
  /**
   * The server's base URL, for requests about calls: cancellations (`/cancel_tool_call`) and status checks (`/tool_call_status`).
   * Default: the endpoint without the last segment of its path.
   */
  baseUrl?: string | URL;
  /** The tool's name on the server. Default: its name in the agent. */
  operation?: string;
  /** The URL at which the server reaches `createCallbackHandler`. Its query parameter `call` is reserved. */
  callbackUrl: string | URL;
  /**
   * Signs the callback URL of each call, so that nobody can guess one: at least 32 bytes, the same in every process. Of several secrets,
   * the first signs and all are accepted.
   */
  secret: CallbackSecret | readonly CallbackSecret[];
  /**
   * The origins that a person's answer may be sent to. Default: the endpoint's own. Host names are resolved for each request: to pin
   * addresses, pass a `fetch` that does so.
   */
  allowedOrigins?: readonly string[];
  /**
   * The effect of dismissing a question. `cancel` (the default) fails the call and sends the server a cancellation. `default` sends the
   * choice that the server named as its default, as the protocol says; this choice may permit something.
   */
  onDismiss?: 'cancel' | 'default';
  /** Signs what is sent and requires signatures on callbacks, as Standard Webhooks does. Default: no signatures. */
  signing?: SigningOptions;
  /**
   * The time that a call may take, including people's answers, in milliseconds. After that the call fails, and a late result is dropped.
   * Default: no limit.
   */
  expiresAfterMs?: number;
  /** The time that the server may take to acknowledge one request, in milliseconds. Default 10,000. */
  timeoutMs?: number;
  /** Default: the global `fetch`. */
  fetch?: typeof fetch;
  /** Waits before an answer is sent again; it resolves or rejects early when the signal aborts. Default: a timer. */
  wait?: (milliseconds: number, signal: AbortSignal) => Promise<unknown>;
}

const remoteToolSettings = {
  endpoint: true,
  description: true,
  inputSchema: true,
  baseUrl: true,
  operation: true,
  callbackUrl: true,
  secret: true,
  allowedOrigins: true,
  onDismiss: true,
  signing: true,
  expiresAfterMs: true,
  timeoutMs: true,
  fetch: true,
  wait: true,
} satisfies Record<keyof RemoteToolOptions<never>, true>;

/**
 * Creates a tool that runs on a server. Each call is posted once and stays open until the server sends its `tool_result` to the callback;
 * before that, the server may ask the person at the agent (`user_choice`) and receives the answer. Throws a `TypeError` for a secret
 * that is too short, an invalid URL, a time that is not a valid number of milliseconds for a timer, or an option that it does not have.
 *
 * A call fails if the server refuses it or can't be reached, and also if it is unknown whether the server received it: it is never
 * sent again, and the error says so to the model.
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
  refuseUnknown('remoteTool', options, remoteToolSettings);
  const server = makeRemoteServer(options);
  const deferral = expiresAfterMs === undefined ? later : laterWithin(expiresAfterMs);
  const answers: AnswerReceiver = {
    deliver: async (answer, sending) => sendAnswer(server, answer, sending),
    forget: async (call) => sendCancellation(server, call),
  };
  const posted: Tool<INPUT, unknown> = {
    description,
    inputSchema,
    execute: async (input: INPUT, call: ToolRunOptions) => {
      await sendCall(server, { input, operation, call });
      return deferral;
    },
    toModelOutput: ({ output }: { output: unknown }) => toModelResultOutput(output),
  };
  return Object.assign(receiveAnswers(posted, answers), { [remote]: server });
}

function makeRemoteServer(
  options: Omit<
    RemoteToolOptions<never>,
    'description' | 'inputSchema' | 'operation' | 'expiresAfterMs'
  >,
): RemoteServer {
  const {
    secret,
    signing,
    onDismiss = 'cancel',
    timeoutMs = 10_000,
    wait = waitForTimer,
  } = options;
  const endpoint = parseServerUrl(options.endpoint, 'endpoint');
  return {
    endpoint,
    cancelUrl: makeRouteUrl('cancel_tool_call', endpoint, options.baseUrl),
    statusUrl: makeRouteUrl('tool_call_status', endpoint, options.baseUrl),
    callbackUrl: parseServerUrl(options.callbackUrl, 'callbackUrl'),
    keys: new CallbackKeys(secret),
    origins: listAllowedOrigins(endpoint, options.allowedOrigins),
    signatures: signing && new WebhookSignatures(signing),
    onDismiss,
    timeoutMs: checkMs(timeoutMs, 'timeoutMs'),
    timer: waitForTimer,
    fetch: options.fetch ?? (async (...request) => fetch(...request)),
    wait,
  };
}

/** A result in the form that the model reads. */
function toModelResultOutput(output: unknown): ToolResultPart['output'] {
  if (typeof output === 'string') return { type: 'text', value: output };
  return { type: 'content', value: resultPartsSchema.parse(output).map(toModelPart) };
}

type ModelPart = Extract<ToolResultPart['output'], { type: 'content' }>['value'][number];

function toModelPart(part: ResultPart): ModelPart {
  if (part.type === 'text') return { type: 'text', text: part.text };
  const { data, mediaType } = part;
  return { type: 'file', data: { type: 'data', data }, mediaType };
}

/** Options of `checkRemoteCalls`. */
interface RemoteCallCheck {
  /** The agent that made the calls. */
  agent: Pick<Agent, 'deliver'>;
  /** The agent's tools; calls of those that `remoteTool` created are checked. */
  tools: ToolSet;
  /** The thread with the calls. */
  thread: AgentThread;
}

/**
 * Asks the server of each pending remote call in a thread if it still has the call (`tool_call_status`), and fails the calls that it has
 * lost: a restarted server may not remember them. Resolves to the ids of the failed calls. The calls of a server that can't be reached or
 * does not answer stay as they are.
 *
 * @example
 * for (const { threadId } of await store.list({ status: 'waiting' })) {
 *   await checkRemoteCalls({ agent, tools, thread: await agent.thread(threadId) });
 * }
 */
export async function checkRemoteCalls({
  agent,
  tools,
  thread,
}: RemoteCallCheck): Promise<string[]> {
  const named = new Map(Object.entries(tools));
  const waiting = thread.calls.filter(({ status }) => status === 'deferred');
  const ended = await Promise.all(
    waiting.map(async ({ toolCallId, toolName }) => {
      const tool = named.get(toolName);
      const server = tool && readRemoteServer(tool);
      if (server === undefined) return [];
      if (!(await isCallLost(server, { threadId: thread.id, toolName, toolCallId }))) return [];
      return (await isEnded({ agent, thread }, toolCallId)) ? [toolCallId] : [];
    }),
  );
  return ended.flat();
}

/* A result that arrived during the status check wins. */
async function isEnded(
  { agent, thread }: Pick<RemoteCallCheck, 'agent' | 'thread'>,
  toolCallId: string,
): Promise<boolean> {
  try {
    await agent.deliver(thread, toolCallId, lostCallOutcome, { channel: 'rap' });
    return true;
  } catch (error) {
    if (isCallEnded(error)) return false;
    throw error;
  }
}
