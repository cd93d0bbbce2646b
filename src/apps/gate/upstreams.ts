import type { CallToolResult, Progress, Tool as McpTool } from '@modelcontextprotocol/client';
import { jsonSchema, type Tool, type ToolSet } from 'ai';
import { type Agent, callTexts, receiveAnswers, type ToolRunOptions } from '../../agent.ts';
import { isObject } from '../../json/json-value.ts';
import { toCanonicalText } from '../../policy/digest.ts';
import type { Elicitations } from '../../tools/ask-elicitations.ts';
import { ElicitationRefused } from '../../tools/elicitation.ts';
import { nameClient, readCallMessage } from './call-record.ts';
import type { GateProblem } from './gate-problem.ts';
import { makePinsAgent, PinnedTools, type PinsOptions } from './pinned-tools.ts';
import { isDeeper, isReadOnly, type PinnedTool, readListing } from './tool-definitions.ts';
import { UpstreamConnection } from './upstream-connection.ts';
import { checkUpstreams, type UpstreamOptions } from './upstream-options.ts';
import type { AskPeople } from './upstream-questions.ts';
import { omitHeaders, omitPatterns } from './upstream-schemas.ts';
import { inertLine } from '../../content/inert-text.ts';

/** The servers behind a gate, with their accepted tools. */
export interface Upstreams {
  /** The tools, for an agent. The same object until one of them changes. */
  readonly tools: ToolSet;
  /** The same tools as clients of the gate see them, in a stable order. */
  readonly listed: readonly McpTool[];
  /** Calls the listener after a change of the tools. Returns the unsubscribe function. */
  onChange: (listener: () => void) => () => void;
  /** Resolves when each upstream has pins, or was tried once. Never rejects. */
  whenListed: () => Promise<void>;
  /** The name of the upstream that has a tool, by the gate's name for the tool; `undefined` if none has it. */
  findUpstream: (tool: string) => string | undefined;
  /** Connects to the upstream that has a tool, by the gate's name for the tool. Rejects if that fails. */
  connect: (tool: string) => Promise<void>;
  /** Explains why a tool can't be called now, by the gate's name for it; `undefined` if it can. */
  whyNot: (tool: string) => string | undefined;
  /** The names of upstreams that have never listed their tools. */
  readonly unlisted: readonly string[];
  /** The progress of their running calls. */
  readonly progress: CallProgress;
  /** The agents in whose name people are asked about upstreams. */
  readonly agents: readonly Agent[];
  close: () => Promise<void>;
}

/** The options of all upstreams. */
interface UpstreamsOptions extends PinsOptions {
  now: () => number;
  wait: (milliseconds: number, signal: AbortSignal) => Promise<unknown>;
  /** The polling interval. While a change of a tool is undecided, every second poll looks for a decision about it. */
  pollMs: number;
  upstreams: Readonly<Record<string, UpstreamOptions>>;
  report: (problem: GateProblem) => void;
  /** Passes the servers' questions during calls to people. */
  elicitations: Elicitations;
  /** Aborts when the gate closes: nobody is asked any more. */
  closing: AbortSignal;
}

/** Connects to upstreams in the background: tools that were pinned before are there at once. */
export function openUpstreams({ upstreams, report, ...options }: UpstreamsOptions): Upstreams {
  const { elicitations, closing } = options;
  checkUpstreams(upstreams);
  const agent = makePinsAgent(options);
  const progress = new CallProgress();
  const isAlone = Object.keys(upstreams).length === 1;
  const listeners = new Set<() => void>();
  const opened = Object.entries(upstreams).map(([name, each]) =>
    openUpstream(name, each, {
      pins: new PinnedTools(agent, { gate: options.name ?? 'gate', upstream: name }),
      prefix: isAlone ? '' : `${name}__`,
      now: options.now,
      wait: options.wait,
      pollMs: options.pollMs,
      elicitations,
      closing,
      progress,
      report: (problem) => report({ upstream: name, problem }),
      onChange: () => {
        tools = undefined;
        listed = undefined;
        for (const listener of listeners) listener();
      },
    }),
  );
  const find = (tool: string) => opened.find(({ prefix }) => tool.startsWith(prefix));
  let tools: ToolSet | undefined;
  const readTools = (): ToolSet =>
    (tools ??= Object.fromEntries(opened.flatMap((each) => each.makeTools())));
  let listed: McpTool[] | undefined;
  const listing = Promise.all(opened.map(async ({ start }) => start()));
  return {
    get tools() {
      return readTools();
    },
    get listed() {
      return (listed ??= opened.flatMap((each) => each.list()));
    },
    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    whenListed: async () => void (await listing),
    findUpstream: (tool) => (Object.hasOwn(readTools(), tool) ? find(tool)?.name : undefined),
    connect: async (tool) => find(tool)?.connect(),
    whyNot: (tool) => find(tool)?.whyNot(tool),
    get unlisted() {
      return opened.filter((each) => each.isUnlisted()).map((each) => each.name);
    },
    progress,
    agents: [agent],
    close: async () => {
      await Promise.all(opened.map(async (each) => each.close()));
    },
  };
}

