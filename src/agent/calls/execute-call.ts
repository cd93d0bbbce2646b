import type { JSONValue, ModelMessage, Tool, ToolExecutionOptions, ToolResultPart } from 'ai';
import { z } from 'zod';
import { readErrorText } from '../../content/app-errors.ts';
import { copyPlain } from '../../json/json-value.ts';
import { readMcpError } from '../../json/mcp-tool.ts';
import {
  jsonValueSchema,
  type ToolCall,
  type ToolCallOutcome,
  type ToolCallRecord,
} from '../../content/tool-call.ts';
import { type PrincipalId, findSoleRequester } from '../../policy/same-person.ts';
import { copyAsLogged, depthInLog, toJson } from '../../json/tagged-json.ts';
import type { ThreadState } from '../../thread/thread-state.ts';
import { isTraced, traceCall } from '../../thread/tracing.ts';
import type { Execution } from './delegation.ts';
import type { ToolDefinition } from './tool-definitions.ts';

/** The thread and the requesters of a call, as its tool receives them. */
interface CallOrigin {
  /** The thread of the call: with `toolCallId`, what `agent.deliver` needs. */
  threadId?: string;
  /** Everybody for whom the turn works, each once; `null` stands for an unknown person. */
  requesters?: readonly unknown[];
  /**
   * The only one of `requesters`, as `principalId` names them. Absent for several people, for an unknown person, and for an object where
   * the agent has no `principalId`.
   */
  requester?: string;
}

/**
 * Options passed to `execute` with its input: the AI SDK's options, the call and its thread, and an idempotency key for the tool's server.
 * A holdpoint agent always sets the optional properties.
 *
 * @example
 * execute: async (input, { idempotencyKey }: ToolRunOptions) => bank.pay(input, { idempotencyKey })
 */
export interface ToolRunOptions extends ToolExecutionOptions<unknown>, CallOrigin {
  /**
   * Unique to this call, and the same in every process, attempt, and copy of the thread. Pass it to the server that does the work, so
   * that the server too does it once.
   */
  idempotencyKey?: string;
  /** The number of starts of this call, this one included: above 1 only if the tool is idempotent, or a person approved a retry. */
  attempt?: number;
  /** The name that the tool has in the agent. */
  toolName?: string;
}

const maximumErrorLength = 8_000;

const modelOutputSchema = z.custom<ToolResultPart['output']>(
  (value) => typeof value === 'object' && value !== null && 'type' in value,
);

/**
 * A preliminary result of a tool that is a generator, as in the AI SDK's streams. Provisional: it is never recorded, and the next one or
 * the call's result replaces it. `output` is JSON.
 */
export interface PreliminaryResult extends ToolCall {
  /** A result of a tool. */
  type: 'tool-result';
  /** The result so far, as JSON. */
  output: JSONValue;
  /** True: it is not the last one. */
  preliminary: true;
}

/** The inputs of `executeCall`. */
interface CallOptions {
  /** Returns the value that the tool's schema made, which the tool may change. Throws if it differs from the recorded one. */
  takeInput: () => unknown;
  state: Readonly<ThreadState>;
  principalId: PrincipalId;
  messages: () => readonly ModelMessage[];
  signal: AbortSignal;
  /** Receives what the tool yields. */
  onPreliminary: ((result: PreliminaryResult) => void) | undefined;
}

