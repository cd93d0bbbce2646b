import type { JSONValue, ModelMessage, Tool, ToolExecutionOptions, ToolResultPart } from 'ai';
import { z } from 'zod';
import { errorText } from '../../content/error-text.ts';
import { plainCopy } from '../../content/plain-copy.ts';
import type { ToolCall, ToolCallOutcome, ToolCallRecord } from '../../content/tool-call.ts';
import { jsonCopy, toJson } from '../../thread/tagged-json.ts';
import type { ToolDefinition } from './tool-definitions.ts';

/**
 * What `execute` is given beside its input: the AI SDK's options, which call of which thread it is, and a key for the tool's own
 * server. These are always there when a holdpoint agent runs the tool.
 *
 * @example
 * execute: async (input, { idempotencyKey }: ToolRunOptions) => bank.pay(input, { idempotencyKey })
 */
export interface ToolRunOptions extends ToolExecutionOptions<unknown> {
  /**
   * Unique to this call, and the same in every process, at every attempt, and in every copy of the thread: give it to the server that
   * does the work, so that it too does it once.
   */
  idempotencyKey?: string;
  /** How often the call has been started, this time included: above 1 only where the tool is idempotent, or a person had it tried again. */
  attempt?: number;
  /** The thread whose call it is: with `toolCallId`, what `agent.deliver` needs. */
  threadId?: string;
  /** The name that the tool has in the agent. */
  toolName?: string;
}

const maximumErrorLength = 8_000;
const modelOutputSchema = z.custom<ToolResultPart['output']>(
  (value) => typeof value === 'object' && value !== null && 'type' in value,
);
const jsonSchema = z.custom<JSONValue>((value) => value !== undefined);

/** What came of running a call: its one result, or that it goes on outside. */
export type Execution =
  | { type: 'ended'; outcome: ToolCallOutcome }
  | { type: 'deferred'; expiresAfterMs?: number }
  /** It has ignored its time limit, and what it came to is not known. */
  | { type: 'lost' };

/**
 * What a tool that is a generator has yielded so far, as the AI SDK's streams call it. Provisional: it is never recorded, and the next one,
 * or the call's result, takes its place. `output` is JSON.
 */
export interface PreliminaryResult extends ToolCall {
  type: 'tool-result';
  output: JSONValue;
  preliminary: true;
}

/** What a call is run with. */
interface CallOptions {
  threadId: string;
  messages: () => readonly ModelMessage[];
  signal: AbortSignal | undefined;
  /** Gets what the tool yields; without it, nobody is interested. */
  onPreliminary: ((result: PreliminaryResult) => void) | undefined;
  /** Runs the tool's own work. */
  around: (work: () => Promise<unknown>) => Promise<unknown>;
}

/** Runs one call that is recorded as started. Whatever the tool does, this resolves. */
export async function executeCall(
  definition: ToolDefinition,
  call: ToolCallRecord,
  options: CallOptions,
): Promise<Execution> {
  const { tool, context } = definition;
  if (options.signal?.aborted === true) {
    return failed('Not run: the run was aborted before the call began.');
  }
  const { toolCallId, toolName } = call;
  /* A copy: what runs is made of the stored bytes, and is the tool's to change. */
  const input = plainCopy(call.input);
  const executionOptions = {
    toolCallId,
    get messages() {
      return [...options.messages()];
    },
    abortSignal: options.signal,
    context,
    idempotencyKey: call.idempotencyKey ?? toolCallId,
    attempt: call.attempts,
    threadId: options.threadId,
    toolName,
  } satisfies ToolRunOptions;
  const onOutput = options.onPreliminary && preliminary(call, options.onPreliminary);
  let output: unknown;
  try {
    output = await options.around(async () =>
      lastOf(tool.execute?.(input, executionOptions), onOutput),
    );
  } catch (error) {
    return failed(errorText(error).slice(0, maximumErrorLength).toWellFormed());
  }
  const deferral = deferralOf(output);
  if (deferral !== undefined) return { type: 'deferred', ...deferral };
  return { type: 'ended', outcome: await successOf(tool, call, output) };
}

/** What came of a call whose start was recorded too late: it was not run, and that is known. */
export async function notRun(): Promise<Execution> {
  return failed(
    'Not run: recording the start took longer than the lease of the run. Nothing has happened.',
  );
}

function failed(error: string): Execution {
  return { type: 'ended', outcome: { status: 'failed', error } };
}

