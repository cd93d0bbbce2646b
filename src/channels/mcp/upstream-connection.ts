import {
  type CallToolResult,
  Client,
  type JsonSchemaValidatorResult,
  type Progress,
  ProtocolError,
  SdkHttpError,
  type Tool,
  type Transport,
} from '@modelcontextprotocol/client';
import { getDefaultEnvironment, StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { z } from 'zod';
import { UnknownOutcomeError } from '../../agent/calls.ts';
import { readErrorText } from '../../content/app-errors.ts';
import { inertText } from '../../content/inert-text.ts';
import { awaitUntilAborted, startTimeLimit, waitForTimer } from '../../content/waiting.ts';
import { ElicitationRefused } from '../../tools/elicitation.ts';
import { HttpTransport } from './http-transport.ts';
import type { UpstreamOptions } from './upstream-options.ts';
import { AnsweredCallFailed, callUntilDone, UpstreamClient } from './upstream-client.ts';
import { type AskPeople, ServerCalls } from './upstream-questions.ts';
import { isRefusal } from './upstream-refusals.ts';
import { makeSecretMask } from './upstream-secrets.ts';
import { SilenceTimer } from './silence-timer.ts';

/* How long an upstream may take to start: `npx` may have to install it first. */
const connectMs = 60_000;
/* A server that does not answer what it doesn't know within this time is taken for an old one. */
const probeMs = 3_000;
/* How long a call waits for its server to start, or for its turn: common clients give up after 60 seconds. */
const patienceMs = 30_000;
/* After this time without a result and without progress, nobody knows what came of a call. */
const silenceMs = 600_000;
/* The silence is measured here, as people may take longer to answer what a server asks. */
const noTimeoutMs = 2 ** 31 - 1;
const longestPauseMs = 30_000;
/* Between the beginnings of two listings. */
const listingPauseMs = 250;
/* A call waits for another listing if the last one is older: servers need not say that their tools have changed. */
const freshMs = 60_000;

/** A call of an upstream's tool. */
interface UpstreamCall {
  /** The tool, under its own name. */
  tool: Pick<Tool, 'name' | 'inputSchema'>;
  /** Whether the server may refuse the result of the tool after it ran. */
  checksResult: boolean;
  input: Record<string, unknown>;
  /** The same for all attempts of one call. */
  idempotencyKey: string;
  /** Above 1 only after a person has asked for a retry. */
  attempt: number;
  signal: AbortSignal;
  /** Why the call can't be sent, now that the server has listed its tools; `undefined` if it can. */
  whyNot: () => Promise<string | undefined>;
  /** Asks people what the server asks during the call. */
  ask: AskPeople;
  onProgress: (progress: Progress) => void;
}

/** What a connection reports. */
interface ConnectionEvents {
  /** The upstream has listed its tools. No call is made before it resolves. */
  onListed: (tools: readonly Tool[]) => Promise<void>;
  onProblem: (problem: string) => void;
  now: () => number;
  wait: (milliseconds: number, signal: AbortSignal) => Promise<unknown>;
}

/** The connection to an upstream, which is made again when it is lost. A call is sent once: what is lost with the connection is not repeated. */
export class UpstreamConnection {
  readonly #name: string;
  readonly #options: UpstreamOptions;
  readonly #events: ConnectionEvents;
  readonly #mask: (text: string) => string;
  #client: UpstreamClient | undefined;
  #connected: Promise<UpstreamClient> | undefined;
  /** Of the present connection: the tools are listed, and what has changed is known. */
  #listed: Promise<void> = Promise.resolve();
  #listedAt = 0;
  /** The client whose next listing has not begun. */
  #nextListing: Client | undefined;
  #listingAt = -Infinity;
  #retry: ReturnType<typeof setTimeout> | undefined;
  #failures = 0;
  /** Why it could not be reached the last two times, as it is tried in two ways in turn: these were reported. */
  #problems: readonly string[] = [];
  #isClosed = false;

  constructor(name: string, options: UpstreamOptions, events: ConnectionEvents) {
    this.#name = name;
    this.#options = options;
    this.#events = events;
    this.#mask = makeSecretMask(options);
  }

  /** Connects if need be, and waits until the tools have been listed lately. Rejects if that fails. */
  async connect(): Promise<UpstreamClient> {
    if (this.#isClosed) throw new Error('The gate is closed.');
    const client = await (this.#connected ??= this.#open());
    await this.#listed;
    if (this.#events.now() < this.#listedAt + freshMs) return client;
    await this.#listAgain();
    return (this.#connected ??= this.#open());
  }

  /**
   * Calls a tool, once. Rejects with `UnknownOutcomeError` if nobody knows what came of it; any other error says that the call was not made, or that
   * the server refused it.
   */
  async call({
    tool: { name, inputSchema },
    checksResult,
    input,
    idempotencyKey,
    attempt,
    signal,
    whyNot,
    ask,
    onProgress,
  }: UpstreamCall): Promise<CallToolResult> {
    const silence = new SilenceTimer(silenceMs, this.#events.wait);
    const askInTime: AskPeople = async (params, until) => silence.pauseDuring(ask(params, until));
    const { client, running } = await this.#reach(askInTime, signal);
    const meta = { 'holdpoint/idempotencyKey': idempotencyKey, 'holdpoint/attempt': attempt };
    let mayAsk = false;
    try {
      const reason = await whyNot();
      if (reason !== undefined) throw new RefusedHere(reason);
      mayAsk = true;
      silence.restart();
      const result = await callUntilDone(
        client,
        { name, arguments: input, _meta: meta },
        {
          signal: AbortSignal.any([signal, silence.signal]),
          timeout: noTimeoutMs,
          /* Asks the server for progress, so that a long call is not given up. */
          onprogress: (progress) => {
            silence.restart();
            onProgress(progress);
          },
          /*
           * Without this, the client would look the tool up, send a call again whose headers the server refuses, and throw the result of a call away
           * that has no structured content, although the tool declares some.
           */
          toolDefinition: { name, inputSchema },
        },
        (params, until) => askInTime(params, AbortSignal.any([until, running.ended])),
      );
      mayAsk = false;
      return result;
    } catch (thrown) {
      if (thrown instanceof RefusedHere) throw thrown;
      const isAnswered = thrown instanceof AnsweredCallFailed;
      const error = isAnswered ? thrown.cause : thrown;
      /* What it asked may have failed, and the error of that may be passed on as that of the call. */
      const hasBegun = isAnswered || running.hasAsked;
      const isRefused = isRefusal(error, { checksResult });
      /* A server that was started anew does not know the session. */
      if (SdkHttpError.isInstance(error) && error.data.status === 404) await this.#drop(client);
      if (ProtocolError.isInstance(error) || isRefused) mayAsk = false;
      if (error instanceof ElicitationRefused && !hasBegun) {
        const told = `The MCP server ${this.#name} asked what the gate can't ask people, so the call was given up: ${this.#describe(error)}`;
        throw new Error(told, { cause: thrown });
      }
      if (isRefused && !hasBegun) throw new Error(this.#describe(error), { cause: thrown });
      const told = `The MCP server ${this.#name} did not answer the call: ${this.#describe(error)}`;
      throw new UnknownOutcomeError(told, { cause: thrown });
    } finally {
      silence.stop();
      running.end(mayAsk);
    }
  }

  /** The client, once it may send a call. Rejects if that takes too long: nothing was sent. */
  async #reach(ask: AskPeople, signal: AbortSignal) {
    const limit = startTimeLimit(patienceMs, this.#events.wait);
    const until = AbortSignal.any([signal, limit.signal]);
    const awaitInTime = async <RESULT>(work: Promise<RESULT>, tooLate: string): Promise<RESULT> =>
      awaitUntilAborted(work, until).catch((error: unknown) => {
        const reason = limit.signal.aborted ? tooLate : this.#describe(error);
        throw new Error(`Not called: ${reason}`, { cause: error });
      });
    const seconds = patienceMs / 1_000;
    try {
      const client = await awaitInTime(
        this.connect(),
        `the MCP server ${this.#name} was not ready within ${seconds} seconds. Call again later.`,
      );
      const running = await awaitInTime(
        client.calls.begin(ask, until),
        `the MCP server ${this.#name} gets one call at a time, and another one took longer than ${seconds} seconds. It may wait for a person. Call again later.`,
      );
      return { client, running };
    } finally {
      limit.stop();
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#retry);
    /* Also while it connects. */
    await this.#client?.close().catch(() => {});
  }

  async #open(): Promise<UpstreamClient> {
    clearTimeout(this.#retry);
    const client = this.#makeClient();
    this.#client = client;
    /* Before it is connected: it may end at once. */
    const onclose = (): void => {
      client.lost.abort(new Error('The connection was lost.'));
      this.#forget(client);
    };
    Object.assign(client, { onclose });
    try {
      await client.connect(this.#makeTransport(), { timeout: connectMs });
      await this.#list(client);
      this.#failures = 0;
      this.#problems = [];
      return client;
    } catch (error) {
      this.#failures += 1;
      const problem = `The upstream ${this.#name} can't be reached: ${this.#describe(error)}`;
      if (!this.#isClosed && !this.#problems.includes(problem)) this.#events.onProblem(problem);
      this.#problems = [problem, ...this.#problems].slice(0, 2);
      await this.#drop(client);
      throw error;
    }
  }

  async #drop(client: Client): Promise<void> {
    await client.close().catch(() => {});
    this.#forget(client);
  }

  /** Connects again later, unless the client is no longer the present one. */
  #forget(client: Client): void {
    if (this.#client !== client) return;
    this.#client = undefined;
    this.#connected = undefined;
    this.#reconnectLater();
  }

  /** Lists the tools, after what was listed before: the last listing counts. One that has not begun serves all that want it. */
  async #list(client: Client, { isTold = false } = {}): Promise<void> {
    if (this.#nextListing === client) return this.#listed;
    this.#nextListing = client;
    const list = async (): Promise<void> => {
      if (isTold) await waitForTimer(this.#listingPause());
      this.#nextListing = undefined;
      this.#listingAt = performance.now();
      const { tools } = await client.listTools(undefined, { timeout: connectMs });
      await this.#events.onListed(tools);
      this.#listedAt = this.#events.now();
    };
    this.#listed = this.#listed.then(list, list);
    return this.#listed;
  }

  /** How long the next listing waits, in milliseconds: a server may say without end that its tools have changed. */
  #listingPause(): number {
    return Math.max(0, this.#listingAt + listingPauseMs - performance.now());
  }

  #makeClient(): UpstreamClient {
    return new UpstreamClient(new ServerCalls(this.#events.wait), {
      capabilities: { elicitation: { form: {}, url: {} } },
      /* After a failure the other way round: some old servers end at the first message that they don't know. */
      versionNegotiation:
        this.#failures % 2 === 0
          ? { mode: 'auto', probe: { timeoutMs: probeMs } }
          : { mode: 'legacy' },
      /* The gate passes results on, whatever their schema says. */
      jsonSchemaValidator: { getValidator: () => passOn },
      listChanged: {
        tools: {
          autoRefresh: false,
          debounceMs: 0,
          onChanged: () => void this.#listAgain({ isTold: true }),
        },
      },
    });
  }

  /** What is listed may differ from what was accepted, so calls wait for it. */
  async #listAgain(why: { isTold?: boolean } = {}): Promise<void> {
    const client = await this.#connected?.catch(() => undefined);
    if (client === undefined) return;
    await this.#list(client, why).catch(async (error: unknown) => {
      this.#events.onProblem(`The upstream ${this.#name} lists no tools: ${this.#describe(error)}`);
      await this.#drop(client);
      this.#listed = Promise.resolve();
    });
  }

  #reconnectLater(): void {
    if (this.#isClosed) return;
    clearTimeout(this.#retry);
    const pauseMs = Math.min(longestPauseMs, 500 * 2 ** this.#failures);
    this.#retry = setTimeout(() => {
      this.connect().catch(() => {});
    }, pauseMs);
    this.#retry.unref();
  }

  #makeTransport(): Transport {
    if ('transport' in this.#options) return this.#options.transport();
    if ('url' in this.#options) return new HttpTransport(this.#options);
    const { command, args = [], cwd, env, inheritEnv = [] } = this.#options;
    const inherited = inheritEnv.flatMap((name) => {
      const value = process.env[name];
      return value === undefined ? [] : [[name, value] as const];
    });
    return new ProcessTransport({
      command,
      args: [...args],
      env: { ...getDefaultEnvironment(), ...Object.fromEntries(inherited), ...env },
      ...(cwd === undefined ? {} : { cwd }),
      /* The standard output of the gate may be a wire. */
      stderr: 'inherit',
    });
  }

  /** An error as text that shows no secret of the upstream. */
  #describe(error: unknown): string {
    const { cwd } = 'command' in this.#options ? this.#options : {};
    const isMissing = Reflect.get(Object(error), 'code') === 'ENOENT';
    const hint = cwd !== undefined && isMissing ? `. Is ${cwd} a folder?` : '';
    const reason = findReason(error);
    const texts = [readErrorText(error), ...(reason === undefined ? [] : [` (${reason})`]), hint];
    return inertText(texts.map((each) => this.#mask(each).slice(0, 1_000)).join(''));
  }
}

const mostCauses = 10;

/** What is at the bottom of an error that has causes, such as `ECONNREFUSED` of "fetch failed": its code, without the address in its text. */
function findReason(error: unknown): string | undefined {
  let found = error;
  for (let depth = 0; depth < mostCauses; depth += 1) {
    const { cause, data } = causeSchema.safeParse(found).data ?? {};
    const next = cause ?? data?.cause;
    if (next === undefined) break;
    found = next;
  }
  if (found === error) return undefined;
  const code: unknown = Reflect.get(Object(found), 'code');
  return typeof code === 'string' ? code : readErrorText(found);
}

/* The protocol's library has the cause of some of its errors in their data. */
const causeSchema = z.object({
  cause: z.unknown(),
  data: z.object({ cause: z.unknown() }).optional().catch(undefined),
});

/** Why a call was not sent. */
class RefusedHere extends Error {}

/* The type assumes that a result fits the schema of its tool: that is for the gate's own clients to check. */
function passOn<DATA>(data: unknown): JsonSchemaValidatorResult<DATA>;
function passOn(data: unknown): JsonSchemaValidatorResult<unknown> {
  return { valid: true, data, errorMessage: undefined };
}

/* With the SDK's own class, each connection starts the server twice, the first time only to ask for its protocol. */
class ProcessTransport extends StdioClientTransport {}
