import type { Tool } from 'ai';
import { z } from 'zod';
import type {
  ToolRunOptions,
  AnswerToTool,
  CallFailure,
  SendOptions,
  DroppedCall,
} from '../../agent.ts';
import { readForm } from '../../json/json-form.ts';
import { parseJson } from '../../json/json-value.ts';
import { hashText } from '../../content/crypto.ts';
import type { CallbackKeys, CallbackCall } from './callback-url.ts';
import { type Poster, postJson, postWithRetries, type Posted } from './post-json.ts';
import { parseAllowedUrl } from './url-checks.ts';

/** The agent's settings for the tool server of a remote tool. */
export interface RemoteServer extends Poster {
  endpoint: URL;
  /** The URL that cancellations are posted to. */
  cancelUrl: URL;
  /** The URL for asking whether the server still has a call. */
  statusUrl: URL;
  /** The app's own URL for callbacks, without what `keys` adds for each call. */
  callbackUrl: URL;
  keys: CallbackKeys;
  /** The origins that answers may be sent to. */
  origins: ReadonlySet<string>;
  onDismiss: 'cancel' | 'default';
  /** Waits before an answer is sent again. */
  wait: (milliseconds: number, signal: AbortSignal) => Promise<unknown>;
}

/** The key under which a remote tool keeps its server, for the callback handler. */
export const remote: unique symbol = Symbol.for('holdpoint.remote');

/** The tool server of a tool; `undefined` for a tool that is not remote. */
export function readRemoteServer(tool: Tool): RemoteServer | undefined {
  const value: unknown = Reflect.get(tool, remote);
  return isServer(value) ? value : undefined;
}

function isServer(value: unknown): value is RemoteServer {
  return typeof value === 'object' && value !== null && 'keys' in value && 'origins' in value;
}

/** A call to send. */
interface RemoteCall {
  input: unknown;
  operation: string | undefined;
  call: ToolRunOptions;
}

/** Posts a call to its server, once. Throws an error for the model unless the server has accepted the call. */
export async function sendCall(
  server: RemoteServer,
  { input, operation, call }: RemoteCall,
): Promise<void> {
  const { threadId, toolName, toolCallId, idempotencyKey, abortSignal } = call;
  if (threadId === undefined || toolName === undefined || idempotencyKey === undefined) {
    throw new Error('Not run: a remote tool only runs in a holdpoint agent.');
  }
  /* People approved this form: `JSON.stringify` would write a Set or a Map as an empty object. */
  const form = readForm(input);
  if ('fault' in form) throw new Error(`Not run: the input can't be sent exactly: ${form.fault}.`);
  const body = {
    operation: operation ?? toolName,
    arguments: form.json,
    id: toolCallId,
    call_id: idempotencyKey,
    callback_url: await server.keys.makeUrl(server.callbackUrl, { threadId, toolName, toolCallId }),
    group_id: threadId,
    ...(await makeUserFields(call)),
  };
  const posted = await postJson(server, {
    id: idempotencyKey,
    url: server.endpoint,
    body,
    signal: abortSignal,
    readBytes: 4_096,
  });
  switch (posted.status) {
    case 'accepted':
      return;
    case 'refused':
      throw new Error(
        `Not run: the tool server refused the call (${posted.why})${parseReason(posted.text)}.`,
      );
    case 'unreachable':
      throw new Error(`Not run: the tool server can't be reached (${posted.why}).`);
    case 'unknown':
      void sendCancellation(server, { threadId, toolName, toolCallId, idempotencyKey });
      throw new Error(
        `It is unknown whether the tool server received the call (${posted.why}). It was sent once and will not be sent ` +
          'again; it may have run, or may still run.',
      );
  }
}

/*
 * The fields that identify the requester, so that the server's memory of one user serves nobody else. Several people, and one without an
 * id, are identified by a digest. It is unique to the call if one of them is unknown, who may be anybody.
 */
async function makeUserFields({
  requester,
  requesters = [],
  threadId,
  idempotencyKey,
}: ToolRunOptions): Promise<{ user_id: string } | { requesters_digest: string } | undefined> {
  if (requester !== undefined && requester.length <= maximumIdLength) return { user_id: requester };
  if (requesters.every((each) => each === null)) return undefined;
  const own = requesters.includes(null) ? idempotencyKey : null;
  const people = requesters.map((each) => JSON.stringify(each)).toSorted();
  const text = JSON.stringify([threadId, own, ...people]);
  return { requesters_digest: await hashText(`holdpoint/rap-requesters/v1\0${text}`) };
}

const maximumIdLength = 1_000;

const refusalSchema = z.object({ error: z.object({ message: z.string() }) });
const maximumReasonLength = 500;

