import type { Tool, ToolExecutionOptions, ToolSet } from 'ai';
import { type AgentOptions, createAgent, refuseUnknownRecovery, checkRecovery } from '../agent.ts';
import { awaitUntilAborted } from '../content/waiting.ts';
import { HoldpointError } from '../errors.ts';
import { type Guard, GuardedCall, type GuardedTool, StepCalls } from './guarded-call.ts';

/** Options of `guardTools`. Those that `createAgent` has too mean the same. */
interface GuardOptions<TOOLS extends ToolSet = ToolSet>
  extends Omit<Guard, 'wait'>, Pick<AgentOptions<TOOLS>, 'toolRecovery'> {
  /** The id of the conversation. It identifies a call together with its tool call id. Any non-empty string. */
  threadId: string;
  /** The store in which each call is recorded, in its own thread. Must not be a store whose threads a worker runs. */
  store: Guard['store'];
  /**
   * Waits before the log of a call that another process runs is polled again; rejects when the signal aborts. Default: 200
   * milliseconds.
   */
  wait?: Guard['wait'] | undefined;
}

/**
 * Wraps tools for a loop of the AI SDK (`generateText`, `streamText`, `ToolLoopAgent`), with each call started at most once: the start is
 * recorded before `execute` is called, and the result after it. The same call again returns the recorded result, in any process; while
 * another process runs the call, it waits. A call is identified by `threadId`, its tool call id, and the number of calls with that id that
 * have a result in the messages, so that it also works with providers that restart their ids in every response. Of two calls with the same
 * id in one response, the second is rejected, because they can't be distinguished.
 *
 * The outputs of an `async *execute` are yielded as they arrive while the call runs in this process; only the last one is recorded.
 *
 * `execute` gets the AI SDK's options and the call's `idempotencyKey` (`ToolRunOptions`). A guarded call throws what the tool throws, and a
 * `HoldpointError`: `thread-indeterminate` if the outcome of the call is unknown, `requests-open` if it continues outside this process,
 * `not-allowed` if its id was used for another call or its input can't be recorded exactly as JSON, `invalid-input` for a call without
 * a `toolCallId`. Approvals are not checked: the AI SDK's history, as the caller passes it, decides who approved what. The AI SDK ignores
 * what holdpoint's rules add to its own (approvers, quorum, edits, deadlines …), so `toolApproval` here is refused; use `holdPoint`.
 *
 * Throws `invalid-input` without a `threadId`, and a `TypeError` like `createAgent`.
 *
 * @example
 * const guarded = guardTools(tools, { store, threadId: 'trip-42' });
 * const result = await generateText({ model, tools: guarded, toolApproval, messages });
 */
export function guardTools<TOOLS extends ToolSet>(
  tools: TOOLS,
  { toolRecovery = {}, wait = pause, threadId, ...agentOptions }: GuardOptions<TOOLS>,
): TOOLS {
  /* In JavaScript the id can be missing: all conversations would share their calls. */
  if (typeof threadId !== 'string' || threadId === '') {
    throw new HoldpointError(
      'invalid-input',
      'guardTools needs the id of the conversation: pass a non-empty string as threadId.',
    );
  }
  refusePolicy(agentOptions);
  /* Validates the options now instead of at the first call. */
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

/* The agent of a guarded call would accept them, and nobody would be asked. */
function refusePolicy(options: object): void {
  const name = ['toolApproval', 'mayAnswer', 'principalId'].find((each) => each in options);
  if (name === undefined) return;
  throw new TypeError(
    `guardTools has no option '${name}': the AI SDK asks for the approvals of guarded tools. Use holdPoint for rules that name approvers, a quorum, edits or deadlines.`,
  );
}

function guard(guardedTool: GuardedTool, settings: Guard, calls: StepCalls): Tool {
  const guardedCall = (input: unknown, options: ToolExecutionOptions<unknown>): GuardedCall => {
    refuseWithoutId(guardedTool, options);
    calls.refuseRepeated(options.messages, options.toolCallId);
    return new GuardedCall(guardedTool, settings, { input, options });
  };
  /* The AI SDK checks the return value for an async iterator synchronously, so a promise can't resolve to one. */
  const execute: Execute = isGenerator(guardedTool.tool.execute)
    ? async function* outputs(input, options) {
        yield* guardedCall(input, options).outputs();
      }
    : async (input, options) => guardedCall(input, options).result();
  return Object.assign({}, guardedTool.tool, { execute });
}

type Execute = NonNullable<Tool['execute']>;

function isGenerator(execute: unknown): boolean {
  return Object.prototype.toString.call(execute) === '[object AsyncGeneratorFunction]';
}

/* Without an id, the second call of a tool would get the result of the first. */
function refuseWithoutId({ name }: GuardedTool, options: unknown): void {
  const toolCallId: unknown = Reflect.get(Object(options), 'toolCallId');
  if (typeof toolCallId === 'string' && toolCallId !== '') return;
  throw new HoldpointError(
    'invalid-input',
    `A call of ${name} was not run: it has no toolCallId. Pass execute the options of the AI SDK, or any with a toolCallId.`,
  );
}

async function pause(signal: AbortSignal | undefined): Promise<void> {
  await awaitUntilAborted(new Promise((resolve) => setTimeout(resolve, 200)), signal);
}
