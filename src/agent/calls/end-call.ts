import type { ToolCallOutcome, ToolCallRecord, ToolCallStatus } from '../../content/tool-call.ts';
import { HoldpointError } from '../../errors.ts';
import { equalJson } from '../../policy/digest.ts';
import type { ThreadEvent, ThreadEventOf } from '../../thread/thread-event.ts';
import type { ThreadLog } from '../../thread/thread-log.ts';
import type { AnswerOptions, DeliveredOutcome, SettledOutcome } from '../agent-options.ts';
import { askAbout, ownRunner } from './ask-about.ts';
import { openedEvent } from './check-approved.ts';
import { closeBeside, endEvents } from './close-requests.ts';
import { callNamed, refuseUnless } from './find-call.ts';
import { parseDelivered, parseSettled, recordedOutcome } from './outside-outcome.ts';
import { parseAnswerer } from '../input/parse-input.ts';
import type { ToolDefinition, ToolDefinitions } from './tool-definitions.ts';

/** What bringing an outcome from outside needs. */
export interface EndingInput {
  log: ThreadLog;
  tools: ToolDefinitions;
  now: () => number;
  generateId: () => string;
}

/** Which call ended how, and who says so. */
interface Ending<OUTCOME> {
  toolCallId: string;
  outcome: OUTCOME;
  by: AnswerOptions;
}

/** A person says what became of a call whose outcome is unknown, or that it be tried again. */
export async function settleCall(
  input: EndingInput,
  ending: Ending<SettledOutcome>,
): Promise<void> {
  const by = parseAnswerer(ending.by);
  const outcome = parseSettled(ending.outcome);
  if (outcome.status === 'retry') await retryCall(input, { ...ending, by });
  else await endCall(input, { ...ending, by, outcome }, 'settled', ['indeterminate']);
}

/** The result of a deferred call comes in; it may be faster than the note that the call is deferred. */
export async function deliverOutcome(
  input: EndingInput,
  ending: Ending<DeliveredOutcome>,
): Promise<void> {
  const by = parseAnswerer(ending.by);
  const outcome = parseDelivered(ending.outcome);
  await endCall(input, { ...ending, by, outcome }, 'delivered', [
    'deferred',
    'started',
    'indeterminate',
  ]);
}

async function endCall(
  { log, tools, now }: EndingInput,
  { toolCallId, outcome, by }: Ending<DeliveredOutcome>,
  source: NonNullable<ThreadEventOf<'call-ended'>['source']>,
  statuses: readonly ToolCallStatus[],
): Promise<void> {
  const named = callNamed(log.state, toolCallId, now());
  const recorded = await recordedOutcome(tools.get(named.toolName), named, outcome);
  await log.commit((proposal) => {
    const at = now();
    const call = callNamed(proposal.state, toolCallId, at);
    if (isEnded(call, recorded)) return;
    refuseUnless(call, statuses, 'an outcome can be brought');
    const { step, index } = call;
    const ended = {
      type: 'call-ended',
      at,
      step,
      index,
      outcome: recorded,
      source,
      ...by,
    } as const;
    proposal.add(...endEvents(proposal.head, ended));
  });
}

/**
 * The attempt whose outcome is unknown is given up, and the same call is asked about and approved anew, by the one
 * who settles it. The next run starts it, after the same last look as ever.
 */
async function retryCall(input: EndingInput, { toolCallId, by }: Ending<unknown>): Promise<void> {
  const { log, now, tools } = input;
  const call = callNamed(log.state, toolCallId, now());
  const definition = tools.get(call.toolName);
  if (definition === undefined) {
    throw new HoldpointError(
      'not-allowed',
      `Call ${toolCallId} can't be tried again: its tool is gone. Settle it as succeeded or failed.`,
    );
  }
  const events = await retryEvents(input, { call, definition, by });
  await log.commit((proposal) => {
    const current = callNamed(proposal.state, toolCallId, now());
    if (current.outcome !== undefined) throw endedOtherwise(current);
    refuseUnless(current, ['indeterminate'], 'an outcome can be brought');
    const closed = { reason: 'The call is tried again.', at: now() };
    proposal.add(...closeBeside(proposal.head, current, closed), ...events);
  });
}

async function retryEvents(
  { log, tools: _tools, ...making }: EndingInput,
  about: { call: ToolCallRecord; definition: ToolDefinition; by: AnswerOptions },
): Promise<ThreadEvent[]> {
  const { call, definition, by } = about;
  const { step, index, toolCallId, toolName, input } = call;
  const request = await askAbout(
    { ...making, threadId: log.state.threadId, requestedBy: log.state.head.requestedBy },
    { reason: 'The outcome of its last attempt is unknown.' },
    {
      toolCall: { toolCallId, toolName, input },
      place: { step, index },
      runner: ownRunner(definition),
    },
  );
  const { requestId, digest, createdAt: at } = request;
  const response = { type: 'approval-response', requestId, approved: true, digest } as const;
  return [
    { type: 'call-abandoned', at, step, index },
    openedEvent(call, request),
    { type: 'request-answered', at, response, ...by },
  ];
}

/** Whether the call has this very outcome. Throws when it has another. */
function isEnded(call: ToolCallRecord, outcome: ToolCallOutcome): boolean {
  if (call.outcome === undefined) return false;
  if (equalJson(brought(call.outcome), brought(outcome))) return true;
  throw endedOtherwise(call);
}

/* What the tool made of it for the model may be something else each time. */
function brought(outcome: ToolCallOutcome): ToolCallOutcome {
  return outcome.status === 'succeeded' ? { ...outcome, modelOutput: undefined } : outcome;
}

function endedOtherwise({ toolCallId }: ToolCallRecord): HoldpointError {
  return new HoldpointError(
    'already-answered',
    `Call ${toolCallId} has ended otherwise before, and its first outcome stands.`,
  );
}
