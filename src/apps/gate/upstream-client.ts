import {
  type CallToolRequest,
  type CallToolRequestOptions,
  type CallToolResult,
  Client,
  type ClientOptions,
  isInputRequiredResult,
  isJSONRPCRequest,
  type JSONRPCMessage,
  ProtocolError,
  ProtocolErrorCode,
  StreamableHTTPClientTransport,
  type TransportSendOptions,
  UrlElicitationRequiredError,
} from '@modelcontextprotocol/client';
import { waitForTimer } from '../../content/waiting.ts';
import { ElicitationRefused } from '../../tools/elicitation.ts';
import {
  answerInputRequests,
  type AskPeople,
  type ServerCalls,
  visitAll,
} from './upstream-questions.ts';
import type { HttpUpstream } from './upstream-options.ts';

/* The number of times that a server may answer a call with a question. */
const mostRounds = 10;
/* The pause before the retry of a call that its server has put off without a question. */
const putOffMs = 250;

/** A client that knows its running calls. */
export class UpstreamClient extends Client {
  readonly calls: ServerCalls;
  /** Aborts when the connection is lost. */
  readonly lost = new AbortController();

  constructor(calls: ServerCalls, options: ClientOptions) {
    super({ name: 'holdpoint-gate', version: '1' }, options);
    this.calls = calls;
    this.setRequestHandler('elicitation/create', async ({ params }, { mcpReq }) => {
      const result = await calls.ask(params, mcpReq.signal);
      return { ...result };
    });
    /* For requests such as sampling, which the gate does not support. */
    this.fallbackRequestHandler = async ({ method }) => {
      calls.noteAsked();
      throw new ProtocolError(ProtocolErrorCode.MethodNotFound, `Not offered: ${method}`);
    };
  }
}

/** The error of a call whose server had asked a question and got an answer: it may already have had an effect. */
export class AnsweredCallFailed extends Error {}

/**
 * Calls a tool until there is a result. A server of protocol 2026-07-28 may answer with a question instead, and an older one may refuse the
 * call until a person has opened an address: both are called again then. A failure after an answer was sent is an `AnsweredCallFailed`,
 * with the reason as its cause.
 */
export async function callUntilDone(
  client: UpstreamClient,
  params: CallToolRequest['params'],
  options: CallToolRequestOptions & { signal: AbortSignal },
  ask: AskPeople,
): Promise<CallToolResult> {
  const signal = AbortSignal.any([options.signal, client.lost.signal]);
  let answers: { inputResponses?: object; requestState?: string } | undefined;
  const callOnce = async (): Promise<CallToolResult | undefined> => {
    const asking = { ...options, allowInputRequired: true };
    const calling = client.callTool({ ...params, ...answers }, asking);
    const result = await calling.catch(async (error: unknown) => {
      const visits = error instanceof UrlElicitationRequiredError ? error.elicitations : [];
      if (visits.length > 0 && (await visitAll(visits, (asked) => ask(asked, signal))))
        return undefined;
      throw error;
    });
    if (result === undefined || !isInputRequiredResult(result)) return result;
    const { inputRequests = {}, requestState } = result;
    const inputResponses = await answerInputRequests(inputRequests, (asked) => ask(asked, signal));
    if (Object.keys(inputResponses).length === 0) await waitForTimer(putOffMs, signal);
    answers = { inputResponses, requestState };
    return undefined;
  };
  try {
    for (let round = 0; round <= mostRounds; round += 1) {
      const result = await callOnce();
      if (result !== undefined) return result;
    }
    throw new ElicitationRefused(
      `It has asked ${mostRounds} times, and has not answered the call.`,
    );
  } catch (cause) {
    if (answers === undefined) throw cause;
    throw new AnsweredCallFailed('The server was answered, and gave no result.', { cause });
  }
}

/* The code for a process that has gone. */
const connectionClosed = -32_000;

/**
 * The connection to an upstream over HTTP. A request fails at once if its response ends without an answer: the library would wait for
 * another one.
 */
export class HttpTransport extends StreamableHTTPClientTransport {
  constructor({ url, headers }: HttpUpstream) {
    super(new URL(url), { requestInit: { headers: { ...headers } }, fetch: fetchBounded });
  }

  override async send(
    message: JSONRPCMessage | JSONRPCMessage[],
    options?: TransportSendOptions,
  ): Promise<void> {
    const requests = [message].flat().filter((each) => isJSONRPCRequest(each));
    const onRequestStreamEnd = (): void => {
      options?.onRequestStreamEnd?.();
      const error = { code: connectionClosed, message: 'The response ended without an answer.' };
      /* Answered requests are no longer known. */
      for (const { id } of requests) this.onmessage?.({ jsonrpc: '2.0', id, error });
    };
    await super.send(message, { ...options, onRequestStreamEnd });
  }
}

/* In bytes: the limit of the protocol's library for a server that is a process. */
const longestMessage = 10_485_760;

/** `fetch` for servers that are not trusted: a response fails once its body, or one event of a stream, is longer than 10 MiB. */
async function fetchBounded(url: string | URL, init?: RequestInit): Promise<Response> {
  const response = await fetch(url, init);
  if (response.body === null) return response;
  const isStream = /^text\/event-stream\b/i.test(response.headers.get('content-type') ?? '');
  const measure = isStream ? makeEventMeter() : makeMeter();
  const bounded = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      if (measure(chunk) <= longestMessage) controller.enqueue(chunk);
      else controller.error(new Error(`It has sent more than ${longestMessage} bytes at once.`));
    },
  });
  return new Response(response.body.pipeThrough(bounded), response);
}

/** Makes a function that returns the number of bytes of the current message after a chunk. */
type MakeMeter = () => (chunk: Uint8Array) => number;

const makeMeter: MakeMeter = () => {
  let length = 0;
  return (chunk) => (length += chunk.length);
};

const lineFeed = 10;
const carriageReturn = 13;

/* An empty line ends an event. */
const makeEventMeter: MakeMeter = () => {
  let length = 0;
  let isLineEmpty = false;
  return (chunk) => {
    for (const byte of chunk) {
      length = byte === lineFeed && isLineEmpty ? 0 : length + 1;
      isLineEmpty = byte === lineFeed || (isLineEmpty && byte === carriageReturn);
    }
    return length;
  };
};
