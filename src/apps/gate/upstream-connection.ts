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
import { UnknownOutcomeError } from '../../agent.ts';
import { readErrorText } from '../../content/app-errors.ts';
import { inertText } from '../../content/inert-text.ts';
import { awaitUntilAborted, startTimeLimit, waitForTimer } from '../../content/waiting.ts';
import { ElicitationRefused } from '../../tools/elicitation.ts';
import type { UpstreamOptions } from './upstream-options.ts';
import {
  AnsweredCallFailed,
  callUntilDone,
  HttpTransport,
  UpstreamClient,
} from './upstream-client.ts';
import { type AskPeople, ServerCalls } from './upstream-questions.ts';
import { isRefusal } from './upstream-refusals.ts';
import { makeSecretMask } from './upstream-secrets.ts';
import { SilenceTimer } from './silence-timer.ts';

/* The time for an upstream to start: `npx` may have to install it first. */
const connectMs = 60_000;
/* A server that doesn't answer an unknown request within this time counts as an old one. */
const probeMs = 3_000;
/* The time that a call waits for its server to start, or for its turn: common clients give up after 60 seconds. */
const patienceMs = 30_000;
/* After this time without a result or progress, the outcome of a call is unknown. */
const silenceMs = 600_000;
/* The silence is measured here, as people may take longer to answer what a server asks. */
const noTimeoutMs = 2 ** 31 - 1;
const longestPauseMs = 30_000;
/* The pause between the beginnings of two listings. */
const listingPauseMs = 250;
/* A call waits for another listing if the last one is older: servers need not report changes of their tools. */
const freshMs = 60_000;

/** A call of an upstream's tool. */
interface UpstreamCall {
  /** The tool, under its own name. */
  tool: Pick<Tool, 'name' | 'inputSchema'>;
  /** True if the server may refuse the result of the tool after it ran. */
  checksResult: boolean;
  input: Record<string, unknown>;
  /** The idempotency key, the same for all attempts of one call. */
  idempotencyKey: string;
  /** The number of the attempt: above 1 only after a person has asked for a retry. */
  attempt: number;
  signal: AbortSignal;
  /** Explains why the call can't be sent, now that the server has listed its tools; `undefined` if it can. */
  whyNot: () => Promise<string | undefined>;
  /** Passes questions of the server during the call to people. */
  ask: AskPeople;
  onProgress: (progress: Progress) => void;
}

/** The reports of a connection. */
interface ConnectionEvents {
  /** Called when the upstream has listed its tools. No call is made before it resolves. */
  onListed: (tools: readonly Tool[]) => Promise<void>;
  onProblem: (problem: string) => void;
  now: () => number;
  wait: (milliseconds: number, signal: AbortSignal) => Promise<unknown>;
}

/** The connection to an upstream, which reconnects when it is lost. A call is sent once: it is not repeated if the connection is lost. */
export class UpstreamConnection {
  readonly #name: string;
  readonly #options: UpstreamOptions;
  readonly #events: ConnectionEvents;
  readonly #mask: (text: string) => string;
  #client: UpstreamClient | undefined;
  #connected: Promise<UpstreamClient> | undefined;
  /** Resolves when the present connection has listed its tools, and their changes are known. */
  #listed: Promise<void> = Promise.resolve();
  #listedAt = 0;
  /** The client whose next listing has not begun. */
  #nextListing: Client | undefined;
  #listingAt = -Infinity;
  #retry: ReturnType<typeof setTimeout> | undefined;
  #failures = 0;
  /** The reported problems of the last two attempts to connect, which alternate between two ways. */
  #problems: readonly string[] = [];
  #isClosed = false;

  constructor(name: string, options: UpstreamOptions, events: ConnectionEvents) {
    this.#name = name;
    this.#options = options;
    this.#events = events;
    this.#mask = makeSecretMask(options);
  }

  /** Connects if needed, and waits until the list of tools is recent. Rejects if that fails. */
  async connect(): Promise<UpstreamClient> {
    if (this.#isClosed) throw new Error('The gate is closed.');
    const client = await (this.#connected ??= this.#open());
    await this.#listed;
    if (this.#events.now() < this.#listedAt + freshMs) return client;
    await this.#listAgain();
    return (this.#connected ??= this.#open());
  }

  /**
   * Calls a tool, once. Rejects with `UnknownOutcomeError` if the outcome is unknown; any other error says that the call was not made, or
   * that the server refused it.
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
          /* Asks the server for progress, so that a long call doesn't time out. */
          onprogress: (progress) => {
            silence.restart();
            onProgress(progress);
          },
          /*
           * Without this, the client would look the tool up, repeat a call whose headers the server refuses, and discard a result without
           * structured content of a tool that declares some.
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
      /* The server's own question may have failed, and the server may return that error as the call's. */
      const hasBegun = isAnswered || running.hasAsked;
      const isRefused = isRefusal(error, { checksResult });
      /* A restarted server does not know the session. */
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

  /** Waits for the client to be able to send a call. Rejects if that takes too long: nothing was sent. */
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
    /* Closed even while it connects. */
    await this.#client?.close().catch(() => {});
  }

  async #open(): Promise<UpstreamClient> {
    clearTimeout(this.#retry);
    const client = this.#makeClient();
    this.#client = client;
    /* Set before connecting: the connection may end at once. */
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

  /** Lists the tools after any earlier listing: the last one counts. One that has not begun serves all who ask. */
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

  /** Returns the wait before the next listing, in milliseconds: a server may keep reporting changes of its tools. */
  #listingPause(): number {
    return Math.max(0, this.#listingAt + listingPauseMs - performance.now());
  }

  #makeClient(): UpstreamClient {
    return new UpstreamClient(new ServerCalls(this.#events.wait), {
      capabilities: { elicitation: { form: {}, url: {} } },
      /* After a failure it tries the other way: some old servers exit at the first unknown message. */
      versionNegotiation:
        this.#failures % 2 === 0
          ? { mode: 'auto', probe: { timeoutMs: probeMs } }
          : { mode: 'legacy' },
      /* The gate passes results on without checking their schema. */
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

  /** The new list may differ from the accepted one, so calls wait for it. */
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
      cwd,
      /* The standard output of the gate may carry the protocol. */
      stderr: 'inherit',
    });
  }

  /** Describes an error without the secrets of the upstream. */
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

/** Finds the code at the bottom of an error's causes, such as `ECONNREFUSED` of "fetch failed", without the address in its text. */
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

/* The protocol's library puts the cause of some errors into their data. */
const causeSchema = z.object({
  cause: z.unknown(),
  data: z.object({ cause: z.unknown() }).optional().catch(undefined),
});

/** The error of a call that was not sent. */
class RefusedHere extends Error {}

/* The type assumes that a result fits its tool's schema: the gate's own clients check that. */
function passOn<DATA>(data: unknown): JsonSchemaValidatorResult<DATA>;
function passOn(data: unknown): JsonSchemaValidatorResult<unknown> {
  return { valid: true, data, errorMessage: undefined };
}

/* With the SDK's own class, each connection starts the server twice, first only to ask for its protocol. */
class ProcessTransport extends StdioClientTransport {}
