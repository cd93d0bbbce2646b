import {
  type CallToolResult,
  Client,
  type JsonSchemaValidatorResult,
  SdkHttpError,
  StreamableHTTPClientTransport,
  type Tool,
  type Transport,
} from '@modelcontextprotocol/client';
import { getDefaultEnvironment, StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { UnknownOutcomeError } from '../../agent/calls.ts';
import { readErrorText } from '../../content/app-errors.ts';
import { inertText } from '../../content/inert-text.ts';
import type { UpstreamOptions } from './upstream-options.ts';
import { isRefusal } from './upstream-refusals.ts';
import { makeSecretMask } from './upstream-secrets.ts';

/* How long an upstream may take to start: `npx` may have to install it first. */
const connectMs = 60_000;
/* A server that does not answer what it doesn't know within this time is taken for an old one. */
const probeMs = 3_000;
/* After this time without a result and without progress, nobody knows what came of a call. */
const silenceMs = 600_000;
const longestPauseMs = 30_000;
/* A call waits for another listing if the last one is older: servers need not say that their tools have changed. */
const freshMs = 60_000;

/** A call of an upstream's tool. */
interface UpstreamCall {
  /** The tool, under its own name. */
  tool: Pick<Tool, 'name' | 'inputSchema'>;
  input: Record<string, unknown>;
  /** The same for all attempts of one call. */
  idempotencyKey: string;
  /** Above 1 only after a person has asked for a retry. */
  attempt: number;
  signal: AbortSignal | undefined;
}

/** What a connection reports. */
interface ConnectionEvents {
  /** The upstream has listed its tools. No call is made before it resolves. */
  onListed: (tools: readonly Tool[]) => Promise<void>;
  onProblem: (problem: string) => void;
  now: () => number;
}

/** The connection to an upstream, which is made again when it is lost. A call is sent once: what is lost with the connection is not repeated. */
export class UpstreamConnection {
  readonly #name: string;
  readonly #options: UpstreamOptions;
  readonly #events: ConnectionEvents;
  readonly #mask: (text: string) => string;
  #client: Client | undefined;
  #connected: Promise<Client> | undefined;
  /** Of the present connection: the tools are listed, and what has changed is known. */
  #listed: Promise<void> = Promise.resolve();
  #listedAt = 0;
  #retry: ReturnType<typeof setTimeout> | undefined;
  #failures = 0;
  #isClosed = false;

  constructor(name: string, options: UpstreamOptions, events: ConnectionEvents) {
    this.#name = name;
    this.#options = options;
    this.#events = events;
    this.#mask = makeSecretMask(options);
  }

  /** Connects if need be, and waits until the tools have been listed lately. Rejects if that fails. */
  async connect(): Promise<Client> {
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
    input,
    idempotencyKey,
    attempt,
    signal,
  }: UpstreamCall): Promise<CallToolResult> {
    const client = await this.connect().catch((error: unknown) => {
      throw new Error(`Not called: ${this.#describe(error)}`, { cause: error });
    });
    const meta = { 'holdpoint/idempotencyKey': idempotencyKey, 'holdpoint/attempt': attempt };
    try {
      return await client.callTool(
        { name, arguments: input, _meta: meta },
        {
          ...(signal && { signal }),
          timeout: silenceMs,
          resetTimeoutOnProgress: true,
          /* Asks the server for progress, so that a long call is not given up. */
          onprogress: () => {},
          /*
           * Without this, the client would look the tool up, send a call again whose headers the server refuses, and throw the result of a call away
           * that has no structured content, although the tool declares some.
           */
          toolDefinition: { name, inputSchema },
        },
      );
    } catch (error) {
      /* A server that was started anew does not know the session. */
      if (SdkHttpError.isInstance(error) && error.data.status === 404) await this.#drop(client);
      if (isRefusal(error)) throw new Error(this.#describe(error), { cause: error });
      const told = `The MCP server ${this.#name} did not answer the call: ${this.#describe(error)}`;
      throw new UnknownOutcomeError(told, { cause: error });
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#retry);
    const client = await this.#connected?.catch(() => undefined);
    await client?.close().catch(() => {});
  }

  async #open(): Promise<Client> {
    clearTimeout(this.#retry);
    const client = this.#makeClient();
    this.#client = client;
    /* Before it is connected: it may end at once. */
    Object.assign(client, { onclose: () => this.#forget(client) });
    try {
      await client.connect(this.#makeTransport(), { timeout: connectMs });
      await this.#list(client);
      this.#failures = 0;
      return client;
    } catch (error) {
      this.#failures += 1;
      this.#events.onProblem(
        `The upstream ${this.#name} can't be reached: ${this.#describe(error)}`,
      );
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

  /** Lists the tools, after what was listed before: the last listing counts. */
  async #list(client: Client): Promise<void> {
    const list = async (): Promise<void> => {
      const { tools } = await client.listTools(undefined, { timeout: connectMs });
      await this.#events.onListed(tools);
      this.#listedAt = this.#events.now();
    };
    this.#listed = this.#listed.then(list, list);
    return this.#listed;
  }

  #makeClient(): Client {
    return new Client(
      { name: 'holdpoint-gate', version: '1' },
      {
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
            onChanged: () => void this.#listAgain(),
          },
        },
      },
    );
  }

  /** What is listed may differ from what was accepted, so calls wait for it. */
  async #listAgain(): Promise<void> {
    const client = await this.#connected?.catch(() => undefined);
    if (client === undefined) return;
    await this.#list(client).catch(async (error: unknown) => {
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
    if ('url' in this.#options) {
      const { url, headers } = this.#options;
      return new StreamableHTTPClientTransport(new URL(url), {
        requestInit: { headers: { ...headers } },
      });
    }
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
    const text = this.#mask(readErrorText(error));
    return inertText(text.slice(0, 1_000));
  }
}

/* The type assumes that a result fits the schema of its tool: that is for the gate's own clients to check. */
function passOn<DATA>(data: unknown): JsonSchemaValidatorResult<DATA>;
function passOn(data: unknown): JsonSchemaValidatorResult<unknown> {
  return { valid: true, data, errorMessage: undefined };
}

/* With the SDK's own class, each connection starts the server twice, the first time only to ask for its protocol. */
class ProcessTransport extends StdioClientTransport {}