/** Executes a call that is recorded as started. Never rejects. */
export async function executeCall(
  definition: ToolDefinition,
  call: ToolCallRecord,
  { takeInput, state, principalId, messages, signal, onPreliminary }: CallOptions,
): Promise<Execution> {
  const { tool, context } = definition;
  if (signal.aborted) {
    return makeFailedExecution('Not run: the run was aborted before the call started.');
  }
  const { toolCallId, toolName } = call;
  const executionOptions = {
    toolCallId,
    get messages() {
      return [...messages()];
    },
    abortSignal: signal,
    context,
    idempotencyKey: call.idempotencyKey ?? toolCallId,
    attempt: call.attempts,
    toolName,
    ...describeOrigin(state, principalId),
  } satisfies ToolRunOptions;
  const onOutput = onPreliminary && reportPreliminary(call, onPreliminary);
  let input: unknown;
  let output: unknown;
  /* By identity: a tool may throw anything, such as a proxy that throws. */
  const refusals = new Set<unknown>();
  const work = async (): Promise<unknown> => {
    input = takeInput();
    output = await readLastOutput(tool.execute?.(input, executionOptions), onOutput);
    if (tool.metadata === undefined) return output;
    const refusal = readMcpError(tool, toRecordableOutput(output));
    if (refusal === undefined) return output;
    refusals.add(refusal);
    throw refusal;
  };
  try {
    const traced = { call, description: tool.description };
    await (isTraced() ? traceCall(state, traced, work) : work());
  } catch (error) {
    if (isUnknownOutcome(error)) return { type: 'lost', error: cutError(readErrorText(error)) };
    if (!refusals.has(error)) return makeFailedExecution(readErrorText(error));
  }
  const deferral = readDeferral(output);
  if (deferral !== undefined) return { type: 'deferred', ...deferral };
  return { type: 'ended', outcome: await makeOutcome(tool, { toolCallId, input }, output) };
}

/** Describes the thread and the requesters of the calls of the open step. */
function describeOrigin(
  { threadId, head }: Readonly<ThreadState>,
  principalId: PrincipalId,
): CallOrigin {
  const { requesters } = head;
  const requester = findSoleRequester({ requesters }, principalId);
  const copies = requesters.map(copyPlain);
  return { threadId, requesters: copies, ...(requester === undefined ? {} : { requester }) };
}

/** The result of a call whose start was recorded too late: it was certainly not run. */
export function makeUnrunExecution({ delegation }: ToolDefinition): Execution {
  /* Its sub-agent may have worked on it before. */
  if (delegation !== undefined) return { type: 'lost' };
  return makeFailedExecution(
    'Not run: recording the start took longer than the lease of the run. Nothing has happened.',
  );
}

/** The execution of a call that failed. The error is cut to a length that every provider accepts. */
export function makeFailedExecution(error: string): Execution {
  return { type: 'ended', outcome: { status: 'failed', error: cutError(error) } };
}

function cutError(error: string): string {
  return error.slice(0, maximumErrorLength).toWellFormed();
}

/** The outcome of a call that returned `output`, here or elsewhere: it succeeded, unless an MCP server says that it failed. */
export async function makeOutcome(
  tool: Tool | undefined,
  call: Pick<ToolCall, 'toolCallId' | 'input'>,
  output: unknown,
): Promise<ToolCallOutcome> {
  const { toolCallId, input } = call;
  const modelOutput =
    tool?.toModelOutput && (await makeModelOutput(tool, { toolCallId, input, output }));
  const recorded = toRecordableOutput(output);
  const returned = { output: recorded, ...(modelOutput === undefined ? {} : { modelOutput }) };
  const error = tool?.metadata === undefined ? undefined : readMcpError(tool, recorded);
  if (error === undefined) return { status: 'succeeded', ...returned };
  return { status: 'failed', error: cutError(error.message), ...returned };
}

