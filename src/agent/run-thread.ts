import type { EventBuffer } from '../content/event-buffer.ts';
import { callGuarded } from '../content/app-errors.ts';
import { awaitUntilAborted } from '../content/waiting.ts';
import { HoldpointError } from '../errors.ts';
import type { RunCause } from '../policy/run-context.ts';
import { type AgentThread, listDecisions } from '../thread/agent-thread.ts';
import { freezeDeep } from '../json/json-value.ts';
import { Proposal } from '../thread/proposal.ts';
import { isTraced, traceRun } from '../thread/tracing.ts';
import {
  type AgentResponse,
  listLatestDecisions,
  makeResponse,
  makeIdleEnd,
  findRecordedReply,
} from './agent-response.ts';
import { type AgentStreamEvent, pushPreliminary } from './agent-stream.ts';
import { refuseChildInput } from './acts/act-refusals.ts';
import { decideInput, needsPermission } from './input/decide-input.ts';
import { admitInput } from './input/admit-input.ts';
import { type AdmittedInput, listPassedDown } from './input/admitted-input.ts';
import { recordBelow } from './input/answers-below.ts';
import { untilSettled } from './input/ask-again.ts';
import type { ThreadLog } from '../thread/thread-log.ts';
import { listNewMessages } from './input/sent-messages.ts';
import {
  type ParsedInput,
  parseInput,
  refuseNameless,
  type RunInput,
} from './input/parse-input.ts';
import { withOutput } from './model/parsed-output.ts';
import type { AgentContext } from './run/agent-context.ts';
import { hasRunSettings } from './known-settings.ts';
import type { RunOptions } from './run/run-options.ts';
import { Run, type RunArguments, withRunSettings } from './run/run.ts';
import { refuseNonThread, type ThreadHandles } from './thread-handles.ts';

/** The inputs of `runThread`. */
interface Running {
  input: RunInput;
  options: RunOptions<unknown>;
  /**
   * Set if the input comes through the delegated call of this child thread: the people for whom that call is made, and the cause of the
   * parent's run.
   */
  forParent?: { requesters: readonly unknown[]; cause: RunCause };
  /** Gets the events of a run that is streamed. */
  buffer?: EventBuffer<AgentStreamEvent>;
}

/** Runs a thread, from its input to the response, and calls the app's hooks. With a `buffer`, the model streams. */
export async function runThread(
  agentContext: AgentContext,
  threads: ThreadHandles,
  thread: AgentThread,
  running: Running,
): Promise<AgentResponse> {
  refuseNonThread(thread);
  const { options } = running;
  const { onEnd, onError, output } = agentContext;
  try {
    const context = hasRunSettings(options) ? withRunSettings(agentContext, options) : agentContext;
    const { name: agentName, modelName } = context;
    const ended = await (isTraced()
      ? traceRun({ threadId: thread.id, agentName, ...modelName }, async () =>
          runOnce(context, threads, thread, running),
        )
      : runOnce(context, threads, thread, running));
    const response = output === undefined ? ended : await withOutput(ended, output);
    if (onEnd !== undefined) void callGuarded(onEnd, response);
    return response;
  } catch (error) {
    const { abortSignal } = options;
    const isAbort = abortSignal?.aborted === true && error === abortSignal.reason;
    if (isAbort) throw error;
    void callGuarded(onError, { error, threadId: thread.id });
    throw error;
  }
}

