import { asSchema } from 'ai';
import { z } from 'zod';
import { renderSchemaError } from '../../../json/field-fault.ts';
import { readMcpError } from '../../../json/mcp-tool.ts';
import type { Caller, SendCallback } from './callers.ts';
import { type OpenPrompts, makeUserAsker } from './ask-user.ts';
import { makeSessionAsker, makeSessionGrants } from './session-grants.ts';
import { type CallAddress, pickCallIds, contentSchema, invocationSchema } from '../messages.ts';
import type { OwnedCall } from './running-calls.ts';
import type {
  GrantStore,
  ServedCall,
  ServedTool,
  ToolServerOptions,
} from './tool-server-options.ts';

/** The settings that all calls of a server share. */
export interface Serving extends Required<
  Pick<ToolServerOptions, 'deadlineMs' | 'graceMs' | 'maximumBodyBytes' | 'wait'>
> {
  tools: ReadonlyMap<string, RunTool>;
  grants: GrantStore;
  prompts: OpenPrompts;
  makeSender: (caller: Caller) => SendCallback;
}

/** A call to serve. */
interface Invocation {
  call: OwnedCall;
  address: CallAddress;
  /** The message; only its address has been validated. */
  json: unknown;
  /** The URL at which the runtime reaches this server. */
  baseUrl: string;
}

/** Runs a call and sends its result, exactly one. Rejects if the result could not be delivered. */
export async function serveCall(
  serving: Serving,
  invocation: Invocation,
  stop: AbortController,
): Promise<void> {
  const { address, call } = invocation;
  const ended = new AbortController();
  void stopAtDeadline(serving, stop, ended.signal);
  const result = await Promise.race([
    run(serving, invocation, stop.signal, ended.signal),
    failAfterGrace(serving, stop.signal, ended.signal),
  ]);
  ended.abort(new Error('The call has ended.'));
  const message = makeResultMessage(address, result);
  try {
    const send = serving.makeSender(call.caller);
    await send(address.callback_url, message, new AbortController().signal);
  } catch (cause) {
    const { group_id, id } = address;
    throw new Error(`The result of call ${id} of thread ${group_id} was not delivered.`, { cause });
  }
}

async function run(
  serving: Serving,
  invocation: Invocation,
  stop: AbortSignal,
  ended: AbortSignal,
): Promise<ToolResult> {
  try {
    stop.throwIfAborted();
    const parsed = invocationSchema.safeParse(invocation.json);
    if (!parsed.success)
      throw new Error(`Not a valid invocation: ${renderSchemaError(parsed.error)}`);
    const { operation, arguments: input, thread_ancestors } = parsed.data;
    const runTool = serving.tools.get(operation);
    if (runTool === undefined) throw new Error(`There is no tool ${JSON.stringify(operation)}.`);
    const { group_id: groupId, id, call_id, user_id } = invocation.address;
    const { caller } = invocation.call;
    const askUser = makeUserAsker({
      ...serving,
      ...invocation,
      caller,
      send: serving.makeSender(caller),
      signal: AbortSignal.any([stop, ended]),
    });
    const grants = makeSessionGrants(serving.grants, invocation.call);
    const call: ServedCall = {
      id,
      callId: call_id ?? undefined,
      groupId,
      threadAncestors: thread_ancestors ?? [],
      caller: caller.id[0] === 'secret' ? (caller.id[1] ?? undefined) : undefined,
      userId: user_id ?? undefined,
      signal: stop,
      grants,
      askUser,
      askForSession: makeSessionAsker(askUser, grants),
    };
    const output = await runTool(input, call);
    const { maximumBodyBytes: maximumBytes } = serving;
    return convertOutput(output, { address: invocation.address, maximumBytes });
  } catch (error) {
    return convertError(error);
  }
}

async function stopAtDeadline(
  { deadlineMs, wait }: Serving,
  stop: AbortController,
  ended: AbortSignal,
): Promise<void> {
  await wait(deadlineMs, ended);
  if (ended.aborted) return;
  stop.abort(new DOMException('The call did not end within its deadline.', 'TimeoutError'));
}

/** Fails a call whose tool has not stopped in time. Nothing that the tool does later is reported. */
async function failAfterGrace(
  { graceMs, wait }: Serving,
  stop: AbortSignal,
  ended: AbortSignal,
): Promise<ToolResult> {
  await new Promise((resolve) => {
    if (stop.aborted) resolve(undefined);
    stop.addEventListener('abort', resolve, { once: true });
  });
  await wait(graceMs, ended);
  const why = stop.reason instanceof DOMException ? stop.reason.message : '';
  return convertError(`${why} It is unknown whether it took effect.`);
}

/** Validates the input of a tool and runs it; rejects if the input is invalid. */
type RunTool = (input: unknown, call: ServedCall) => Promise<unknown>;

/**
 * Makes a function for each tool that validates its input and runs it. A map, so that a name in a request can only find a tool. Throws a
 * `TypeError` for a schema that validates nothing.
 */
export function makeToolRunners(
  tools: Readonly<Record<string, ServedTool<unknown>>>,
): ReadonlyMap<string, RunTool> {
  return new Map(Object.entries(tools).map(([name, tool]) => [name, makeToolRunner(name, tool)]));
}

function makeToolRunner(name: string, tool: ServedTool<unknown>): RunTool {
  const { validate } = asSchema(tool.inputSchema);
  if (validate === undefined) {
    throw new TypeError(
      `The inputSchema of tool '${name}' has no validate function: it would accept any input.`,
    );
  }
  return async function runTool(input, call) {
    const result = await validate(input);
    if (!result.success) {
      throw new Error(`Invalid arguments for ${name}: ${describeValidationError(result.error)}`);
    }
    const output = await tool.execute(result.value, call);
    const error = readMcpError(tool, output);
    if (error !== undefined) throw error;
    return output;
  };
}

function describeValidationError(error: Error): string {
  return error instanceof z.core.$ZodError ? renderSchemaError(error) : error.message;
}

/** The content of a `tool_result`. */
type ToolResult = { text: string } | z.infer<typeof contentSchema>;

/**
 * Converts the output of a tool to a result. If it can't be sent, the result is still a success, as the tool has run: an error would
 * mislead.
 */
function convertOutput(
  output: unknown,
  { address, maximumBytes }: { address: CallAddress; maximumBytes: number },
): ToolResult {
  try {
    const result = toResult(output);
    const bytes = new Blob([JSON.stringify(makeResultMessage(address, result))]).size;
    return bytes <= maximumBytes
      ? result
      : { text: `The tool succeeded. Its result has ${bytes} bytes, which is too many to send.` };
  } catch {
    return { text: "The tool succeeded. Its result can't be sent as JSON." };
  }
}

/** The message that ends a call. */
function makeResultMessage(address: CallAddress, result: ToolResult): object {
  return { type: 'tool_result', ...pickCallIds(address), ...result };
}

/** Converts a tool's error, or that of a call that did not run, to a result. */
function convertError(error: unknown): { text: string } {
  const text = readFailureText(error).slice(0, 10_000).toWellFormed();
  return { text: text.startsWith('Error: ') ? text : `Error: ${text}` };
}

function readFailureText(error: unknown): string {
  try {
    const message = error instanceof Error ? error.message : error;
    if (typeof message === 'string' && message !== '') return message;
  } catch {
    /* A getter of the error threw. */
  }
  return 'The tool failed.';
}

function toResult(output: unknown): ToolResult {
  if (typeof output === 'string') return { text: output };
  const { data } = contentSchema.safeParse(output);
  return data ?? { text: JSON.stringify(output) ?? 'The tool succeeded.' };
}
