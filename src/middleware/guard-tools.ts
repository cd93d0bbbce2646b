import type { Tool, ToolExecutionOptions, ToolSet } from 'ai';
import type { AgentOptions } from '../agent/agent-options.ts';
import { createAgent } from '../agent/create-agent.ts';
import { refuseUnknownRecovery } from '../agent/known-settings.ts';
import { checkRecovery } from '../agent/run/tool-recovery.ts';
import { untilAborted } from '../content/until-aborted.ts';
import { HoldpointError } from '../errors.ts';
import { type Guard, GuardedCall, type GuardedTool } from './guarded-call.ts';
import { StepCalls } from './repeated-ids.ts';

/** What tools are guarded with. What has a name in `createAgent` has its meaning here. */
export interface GuardOptions<TOOLS extends ToolSet = ToolSet>
  extends Omit<Guard, 'wait'>, Pick<AgentOptions<TOOLS>, 'toolRecovery'> {
  /** The conversation that the calls are of: a call is known by this and its tool call id. Any text but the empty one. */
  threadId: string;
  /** Where each call is recorded, in a thread of its own. Not a store whose threads a worker runs. */
  store: Guard['store'];
  /**
   * Waits until the log of a call that runs elsewhere is looked at again; rejects when the signal aborts. Default: 200
   * milliseconds.
   */
  wait?: Guard['wait'] | undefined;
}

/**
 * The same tools for a loop of the AI SDK's own (`generateText`, `streamText`, `ToolLoopAgent`), each of whose calls starts at most
 * once: its start is recorded before `execute` is called, and its result after. The same call again gives the recorded result, in any
 * process; while it runs elsewhere, it waits. A call is the same by `threadId`, tool call id, and how many calls of that id the
 * messages show as ended: providers that begin their ids anew in every answer get each call run. Two calls of one id in one answer
 * can't be told apart, and the second is refused.
 *
 * What an `async *execute` yields comes out as it is yielded, while the call runs here; recorded is its last output alone.
 *
 * `execute` gets the AI SDK's options, and the call's `idempotencyKey` (`ToolRunOptions`). It throws what the tool throws, and a
 * `HoldpointError`: `thread-indeterminate` when nobody knows how the call ended, `requests-open` when it goes on elsewhere,
 * `not-allowed` when the id was used for another call, or the input is not JSON that can be recorded exactly, `invalid-input` for a call
 * without a `toolCallId`. Nobody checks what people were shown, nor who approved: for that the AI SDK's history, as the caller brings
 * it, is the authority.
 *
 * Throws `invalid-input` without a `threadId`, and a `TypeError` as `createAgent` does.
 *
 * @example
 * const guarded = guardTools(tools, { store, threadId: 'trip-42' });
 * const result = await generateText({ model, tools: guarded, toolApproval, messages });
 */
export function guardTools<TOOLS extends ToolSet>(
  tools: TOOLS,
  { toolRecovery = {}, wait = pause, threadId, ...agentOptions }: GuardOptions<TOOLS>,
): TOOLS {
  /* Without types a missing id is `undefined`, and all conversations would be one. */
  if (typeof threadId !== 'string' || threadId === '') {
    throw new HoldpointError('invalid-input', 'guardTools needs the id of the conversation.');
  }
  /* Made for its checks, as in holdPoint. */
  createAgent({ ...agentOptions, model: 'none' });
  checkRecovery(toolRecovery, tools);
  refuseUnknownRecovery(toolRecovery);
  const recoveries = new Map(Object.entries(toolRecovery));
  const calls = new StepCalls();
  const options = { ...agentOptions, threadId };
  const guarded = { ...tools };
  for (const [name, tool] of Object.entries(tools)) {
    if (tool.execute === undefined) continue;
    const guardedTool = { name, tool, recovery: recoveries.get(name) };
    const value = guard(guardedTool, { ...options, wait }, calls);
    Object.defineProperty(guarded, name, { value, enumerable: true });
  }
  return guarded;
}

function guard(guardedTool: GuardedTool, guardedWith: Guard, calls: StepCalls): Tool {
  const begin = (input: unknown, options: ToolExecutionOptions<unknown>): GuardedCall => {
    refuseUnnamed(guardedTool, options);
    calls.refuseRepeated(options.messages, options.toolCallId);
    return new GuardedCall(guardedTool, guardedWith, { input, options });
  };
  /* The AI SDK asks at once whether there are several outputs: a promise has one, whatever it resolves to. */
  const execute: Execute = isGenerator(guardedTool.tool.execute)
    ? async function* outputs(input, options) {
        yield* begin(input, options).outputs();
      }
    : async (input, options) => begin(input, options).result();
  return Object.assign({}, guardedTool.tool, { execute });
}

type Execute = NonNullable<Tool['execute']>;

function isGenerator(execute: unknown): boolean {
  return Object.prototype.toString.call(execute) === '[object AsyncGeneratorFunction]';
}

/* Without an id all calls of a tool would be one, and the second would get the first one's result. */
function refuseUnnamed({ name }: GuardedTool, options: unknown): void {
  const toolCallId: unknown = Reflect.get(Object(options), 'toolCallId');
  if (typeof toolCallId === 'string' && toolCallId !== '') return;
  throw new HoldpointError(
    'invalid-input',
    `A call of ${name} was not run: it has no toolCallId, by which guardTools knows it.`,
  );
}

async function pause(signal: AbortSignal | undefined): Promise<void> {
  await untilAborted(new Promise((resolve) => setTimeout(resolve, 200)), signal);
}