/* The error that `createToolServer` responds with. For other servers, the HTTP status must be enough. */
function parseReason(text: string): string {
  const { data } = refusalSchema.safeParse(parseJson(text));
  if (data === undefined) return '';
  const { message } = data.error;
  return `: ${message.slice(0, maximumReasonLength).toWellFormed().replace(/\.$/, '')}`;
}

const replyToSchema = z.strictObject({ responseUrl: z.string() });

/* 0.5, 1, 2, 4, 8 and 16 seconds between seven attempts: half a minute in all. */
const retries = 6;
const firstPauseMs = 500;

/**
 * Posts a person's answer to the `response_url` of the question. Retries when the server failed or can't be reached, not when it refused.
 * The meaning of a dismissal is part of the question, as the person saw it.
 */
export async function sendAnswer(
  server: RemoteServer,
  { response, request, replyTo, call }: AnswerToTool,
  { signal, refresh }: SendOptions,
): Promise<CallFailure | undefined> {
  const answers = response.status === 'answered' ? response.answers : request.dismissAnswer;
  if (answers === undefined) {
    return { status: 'failed', error: 'Not done: the user closed the question without an answer.' };
  }
  const [field] = request.fields;
  const [picked] = answers[0]?.optionIds ?? [];
  const selected = field?.options.findIndex(({ id }) => id === picked) ?? -1;
  if (selected === -1) {
    throw new Error(
      `The answer to question ${request.requestId} does not pick one of the choices.`,
    );
  }
  const { responseUrl } = replyToSchema.parse(replyTo);
  const url = parseAllowedUrl(responseUrl, server.origins);
  if (url === undefined) {
    throw new Error(
      `The answer to question ${request.requestId} can't be sent: add the origin of its response_url to allowedOrigins.`,
    );
  }
  const body = { id: call.toolCallId, selected };
  const post = { id: request.requestId, url, body, signal };
  try {
    await postWithRetries(server, post, {
      retries,
      pauseMs: (retried) => firstPauseMs * 2 ** retried,
      wait: server.wait,
      beforeRetry: refresh,
      fault: 'The tool server did not accept the answer',
    });
    return undefined;
  } catch (error) {
    /* A restarted server knows neither the question nor the call. */
    const { threadId } = request;
    const { toolName, toolCallId } = call;
    if (await isCallLost(server, { threadId, toolName, toolCallId }, signal))
      return lostCallOutcome;
    throw error;
  }
}

/**
 * Makes the bodies of a message about a call: one, or, without signatures, one for each callback URL that the call may have. The server
 * identifies a caller by its signature, or else by this URL.
 */
async function makeMessagesAbout(
  { signatures, keys, callbackUrl }: RemoteServer,
  { threadId, toolName, toolCallId }: CallbackCall,
): Promise<object[]> {
  const message = { thread_id: threadId, tool_call_id: toolCallId };
  if (signatures !== undefined) return [message];
  const urls = await keys.makeUrls(callbackUrl, { threadId, toolName, toolCallId });
  return urls.map((callback_url) => ({ ...message, callback_url }));
}

/** The outcome of a call that its server has lost. */
export const lostCallOutcome = {
  status: 'failed',
  error: 'The tool server no longer has this call. It is unknown whether it took effect.',
} as const;

const statusSchema = z.object({ alive: z.literal(false) });

/**
 * Asks a server whether it still has a call (`tool_call_status`). True only if the server says that it does not: a server that can't be
 * reached or answers anything else keeps its call. Never rejects.
 */
export async function isCallLost(
  server: RemoteServer,
  call: CallbackCall,
  signal?: AbortSignal,
): Promise<boolean> {
  const id = `${call.threadId}.${call.toolCallId}.status`;
  for (const body of await makeMessagesAbout(server, call)) {
    const post = { id, url: server.statusUrl, body, signal, readBytes: 1_024 };
    if (!saysLost(await postJson(server, post))) return false;
  }
  return true;
}

function saysLost(posted: Posted): boolean {
  return posted.status === 'accepted' && statusSchema.safeParse(parseJson(posted.text)).success;
}

/**
 * Notifies a server that a call has been cancelled. The response changes nothing here: the call has already ended, and a late
 * result will be dropped. Never rejects.
 */
export async function sendCancellation(
  server: RemoteServer,
  call: CallbackCall & Pick<DroppedCall, 'idempotencyKey'>,
): Promise<void> {
  const id = `${call.idempotencyKey ?? call.toolCallId}.cancel`;
  for (const body of await makeMessagesAbout(server, call)) {
    await postJson(server, { id, url: server.cancelUrl, body, signal: undefined });
  }
}