/** The options of one upstream. */
interface UpstreamSetting extends Pick<
  UpstreamsOptions,
  'now' | 'wait' | 'pollMs' | 'elicitations' | 'closing'
> {
  pins: PinnedTools;
  progress: CallProgress;
  /** The prefix of its tools' names in the gate. */
  prefix: string;
  report: (problem: string) => void;
  onChange: () => void;
}

function openUpstream(
  name: string,
  options: UpstreamOptions,
  {
    pins,
    prefix,
    now,
    wait,
    pollMs,
    elicitations,
    closing,
    progress,
    report,
    onChange,
  }: UpstreamSetting,
) {
  let watching: ReturnType<typeof setInterval> | undefined;
  const watch = (): void => {
    if (pins.isUndecided === (watching !== undefined)) return;
    clearInterval(watching);
    watching = pins.isUndecided ? setInterval(refresh, 2 * pollMs) : undefined;
    watching?.unref();
  };
  let refreshing: Promise<void> | undefined;
  /* One at a time: there may be many tools to decide about. */
  const refresh = (): void => {
    refreshing ??= readDecisions().finally(() => (refreshing = undefined));
  };
  const readDecisions = async (): Promise<void> => {
    try {
      if (await pins.refresh()) onChange();
    } catch (error) {
      report(`What was decided about its tools can't be read: ${String(error)}`);
    }
    watch();
  };
  let hasListed = false;
  const connection = new UpstreamConnection(name, options, {
    now,
    wait,
    onProblem: report,
    onListed: async (listed) => {
      const { tools, problems } = readListing(listed);
      for (const each of problems) report(each);
      const before = toCanonicalText(pins.tools);
      const problem = await pins.compare(tools);
      hasListed = true;
      if (problem !== undefined) report(problem);
      watch();
      if (toCanonicalText(pins.tools) !== before) onChange();
    },
  });
  const callTool = async (
    tool: PinnedTool,
    input: unknown,
    { threadId, toolCallId, abortSignal, idempotencyKey = '', attempt = 1 }: ToolRunOptions,
  ): Promise<unknown> => {
    const ask = askInCall({ elicitations, closing, server: name }, { threadId, toolCallId });
    const result = await connection.call({
      tool: { name: tool.name, inputSchema: { ...tool.inputSchema, type: 'object' } },
      /* By its own word, a read-only tool has done nothing. */
      checksResult: tool.outputSchema !== undefined && !isReadOnly(tool),
      input: isObject(input) ? input : {},
      idempotencyKey,
      attempt,
      signal: abortSignal ?? neverAborted,
      whyNot: async () => {
        if (pins.whyNot(tool.name) !== undefined) await readDecisions();
        return pins.whyNot(tool.name) ?? pins.whyOutdated(tool);
      },
      ask: async (params, until) => {
        progress.report(threadId, `${name} asks a person something.`);
        const answer = await ask(params, until);
        progress.report(threadId, `${name} has got an answer.`);
        return answer;
      },
      onProgress: (said) => progress.report(threadId, describeProgress(name, said)),
    });
    return boundResult(result);
  };
  const makeTool = (tool: PinnedTool): Tool => {
    /* The title that people see. The server's own title could name something else. */
    const title = `${tool.name} of ${name}`;
    const made = {
      type: 'dynamic',
      title,
      description: tool.description,
      inputSchema: jsonSchema(omitPatterns(tool.inputSchema)),
      metadata: { clientName: name, annotations: tool.annotations },
      needsApproval: async () => !(await pins.isAllowed(tool)),
      execute: async (input, running) => callTool(tool, input, running),
    } satisfies Tool;
    const asking = receiveAnswers(made, elicitations.receiver);
    callTexts.set(
      asking,
      ([call]) => `${nameClient(readCallMessage(call))} wants to call ${title}.`,
    );
    return asking;
  };
  return {
    name,
    prefix,
    isUnlisted: (): boolean => !hasListed && pins.tools.length === 0,
    start: async (): Promise<void> => {
      try {
        await pins.load();
      } catch (error) {
        report(`Its pinned tools can't be read: ${String(error)}`);
      }
      const connecting = connection.connect().catch(() => {});
      if (pins.tools.length === 0) await connecting;
      else onChange();
    },
    connect: async (): Promise<void> => void (await connection.connect()),
    list: (): McpTool[] =>
      pins.tools.map((tool): McpTool => {
        const { inputSchema, outputSchema } = tool;
        return {
          ...tool,
          name: `${prefix}${tool.name}`,
          inputSchema: { ...omitHeaders(inputSchema), type: 'object' },
          ...(outputSchema && { outputSchema: { ...outputSchema, type: 'object' } }),
        };
      }),
    makeTools: (): [string, Tool][] =>
      pins.tools.map((tool) => [`${prefix}${tool.name}`, makeTool(tool)]),
    whyNot: (toolName: string): string | undefined => {
      const reason = pins.whyNot(toolName.slice(prefix.length));
      /* Lists the tools again if the last listing is old: the reason may be gone. */
      if (reason !== undefined) connection.connect().catch(() => {});
      return reason;
    },
    close: async (): Promise<void> => {
      clearInterval(watching);
      await connection.close();
    },
  };
}

