import type { SendCallback } from './send-callback.ts';
import { sessionAsker } from './ask-user.ts';
import { userAsker } from './ask-user.ts';
import { type GrantStore, sessionGrants } from './grant-store.ts';
import { type Address, orderSchema } from './runtime-messages.ts';
import type { OpenPrompts } from './open-prompts.ts';
import type { RunTool } from './serve-call.ts';
import { resultMessage, resultOfError, resultOfOutput, type ToolResult } from './tool-result.ts';
import type { ServedCall, ToolServerOptions } from './tool-server-options.ts';

/** What every call of a server is served with. */
export interface Serving extends Required<
  Pick<ToolServerOptions, 'deadlineMs' | 'graceMs' | 'maximumBodyBytes' | 'wait'>
> {
  tools: ReadonlyMap<string, RunTool>;
  grants: GrantStore;
  prompts: OpenPrompts;
  send: SendCallback;
}

/** A call that came. */
export interface Invocation {
  address: Address;
  /** The message; of it, only the address has been looked at. */
  json: unknown;
  /** Where this server is reached. */
  baseUrl: string;
}

/** Serves a call from its beginning to its one result, which it sends. Rejects when that could not be delivered. */
export async function serveCall(
  serving: Serving,
  invocation: Invocation,
  stop: AbortController,
): Promise<void> {
  const { address } = invocation;
  const ended = new AbortController();
  void stopInTime(serving, stop, ended.signal);
  const result = await Promise.race([
    run(serving, invocation, stop.signal, ended.signal),
    unstopped(serving, stop.signal, ended.signal),
  ]);
  ended.abort(new Error('The call has ended.'));
  const message = resultMessage(address, result);
  try {
    await serving.send(address.callback_url, message, new AbortController().signal);
  } catch (cause) {
    const { group_id, id } = address;
    throw new Error(`The result of call ${id} of ${group_id} was not delivered.`, { cause });
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
    const order = orderSchema.safeParse(invocation.json);
    if (!order.success) throw new Error('This is no invocation.');
    const { operation, arguments: input, thread_ancestors, user_id } = order.data;
    const runTool = serving.tools.get(operation);
    if (runTool === undefined) throw new Error(`There is no tool ${JSON.stringify(operation)}.`);
    const { group_id: groupId, id, call_id } = invocation.address;
    const askUser = userAsker({
      ...serving,
      ...invocation,
      signal: AbortSignal.any([stop, ended]),
    });
    const grants = sessionGrants(serving.grants, groupId);
    const call: ServedCall = {
      id,
      callId: call_id ?? undefined,
      groupId,
      threadAncestors: thread_ancestors ?? [],
      userId: user_id ?? undefined,
      signal: stop,
      grants,
      askUser,
      askForSession: sessionAsker(askUser, grants),
    };
    const output = await runTool(input, call);
    const { maximumBodyBytes: maximumBytes } = serving;
    return resultOfOutput(output, { address: invocation.address, maximumBytes });
  } catch (error) {
    return resultOfError(error);
  }
}

async function stopInTime(
  { deadlineMs, wait }: Serving,
  stop: AbortController,
  ended: AbortSignal,
): Promise<void> {
  await wait(deadlineMs, ended);
  if (ended.aborted) return;
  stop.abort(new DOMException('The call was not done in time.', 'TimeoutError'));
}

/** The result of a tool that goes on after it was told to stop. What it comes to is not known, and is not said later. */
async function unstopped(
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
  return resultOfError(`${why} It is not known whether it took effect.`);
}

/* MERGED from rap/tool-server/served-tools.ts */
import { asSchema } from 'ai';
import { z } from 'zod';
import type { ServedCall, ServedTool } from './tool-server-options.ts';

/** Runs a tool with what the runtime says its input is; throws when it is not. */
export type RunTool = (input: unknown, call: ServedCall) => Promise<unknown>;

/**
 * What runs each tool, by name: a map, so that no name from outside finds anything else. Throws a `TypeError` for a schema that checks
 * nothing.
 */
export function servedTools(
  tools: Readonly<Record<string, ServedTool<unknown>>>,
): ReadonlyMap<string, RunTool> {
  return new Map(Object.entries(tools).map(([name, tool]) => [name, toolRunner(name, tool)]));
}

function toolRunner(name: string, tool: ServedTool<unknown>): RunTool {
  const { validate } = asSchema(tool.inputSchema);
  if (validate === undefined) {
    throw new TypeError(`The inputSchema of tool '${name}' has no validate: it would let all in.`);
  }
  return async function runTool(input, call) {
    const result = await validate(input);
    if (result.success) return tool.execute(result.value, call);
    throw new Error(`The arguments are not those of ${name}: ${faultOf(result.error)}`);
  };
}

function faultOf(error: Error): string {
  return error instanceof z.core.$ZodError ? z.prettifyError(error) : error.message;
}