/** The outcome of a call that succeeded, wherever its output comes from. */
export async function successOf(
  tool: Tool | undefined,
  { toolCallId, input }: ToolCall,
  output: unknown,
): Promise<ToolCallOutcome> {
  const options = { toolCallId, input: plainCopy(input), output };
  const modelOutput = tool && (await modelOutputOf(tool, options));
  const recorded = recordable(output);
  return {
    status: 'succeeded',
    output: recorded,
    ...(modelOutput === undefined ? {} : { modelOutput }),
  };
}

/** A tool may return an async iterable of preliminary outputs; the last is the output, as in the AI SDK. It waits for `onOutput`. */
export async function lastOf(
  returned: unknown,
  onOutput?: (output: unknown) => void | Promise<void>,
): Promise<unknown> {
  const settled = await returned;
  if (!isAsyncIterable(settled)) return settled;
  let last: unknown;
  for await (const output of settled) {
    last = output;
    await onOutput?.(output);
  }
  return last;
}

function preliminary(
  { toolCallId, toolName, input }: ToolCall,
  onPreliminary: (result: PreliminaryResult) => void,
): (output: unknown) => void {
  return (output) => {
    if (deferralOf(output) !== undefined) return;
    const result = { type: 'tool-result' as const, toolCallId, toolName, input };
    onPreliminary({ ...result, output: recordable(output), preliminary: true });
  };
}

function isAsyncIterable(value: unknown): value is AsyncIterable<unknown> {
  return typeof value === 'object' && value !== null && Symbol.asyncIterator in value;
}

/** The output as JSON. The call has happened, so an output that JSON can't hold is a success all the same. */
function recordable(output: unknown): JSONValue {
  try {
    if (typeof output === 'function' || typeof output === 'symbol') {
      throw new TypeError(`JSON has no ${typeof output}.`);
    }
    toJson(output);
    const text = JSON.stringify(output);
    return text === undefined ? null : jsonSchema.parse(JSON.parse(text));
  } catch (error) {
    return `[The call succeeded. Its output can't be recorded as JSON: ${errorText(error).slice(0, 200)}]`;
  }
}

/** What the tool wants the model to see; when that fails, the plain output serves. */
async function modelOutputOf(
  tool: Tool,
  options: { toolCallId: string; input: unknown; output: unknown },
): Promise<ToolResultPart['output'] | undefined> {
  if (tool.toModelOutput === undefined) return undefined;
  try {
    /* A copy: the tool may go on writing what it gave, and the log is bound to its bytes. */
    return modelOutputSchema.parse(jsonCopy(await tool.toModelOutput(options)));
  } catch {
    return undefined;
  }
}

/**
 * What `execute` returns when the result comes later, from outside: the call stays open, the run ends with `waiting`, and
 * `agent.deliver(thread, toolCallId, outcome)` brings the result, once, from any process.
 *
 * @example
 * execute: async (input, { toolCallId }) => {
 *   await queue.add({ input, toolCallId });
 *   return later;
 * }
 */
export const later: unique symbol = Symbol.for('holdpoint.later');

/** A result that comes later, or not at all. */
export interface Later {
  readonly [later]: { expiresAfterMs?: number };
}

/**
 * The same as `later`, for so long, in milliseconds: a call whose result has not come by then fails when the thread goes on (a worker
 * sees to that), and what comes after is refused. The model is told that it is not known whether the call took effect.
 *
 * Throws a `TypeError` for what is no time to come.
 *
 * @example
 * return laterWithin(3_600_000);
 */
export function laterWithin(milliseconds: number): Later {
  const expiresAfterMs = Math.ceil(milliseconds);
  if (isTime(expiresAfterMs)) return { [later]: { expiresAfterMs } };
  throw new TypeError(`A result can't come within ${milliseconds} milliseconds.`);
}

/** How a call goes on outside, if what its tool returned says that it does; without a time, where it says none that can come. */
export function deferralOf(output: unknown): { expiresAfterMs?: number } | undefined {
  if (output === later) return {};
  try {
    if (!isLater(output)) return undefined;
    const { expiresAfterMs } = output[later];
    return isTime(expiresAfterMs) ? { expiresAfterMs } : {};
  } catch {
    /* A tool may return anything: a proxy too, which throws when it is looked at. */
    return undefined;
  }
}

function isTime(milliseconds: unknown): milliseconds is number {
  return typeof milliseconds === 'number' && Number.isSafeInteger(milliseconds) && milliseconds > 0;
}

function isLater(output: unknown): output is Later {
  return typeof output === 'object' && output !== null && later in output;
}