async function runOnce(
  context: AgentContext,
  threads: ThreadHandles,
  thread: AgentThread,
  running: Running,
): Promise<AgentResponse> {
  const { options, buffer } = running;
  const log = threads.logOf(thread);
  const parsed = parseRunInput(context, running);
  options.abortSignal?.throwIfAborted();
  const tools = await context.definedTools();
  await threads.update(log);
  if (running.forParent === undefined && log.state.head.parent !== undefined)
    refuseChildInput(log.state, parsed);
  const { messageId } = parsed;
  const { principalId } = context;
  const { cause = { by: parsed.by } } = running.forParent ?? {};
  const receivers = buffer === undefined ? {} : makeReceivers(buffer);
  const setting = { log, tools, options, cause, receiver: buffer, ...receivers };
  /* The agents above, which must be asked about standing approvals, are not known here. */
  const isOrphan = running.forParent === undefined && log.state.head.parent !== undefined;
  const own = isOrphan ? { ...context, mayStand: async () => false } : context;
  const asked = { tools, options };
  return untilSettled(log, async () => {
    const isAsked = needsPermission(log.state.head, parsed, context, options);
    const isSentAgain =
      messageId !== undefined && listNewMessages(log.state, parsed, principalId).length === 0;
    const reply = isSentAgain ? findRecordedReply(log.state, messageId) : undefined;
    const messagesBefore = reply?.begin ?? log.state.messages.length;
    const isRepeated = reply?.isOver === true && parsed.answers.length === 0;
    const admitted = isAsked ? await admitRunInput(context, log, parsed, asked) : { parsed };
    const end = isRepeated
      ? makeIdleEnd('completed', reply.step)
      : await new Run(own, setting).perform(admitted);
    const { messages } = log.state;
    const scope = reply?.isOver === true ? messages.slice(0, reply.end) : messages;
    const decisions = isRepeated
      ? () => listDecisions(log.state, reply.events)
      : listLatestDecisions(log.state);
    const covered = { messages: scope, messagesBefore, isPast: isRepeated, decisions };
    return makeResponse(thread, covered, end);
  });
}

/**
 * Checks the permission to give the answers of a run's input and to end what it ends, and has sub-agents record the answers to their
 * requests.
 */
async function admitRunInput(
  context: AgentContext,
  log: ThreadLog,
  parsed: ParsedInput,
  { tools, options }: Pick<RunArguments, 'tools' | 'options'>,
): Promise<AdmittedInput> {
  const { mayAnswer, principalId } = context;
  const { whilePending = 'refuse', abortSignal } = options;
  const asking = admitInput(context, log, parsed, { tools, whilePending, mayAnswer });
  const admitted = await awaitUntilAborted(asking, abortSignal);
  if (listPassedDown(admitted).length === 0 && admitted.released === undefined) return admitted;
  const accepting = { tools, now: context.now(), whilePending, principalId };
  decideInput(new Proposal(log.state), admitted, accepting);
  return recordBelow(context, log, admitted);
}

/** Makes the receivers of a streamed run's output: the events that it appended, and preliminary results. */
function makeReceivers(
  buffer: EventBuffer<AgentStreamEvent>,
): Pick<RunArguments, 'onEvents' | 'onPreliminary'> {
  return {
    onEvents: (events) => {
      for (const event of events) buffer.push(freezeDeep(event));
    },
    onPreliminary: (result) => pushPreliminary(buffer, result),
  };
}

function parseRunInput(context: AgentContext, { input, options, forParent }: Running): ParsedInput {
  const { principal, channel, messageId, onlyWhenDue, resumeStopped, replaces } = options;
  const { allowSystemInMessages } = context;
  const by = { principal, channel };
  const parsed = {
    ...parseInput(input, { ...by, messageId, allowSystemInMessages }),
    resumeStopped,
    replaces,
    /* Each resumption of a delegated call sends its message again, which an app may make otherwise by then. */
    ...(forParent && { requesters: forParent.requesters, isFromParent: true as const }),
  };
  if (forParent === undefined && typeof principal === 'object')
    refuseNameless(by, context.principalId);
  const isEmpty = parsed.messages.length + parsed.answers.length === 0;
  if (onlyWhenDue !== true || (isEmpty && resumeStopped !== true)) return parsed;
  throw new HoldpointError(
    'invalid-input',
    isEmpty
      ? 'onlyWhenDue is for schedulers, and resumeStopped for a person: pass one of them.'
      : 'onlyWhenDue needs the input []: it only resumes.',
  );
}