const neverAborted = new AbortController().signal;

/* A server that asks without end would fill the log. */
const mostQuestions = 20;

/** Passes a server's question during this call to people. */
function askInCall(
  {
    elicitations,
    closing,
    server,
  }: Pick<UpstreamsOptions, 'elicitations' | 'closing'> & { server: string },
  { threadId, toolCallId }: { threadId: string | undefined; toolCallId: string },
): AskPeople {
  let questions = 0;
  return async (params, signal) => {
    questions += 1;
    if (threadId === undefined) throw new ElicitationRefused('The call has no thread.');
    if (questions > mostQuestions) {
      throw new ElicitationRefused(`It has asked ${mostQuestions} questions in one call.`);
    }
    const until = AbortSignal.any([signal, closing]);
    const call = { threadId, toolCallId };
    try {
      return await elicitations.ask({ call, params, server, signal: until });
    } catch (error) {
      /* The server ends its call then, and the gate can record its outcome. */
      if (closing.aborted) return { action: 'cancel' };
      throw error;
    }
  };
}

type Listener = (text: string) => void;

/* The limit for a server's message, in characters. */
const longestMessage = 200;

/** Passes the progress of running calls from servers to waiting callers. */
class CallProgress {
  readonly #listeners = new Map<string, Set<Listener>>();

  /** Calls the listener with each text about the call of this thread. Returns the unsubscribe function. */
  follow(threadId: string, listener: Listener): () => void {
    const listeners = this.#listeners.get(threadId) ?? new Set();
    this.#listeners.set(threadId, listeners.add(listener));
    return () => {
      listeners.delete(listener);
      if (listeners.size === 0) this.#listeners.delete(threadId);
    };
  }

  report(threadId: string | undefined, text: string): void {
    for (const listener of this.#listeners.get(threadId ?? '') ?? []) listener(text);
  }
}

/** Describes a server's progress as a line in which nothing looks like a text of ours. */
function describeProgress(server: string, { progress, total, message }: Progress): string {
  const amount = total === undefined ? `${progress}` : `${progress} of ${total}`;
  const said = message === undefined ? '' : `: ${inertLine(message.slice(0, longestMessage))}`;
  return `${server} reports ${amount}${said}`;
}

/* The limits of a result that is passed on, in characters of JSON and in levels: no program can write all that another one reads. */
const longestResult = 1_048_576;
const deepestResult = 400;

/** Leaves out a result that is too long or too deep, and warns in one with large numbers that they may have been rounded. */
function boundResult(result: CallToolResult): CallToolResult {
  if (isDeeper(result, deepestResult))
    return leaveOut(result, `JSON that is nested more than ${deepestResult} deep`);
  const { length } = JSON.stringify(result);
  if (length > longestResult)
    return leaveOut(
      result,
      `${length} characters of JSON, and at most ${longestResult} are passed on`,
    );
  if (!hasLargeNumber(result.structuredContent)) return result;
  const text =
    'Numbers beyond ±(2^53 - 1) in the structured content of this result may have been rounded: do not rely on them, such as on an id.';
  return { ...result, content: [{ type: 'text', text }, ...result.content] };
}

function leaveOut({ isError }: CallToolResult, what: string): CallToolResult {
  const text = `The tool has returned ${what}, so the result was left out.`;
  return { content: [{ type: 'text', text }], ...(isError === true && { isError }) };
}

function hasLargeNumber(value: unknown): boolean {
  if (typeof value === 'number') return Math.abs(value) > Number.MAX_SAFE_INTEGER;
  return isObject(value) && Object.values(value).some(hasLargeNumber);
}