/** A tool may return an async iterable of preliminary outputs; the last is the output, as in the AI SDK. `onOutput` is awaited. */
export async function readLastOutput(
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

function reportPreliminary(
  { toolCallId, toolName, input }: ToolCall,
  onPreliminary: (result: PreliminaryResult) => void,
): (output: unknown) => void {
  return (output) => {
    if (readDeferral(output) !== undefined) return;
    const result = { type: 'tool-result' as const, toolCallId, toolName, input };
    onPreliminary({ ...result, output: toRecordableOutput(output), preliminary: true });
  };
}

function isAsyncIterable(value: unknown): value is AsyncIterable<unknown> {
  return typeof value === 'object' && value !== null && Symbol.asyncIterator in value;
}

/** The result of the tool's `toModelOutput`; if it fails, the model gets the plain output. */
async function makeModelOutput(
  tool: Tool,
  options: { toolCallId: string; input: unknown; output: unknown },
): Promise<ToolResultPart['output'] | undefined> {
  try {
    /* A copy: the tool may keep changing its value, and the log must not. */
    return modelOutputSchema.parse(copyAsLogged(await tool.toModelOutput?.(options)));
  } catch {
    return undefined;
  }
}

/** The output as JSON. The call has happened, so an output that JSON can't hold is still a success. */
function toRecordableOutput(output: unknown): JSONValue {
  if (typeof output === 'string') return output;
  try {
    if (typeof output === 'function' || typeof output === 'symbol') {
      throw new TypeError(`JSON can't express a ${typeof output}.`);
    }
    toJson(output);
    const text = JSON.stringify(output);
    if (text === undefined) return null;
    const json: unknown = JSON.parse(text);
    /* After its `toJSON` methods. An output that is too deep for the log must be refused here: the call could never end. */
    toJson(json, depthInLog);
    return jsonValueSchema.parse(json);
  } catch (error) {
    return `[The call succeeded. Its output can't be recorded as JSON: ${readErrorText(error).slice(0, 200)}]`;
  }
}

/**
 * Returned by `execute` when the result comes later, from elsewhere: the call stays open, the run ends with `waiting`, and
 * `agent.deliver(thread, toolCallId, outcome)` delivers the outcome, once, from any process.
 *
 * @example
 * execute: async (input, { toolCallId }) => {
 *   await queue.add({ input, toolCallId });
 *   return later;
 * }
 */
export const later: unique symbol = Symbol.for('holdpoint.later');

const unknownOutcome = Symbol.for('holdpoint.unknown-outcome');

/**
 * Thrown by `execute` when it is unknown whether the call took effect, such as after the connection to a server was lost. The call is then
 * indeterminate, as after a crash: it is not run again automatically, and `reconcile` or a person settles it. Any other error says that it
 * failed.
 *
 * @example
 * execute: async (input, { idempotencyKey }: ToolRunOptions) => {
 *   const reply = await bank.pay(input, { idempotencyKey });
 *   if (reply === undefined) throw new UnknownOutcomeError('The bank did not reply in time.');
 *   return reply;
 * }
 */
export class UnknownOutcomeError extends Error {
  /** The name of the class. */
  override readonly name = 'UnknownOutcomeError';
  /* Registered, so that two copies of the package understand each other. */
  readonly [unknownOutcome] = true;
}

function isUnknownOutcome(error: unknown): boolean {
  try {
    return typeof error === 'object' && error !== null && unknownOutcome in error;
  } catch {
    /* A tool may throw anything, such as a proxy that throws. */
    return false;
  }
}

/** A result that comes later, before a deadline. */
export interface Later {
  readonly [later]: { expiresAfterMs?: number };
}

/**
 * Like `later`, with a deadline in milliseconds: a call without an outcome by then fails when the thread is next run (a worker does that),
 * and a later outcome is refused. The error that the model gets says that it is unknown whether the call took effect.
 *
 * Throws a `TypeError` unless `milliseconds` is a number above 0.
 *
 * @example
 * return laterWithin(3_600_000);
 */
export function laterWithin(milliseconds: number): Later {
  const expiresAfterMs = Math.ceil(milliseconds);
  if (isTime(expiresAfterMs)) return { [later]: { expiresAfterMs } };
  throw new TypeError(`laterWithin takes a number of milliseconds above 0; got ${milliseconds}.`);
}

/**
 * The deadline of a call whose tool returned `later` or `laterWithin`; empty without a valid deadline, `undefined` for any other output.
 */
function readDeferral(output: unknown): { expiresAfterMs?: number } | undefined {
  if (output === later) return {};
  try {
    if (!isLater(output)) return undefined;
    const { expiresAfterMs } = output[later];
    return isTime(expiresAfterMs) ? { expiresAfterMs } : {};
  } catch {
    /* A tool may return anything, such as a proxy that throws. */
    return undefined;
  }
}

function isTime(milliseconds: unknown): milliseconds is number {
  return typeof milliseconds === 'number' && Number.isSafeInteger(milliseconds) && milliseconds > 0;
}

function isLater(output: unknown): output is Later {
  return typeof output === 'object' && output !== null && later in output;
}
